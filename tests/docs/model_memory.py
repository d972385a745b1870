"""The table of docs/models.md: what published checkpoints take, as a server plans it from their config.json."""

import json
import pathlib
import re
import tempfile

from tests.docs.pages import ROOT
from tests.e2e import stubs
from tests.e2e.sinkd_process import PATIENCE, SinkdProcess

FOLDER = ROOT / "tests" / "engine" / "full_size"
LENGTHS = (2048, 8192, 32768)
HEADER = (
    "| checkpoint | family | download, GB | float32, GiB | bfloat16, GiB | streamed, GiB "
    "| 2,048 tokens, GiB | 8,192 | 32,768 |\n|---|---|---|---|---|---|---|---|---|\n"
)
GIB = 1 << 30
RESIDENT, STREAMED = 1, 2


class Planner:
    """A server that knows the checkpoints by their config.json alone."""

    def __init__(self):
        self._root = tempfile.TemporaryDirectory(prefix="sinkd-models-")
        self.published = json.loads((FOLDER / "published.json").read_text())
        for name in self.published:
            (pathlib.Path(self._root.name) / name).symlink_to(FOLDER / name)
        # What a pass takes depends on the processor; the page gives one figure for all.
        self._server = SinkdProcess(self._root.name, "--float32-products", "onednn",
                                    "--attention", "strips")
        self._stub = stubs.models_service.ModelServiceStub(self._server.channel)

    def stop(self):
        self._server.stop()
        self._root.cleanup()

    def plan(self, name, compute_type, residency=RESIDENT, positions=LENGTHS[0]):
        request = stubs.models.PlanModelRequest(
            name=f"models/{name}", compute_type=compute_type, residency=residency,
            positions=positions, page_size=1)
        return self._stub.PlanModel(request, timeout=PATIENCE).plan

    def makes_bfloat16_products(self):
        """Where a processor cannot, a sample takes more than the table says."""
        return re.search(r"bfloat16_products_in=(\w+)", self._server.log())[1] == "bfloat16"

    def row(self, name):
        """Its cells."""
        float32 = self.plan(name, stubs.models.COMPUTE_TYPE_FLOAT32)
        bfloat16 = self.plan(name, stubs.models.COMPUTE_TYPE_BFLOAT16)
        streamed = self.plan(name, stubs.models.COMPUTE_TYPE_BFLOAT16, STREAMED)
        return [self.published[name]["repository"], f"`{bfloat16.architecture}`",
                f"{self.stored_bytes(name) / 1e9:.1f}", weights(float32), weights(bfloat16),
                weights(streamed), *(self.sample(name, length) for length in LENGTHS)]

    def stored_bytes(self, name):
        """Of all tensors, the output head's too, which is read only when needed. What MXFP4 leaves alone
        is published in bfloat16, of which config.json says nothing, so that a plan takes float32."""
        quantized = "quantization_config" in json.loads((FOLDER / name / "config.json").read_text())
        total, token = 0, ""
        while True:
            page = self._stub.PlanModel(stubs.models.PlanModelRequest(
                name=f"models/{name}", page_size=5000, page_token=token), timeout=PATIENCE)
            for tensor in page.tensors:
                halved = quantized and tensor.stored_type == "F32"
                total += tensor.stored_bytes // (2 if halved else 1)
            token = page.next_page_token
            if not token:
                return total

    def sample(self, name, length):
        plan = self.plan(name, stubs.models.COMPUTE_TYPE_BFLOAT16, positions=length)
        if plan.positions < length:  # longer than the model takes
            return ""
        return size(sum(device.activation_bytes for device in plan.devices))

    def rows(self):
        return [self.row(name) for name in self.published]


def weights(plan):
    return size(sum(device.weight_bytes for device in plan.devices))


def size(count):
    return f"{count / GIB:.1f}" if count >= GIB / 10 else f"{count / GIB:.2f}"


def table(rows):
    return HEADER + "".join(f"| {' | '.join(row)} |\n" for row in rows)
