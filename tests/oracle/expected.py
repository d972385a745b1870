"""What transformers computes for one sample, reduced to what the tests compare.

Axes: L layers, T positions, H heads, C hidden. One block's attention is reduced as soon as it is
there, so that T = 2500 never holds more than one [H, T, T].
"""

import dataclasses
import json
import pathlib

import numpy as np
import torch
from safetensors.numpy import save_file
from transformers import AutoModelForCausalLM

from tests.oracle import detection

PREFIX = 64


@dataclasses.dataclass(frozen=True)
class Layout:
    """Names of a decoder's parts; `added` is the module whose output joins the residual stream."""

    layers: str = "layers"
    attention: str = "self_attn"
    added: str = "mlp"
    final_norm: str = "norm"


LAYOUTS = {
    "gemma2": Layout(added="post_feedforward_layernorm"),
    "gemma3_text": Layout(added="post_feedforward_layernorm"),
    "gpt2": Layout("h", "attn", "mlp", "ln_f"),
    "gpt_neox": Layout(attention="attention", final_norm="final_layer_norm"),
    "mixtral": Layout(added="block_sparse_moe"),
    "olmo2": Layout(added="post_feedforward_layernorm"),
    "opt": Layout(added="fc2", final_norm="final_layer_norm"),
}


def load(folder, dtype):
    """The reference model: the checkpoint in the compared dtype, eager attention."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")
    return model.eval()


def _first(output):
    return output[0] if isinstance(output, tuple) else output


def _norm(values):
    """Norms over the last axis, accumulated in float64."""
    return torch.linalg.vector_norm(values.double(), dim=-1).float().numpy()


class _Recorder:
    """Forward hooks on a decoder that keep the reduced values of one pass."""

    def __init__(self, decoder, layout):
        self.states, self.column_sum, self.attention_self = [], [], []
        self.prefix_sum, self.mlp_norm, self.learned_sink, self.last_raw = [], [], [], None
        self._handles = []
        for layer in blocks_of(decoder):
            self._handles += [
                getattr(layer, layout.attention).register_forward_hook(self._attention),
                getattr(layer, layout.added).register_forward_hook(self._added),
                layer.register_forward_hook(self._layer),
            ]
        final_norm = getattr(decoder, layout.final_norm)
        if final_norm is not None:  # opt-350m has none
            self._handles.append(final_norm.register_forward_hook(self._final_norm))
        project_out = getattr(decoder, "project_out", None)
        if project_out is not None:  # only opt-350m has one
            self._handles.append(project_out.register_forward_hook(self._projected))

    def _attention(self, module, _inputs, output):
        weights = output[1][0]  # [H, T, T]
        self.column_sum.append(weights.sum(dim=1, dtype=torch.float64).float().numpy())
        self.attention_self.append(weights.diagonal(dim1=1, dim2=2).float().clone().numpy())
        prefix = weights[:, :PREFIX, :PREFIX].sum(dim=1, dtype=torch.float64)
        self.prefix_sum.append(prefix.float().numpy())
        if hasattr(module, "sinks"):  # its column is not among the weights
            mass = 1 - weights.sum(dim=2, dtype=torch.float64)
            self.learned_sink.append(mass.clamp(min=0).float().numpy())
        return output[0], None

    def _added(self, _module, _inputs, output):
        values = _first(output)
        self.mlp_norm.append(_norm(values.reshape(-1, values.shape[-1])))

    def _layer(self, _module, _inputs, output):
        self.states.append(_first(output)[0].float().numpy().copy())
        self.last_raw = self.states[-1]

    def _final_norm(self, _module, _inputs, output):
        self.states[-1] = output[0].float().numpy().copy()

    def _projected(self, _module, _inputs, output):
        """Narrower than the stream: filled up with zeros, which change no norm and no cosine."""
        narrow = output[0].float().numpy()
        missing = self.states[-1].shape[-1] - narrow.shape[-1]
        self.states[-1] = np.pad(narrow, ((0, 0), (0, missing)))

    def close(self):
        for handle in self._handles:
            handle.remove()

    def tensors(self, ids):
        tensors = {
            "ids": np.asarray(ids, dtype=np.int64),
            "hidden": np.stack(self.states),  # [L, T, C], the last as the decoder gives it
            "last_raw": self.last_raw,  # [T, C], before its final norm
            "column_sum": np.stack(self.column_sum),  # [L, H, T]
            "attention_self": np.stack(self.attention_self),  # [L, H, T]
            "prefix64_column_sum": np.stack(self.prefix_sum),  # [L, H, min(64, T)]
            "mlp_norm": np.stack(self.mlp_norm),  # [L, T]
        }
        if self.learned_sink:
            tensors["learned_sink_mass"] = np.stack(self.learned_sink)  # [L, H, T], per query
        return tensors


def decoder_of(model):
    """The decoder of a causal LM."""
    decoder = model.get_decoder()
    return model.base_model if decoder is model else decoder  # it does not know gpt2's name for it


def layout_of(decoder):
    return LAYOUTS.get(decoder.config.model_type, Layout())


def blocks_of(decoder):
    return getattr(decoder, layout_of(decoder).layers)


@torch.no_grad()
def trace(model, ids):
    """One pass of `model` (a causal LM) over `ids`; its lm_head does not run."""
    decoder = decoder_of(model)
    recorder = _Recorder(decoder, layout_of(decoder))
    # The others always give them.
    options = {"output_attentions": True} if decoder.config.model_type == "opt" else {}
    try:
        decoder(input_ids=torch.tensor([list(ids)]), use_cache=False, **options)
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
