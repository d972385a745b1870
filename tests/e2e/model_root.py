"""The model root of a test: folders that are links to checkpoints, or variations of them."""

import json
import pathlib
import tempfile

from tests.e2e.sinkd_process import Programs

PLANTED = "planted-table"
TINY = "llama_grouped"  # sharded, without tokenizer


class ModelRoot:
    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="sinkd-models-")
        self.path = pathlib.Path(self._folder.name)

    def cleanup(self):
        self._folder.cleanup()

    def link(self, name, source):
        (self.path / name).symlink_to(source)

    def variation(self, name, source, change):
        """A folder that differs from `source` by what `change(folder)` does to it. Its files are
        links until replaced: unlink before writing."""
        folder = self.path / name
        folder.mkdir()
        for file in source.iterdir():
            if file.suffix in (".json", ".safetensors"):
                (folder / file.name).symlink_to(file)
        change(folder)


def planted():
    return Programs.oracle / "planted" / PLANTED


def tiny():
    return Programs.oracle / "tiny" / TINY


def planted_records():
    """By sample id: what was planted, with scores of transformers."""
    lines = (planted() / "records.jsonl").read_text().splitlines()
    return {record["sample_id"]: record for record in map(json.loads, lines)}


def replace(file, content):
    """Writes over a link without touching what it points to."""
    file.unlink(missing_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


def edit_json(file, **changes):
    """Sets keys; a value of None removes the key."""
    values = {**json.loads(file.read_text()), **changes}
    replace(file, json.dumps({key: value for key, value in values.items() if value is not None}))
