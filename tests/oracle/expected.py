"""What transformers computes for one sample, reduced to what the tests compare.

Axes: L layers, T positions, H heads, C hidden. One block's attention is reduced as soon as it is
there, so that T = 2500 never holds more than one [H, T, T].
"""

import json
import pathlib

import numpy as np
import torch
from safetensors.numpy import save_file
from transformers import AutoModelForCausalLM

from tests.oracle import detection

PREFIX = 64


def load(folder, dtype):
    """The reference model: the checkpoint in the compared dtype, eager attention."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")
    return model.eval()


def _norm(values):
    """Norms over the last axis, accumulated in float64."""
    return torch.linalg.vector_norm(values.double(), dim=-1).float().numpy()


class _Recorder:
    """Forward hooks on a llama-like decoder that keep the reduced values of one pass."""

    def __init__(self, decoder):
        self.states, self.column_sum, self.attention_self = [], [], []
        self.prefix_sum, self.mlp_norm, self.last_raw = [], [], None
        self._handles = [decoder.norm.register_forward_hook(self._final_norm)]
        for layer in decoder.layers:
            self._handles += [
                layer.self_attn.register_forward_hook(self._attention),
                layer.mlp.register_forward_hook(self._mlp),
                layer.register_forward_hook(self._layer),
            ]

    def _attention(self, _module, _inputs, output):
        weights = output[1][0]  # [H, T, T]
        self.column_sum.append(weights.sum(dim=1, dtype=torch.float64).float().numpy())
        self.attention_self.append(weights.diagonal(dim1=1, dim2=2).float().clone().numpy())
        prefix = weights[:, :PREFIX, :PREFIX].sum(dim=1, dtype=torch.float64)
        self.prefix_sum.append(prefix.float().numpy())
        return output[0], None

    def _mlp(self, _module, _inputs, output):
        self.mlp_norm.append(_norm(output[0]))

    def _layer(self, _module, _inputs, output):
        state = output[0] if isinstance(output, tuple) else output
        self.states.append(state[0].float().numpy().copy())

    def _final_norm(self, _module, _inputs, output):
        self.last_raw = self.states[-1]
        self.states[-1] = output[0].float().numpy().copy()

    def close(self):
        for handle in self._handles:
            handle.remove()

    def tensors(self, ids):
        return {
            "ids": np.asarray(ids, dtype=np.int64),
            "hidden": np.stack(self.states),  # [L, T, C], the last after the final norm
            "last_raw": self.last_raw,  # [T, C], before it
            "column_sum": np.stack(self.column_sum),  # [L, H, T]
            "attention_self": np.stack(self.attention_self),  # [L, H, T]
            "prefix64_column_sum": np.stack(self.prefix_sum),  # [L, H, min(64, T)]
            "mlp_norm": np.stack(self.mlp_norm),  # [L, T]
        }


@torch.no_grad()
def trace(model, ids):
    """One pass of `model` (a causal LM) over `ids`; its lm_head does not run."""
    decoder = model.get_decoder()
    recorder = _Recorder(decoder)
    try:
        decoder(input_ids=torch.tensor([list(ids)]), use_cache=False)
    finally:
        recorder.close()
    return recorder.tensors(ids)


def write(folder, name, tensors, chat_rendered=False, with_detection=False):
    """`expected_<name>.safetensors` in `folder`, and `detection_<T>.json` beside it on request."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    save_file(tensors, folder / f"expected_{name}.safetensors")
    if with_detection:
        record = detection.detect(
            tensors["hidden"], tensors["column_sum"], tensors["mlp_norm"], chat_rendered
        )
        length = len(tensors["ids"])
        (folder / f"detection_T{length}.json").write_text(json.dumps(record) + "\n")
