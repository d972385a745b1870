"""What transformers computes for one sample, reduced to what the tests compare.

Axes: L layers, T positions, H heads, C hidden. One block's attention is reduced as soon as it is
there, so that T = 2500 never holds more than one [H, T, T].
"""

import contextlib
import dataclasses
import functools
import json
import operator
import pathlib

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file
from torch.overrides import TorchFunctionMode
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

from tests.oracle import detection

PREFIX = 64


@dataclasses.dataclass(frozen=True)
class Layout:
    """Names of a decoder's parts; `added` is the module whose output joins the residual stream, plus
    that of `also` if there is one, times what the config calls `multiplier`."""

    layers: str = "layers"
    attention: str = "self_attn"
    added: str = "mlp"
    final_norm: str = "norm"
    multiplier: str = ""
    also: str = ""


LAYOUTS = {
    "bloom": Layout("h", "self_attention", "mlp.dense_4h_to_h", "ln_f"),
    "codegen": Layout("h", "attn", "mlp", "ln_f"),
    "exaone4": Layout(added="post_feedforward_layernorm"),
    "falcon": Layout("h", "self_attention", "mlp", "ln_f"),
    "flex_olmo": Layout(added="post_feedforward_layernorm"),
    "gemma2": Layout(added="post_feedforward_layernorm"),
    "gemma3_text": Layout(added="post_feedforward_layernorm"),
    "glm4": Layout(added="post_mlp_layernorm"),
    "gpt2": Layout("h", "attn", "mlp", "ln_f"),
    "gpt_bigcode": Layout("h", "attn", "mlp", "ln_f"),
    "gpt_neo": Layout("h", "attn", "mlp", "ln_f"),
    "gptj": Layout("h", "attn", "mlp", "ln_f"),
    "gpt_neox": Layout(attention="attention", final_norm="final_layer_norm"),
    "granite": Layout(multiplier="residual_multiplier"),
    "granite_swa": Layout(multiplier="residual_multiplier"),
    "granitemoe_swa": Layout(added="block_sparse_moe", also="shared_mlp", multiplier="residual_multiplier"),
    "granitemoe": Layout(added="block_sparse_moe", multiplier="residual_multiplier"),
    "granitemoehybrid": Layout(added="block_sparse_moe", also="shared_mlp", multiplier="residual_multiplier"),
    "granitemoeshared": Layout(added="block_sparse_moe", also="shared_mlp", multiplier="residual_multiplier"),
    "llama4_text": Layout(added="feed_forward"),
    "mpt": Layout("blocks", "attn", "ffn.down_proj", "norm_f"),
    "persimmon": Layout(final_norm="final_layernorm"),
    "lfm2": Layout(added="feed_forward", final_norm="embedding_norm"),
    "lfm2_moe": Layout(added="feed_forward", final_norm="embedding_norm"),
    "mixtral": Layout(added="block_sparse_moe"),
    "olmo2": Layout(added="post_feedforward_layernorm"),
    "olmo3": Layout(added="post_feedforward_layernorm"),
    "opt": Layout(added="fc2", final_norm="final_layer_norm"),
    "phi": Layout(final_norm="final_layernorm"),
}


def _share_with_sinks(modeling):
    """These families give attention weights as if there were no sinks, and scale what is mixed by them;
    the weights that count are scaled alike."""
    plain = modeling.eager_attention_forward

    def forward(module, query, key, value, attention_mask, scaling, **kwargs):
        output, weights = plain(module, query, key, value, attention_mask, scaling, **kwargs)
        keys = modeling.repeat_kv(key, module.num_key_value_groups)
        scores = torch.matmul(query, keys.transpose(2, 3)) * scaling
        if attention_mask is not None:
            scores = scores + attention_mask
        share = (torch.logsumexp(scores, dim=-1) - module.sinks.view(1, -1, 1)).sigmoid()
        return output, weights * share.unsqueeze(-1)

    modeling.eager_attention_forward = forward


def _add_bias_once(model):
    """Eager attention of falcon adds its bias to scores and mask both; its other forms, which it was
    trained with, to the mask alone."""

    def without_bias(_module, inputs, kwargs):
        return inputs, {**kwargs, "alibi": torch.zeros_like(kwargs["alibi"])}

    for layer in model.base_model.h:
        layer.self_attention.register_forward_pre_hook(without_bias, with_kwargs=True)


def _scale_long_samples(model):
    """Transformers 5.24 does not tell phimoe's rotary embedding how long a sample is, as earlier versions and
    the model's own code do, so that it would not take the factors of long ones."""

    def of_length(module, inputs, kwargs):
        position_ids = kwargs.get("position_ids", inputs[-1])
        module.rope_init_fn = functools.partial(type_fn, seq_len=int(position_ids.max()) + 1)
        return inputs, kwargs

    rotary = model.base_model.rotary_emb
    if rotary.rope_type != "default":
        type_fn = rotary.rope_init_fn
        rotary.register_forward_pre_hook(of_length, with_kwargs=True)


def correct(model):
    """Has `model` compute what transformers 5.24 gets wrong as its other forms or versions do."""
    if model.config.model_type == "falcon" and model.config.alibi:
        _add_bias_once(model)
    if model.config.model_type == "phimoe":
        _scale_long_samples(model)


if transformers.__version__ >= "5":
    from transformers.models.granite_swa import modeling_granite_swa
    from transformers.models.granitemoe_swa import modeling_granitemoe_swa

    for _modeling in (modeling_granite_swa, modeling_granitemoe_swa):
        _share_with_sinks(_modeling)


# Their q_proj gives of each head as many rows of gates as of queries.
GATED = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")


def load(folder, dtype):
    """The reference model: the checkpoint in the compared dtype, eager attention."""
    # Transformers 5 would compute all experts in one call, which float64 does not have.
    experts = {} if transformers.__version__ < "5" else {"experts_implementation": "eager"}
    config = AutoConfig.from_pretrained(folder)
    auto = AutoModelForCausalLM if config.get_text_config() is config else AutoModelForImageTextToText
    model = auto.from_pretrained(
        folder, dtype=dtype, attn_implementation="eager", **experts
    )
    correct(model)
    if dtype == torch.float64:
        for parameter in model.parameters():  # some stay float32 whatever is asked for
            parameter.data = parameter.data.double()
    return model.eval()


class _Wide(TorchFunctionMode):
    """What asks for float32 gets float64, but for rotary embeddings: their angles are float32 by
    definition, and a model was trained with them as they are."""

    def __init__(self):
        super().__init__()
        self.rotating = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.rotating:
            return func(*args, **kwargs)
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        wide = [torch.float64 if each is torch.float32 else each for each in args]
        named = {key: torch.float64 if value is torch.float32 else value
                 for key, value in kwargs.items()}
        return func(*wide, **named)


@contextlib.contextmanager
def in_float64(model):
    """Has `model`, loaded as float64, compute in it throughout; transformers takes norms, softmax
    and more to float32 whatever the model's type is."""
    mode = _Wide()

    def rotate(begins):
        def hook(*_):
            mode.rotating = begins
        return hook

    handles = []
    for module in model.modules():
        if "Rotary" in type(module).__name__:
            handles.append(module.register_forward_pre_hook(rotate(True)))
            handles.append(module.register_forward_hook(rotate(False)))
    try:
        with mode:
            yield
    finally:
        for handle in handles:
            handle.remove()


def _first(output):
    return output[0] if isinstance(output, tuple) else output


def _numpy(values):
    """float32, also where a model computes in float64 and float() does not leave it."""
    return values.detach().double().numpy().astype(np.float32)


def _norm(values):
    """Norms over the last axis, accumulated in float64."""
    return _numpy(torch.linalg.vector_norm(values.double(), dim=-1))


def _stack(blocks):
    """One array a block, zeros where it is None."""
    like = next(block for block in blocks if block is not None)
    return np.stack([np.zeros_like(like) if block is None else block for block in blocks])


class _Recorder:
    """Forward hooks on a decoder that keep the reduced values of one pass."""

    def __init__(self, decoder, layout):
        self.states, self.column_sum, self.attention_self = [], [], []
        self.prefix_sum, self.mlp_norm, self.learned_sink, self.last_raw = [], [], [], None
        self.gates = []
        self._before = 0  # of `also`
        self._handles = []
        self._multiplier = getattr(decoder.config, layout.multiplier) if layout.multiplier else 1
        for layer in blocks_of(decoder):
            attention = getattr(layer, layout.attention, None)
            if attention is None:
                self._handles.append(layer.register_forward_hook(self._no_attention))
            else:
                self._handles.append(attention.register_forward_hook(self._attention))
                if decoder.config.model_type in GATED:
                    self._handles.append(attention.q_proj.register_forward_hook(self._gate(attention)))
            self._handles.append(layer.register_forward_hook(self._layer))
            names = [layout.added, *([layout.also] if layout.also else [])]
            parts = [part for name in names if (part := operator.attrgetter(name)(layer)) is not None]
            self._handles += [part.register_forward_hook(self._held) for part in parts[:-1]]
            self._handles.append(parts[-1].register_forward_hook(self._added))
        final_norm = getattr(decoder, layout.final_norm)
        if final_norm is not None:  # opt-350m has none
            self._handles.append(final_norm.register_forward_hook(self._final_norm))
        project_out = getattr(decoder, "project_out", None)
        if project_out is not None:  # only opt-350m has one
            self._handles.append(project_out.register_forward_hook(self._projected))

    def _attention(self, module, _inputs, output):
        weights = output[1][0]  # [H, T, T]
        self.column_sum.append(_numpy(weights.sum(dim=1, dtype=torch.float64)))
        self.attention_self.append(_numpy(weights.diagonal(dim1=1, dim2=2)))
        prefix = weights[:, :PREFIX, :PREFIX].sum(dim=1, dtype=torch.float64)
        self.prefix_sum.append(_numpy(prefix))
        if hasattr(module, "sinks"):  # its column is not among the weights
            mass = 1 - weights.sum(dim=2, dtype=torch.float64)
            self.learned_sink.append(_numpy(mass.clamp(min=0)))
        return output[0], None

    def _no_attention(self, _module, _inputs, _output):
        """Nothing where a block has no softmax attention."""
        for kept in (self.column_sum, self.attention_self, self.prefix_sum, self.gates):
            kept.append(None)

    def _gate(self, attention):
        """The mean over channels of each head's gate, the second half of its rows of q_proj."""
        def hook(_module, _inputs, output):
            gate = output[0].unflatten(-1, (-1, 2, attention.head_dim))[:, :, 1].sigmoid()  # [T, H, D]
            self.gates.append(_numpy(gate.double().mean(dim=-1).t()))
        return hook

    def _held(self, _module, _inputs, output):
        self._before = _first(output)

    def _added(self, _module, _inputs, output):
        values = _first(output) + self._before
        self.mlp_norm.append(_norm(values.reshape(-1, values.shape[-1]) * self._multiplier))

    def _layer(self, _module, _inputs, output):
        self.states.append(_numpy(_first(output)[0]))
        self.last_raw = self.states[-1]

    def _final_norm(self, _module, _inputs, output):
        self.states[-1] = _numpy(output[0])

    def _projected(self, _module, _inputs, output):
        """Narrower than the stream: filled up with zeros, which change no norm and no cosine."""
        narrow = _numpy(output[0])
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
            "column_sum": _stack(self.column_sum),  # [L, H, T]
            "attention_self": _stack(self.attention_self),  # [L, H, T]
            "prefix64_column_sum": _stack(self.prefix_sum),  # [L, H, min(64, T)]
            "mlp_norm": np.stack(self.mlp_norm),  # [L, T]
        }
        if self.learned_sink:
            tensors["learned_sink_mass"] = np.stack(self.learned_sink)  # [L, H, T], per query
        if any(gate is not None for gate in self.gates):
            tensors["gates"] = _stack(self.gates)  # [L, H, T], mean over channels
        return tensors


def decoder_of(model):
    """The decoder of a causal LM."""
    decoder = model.get_decoder()
    decoder = model.base_model if decoder is model else decoder  # it does not know gpt2's name for it
    return getattr(decoder, "model", decoder)  # llama4's is a causal LM itself


def layout_of(decoder):
    return LAYOUTS.get(decoder.config.model_type, Layout())


def blocks_of(decoder):
    return getattr(decoder, layout_of(decoder).layers)


@torch.no_grad()
def trace(model, ids):
    """One pass of `model` (a causal LM) over `ids`; its lm_head does not run. Values are float32, of
    a model in float64 rounded to it."""
    decoder = decoder_of(model)
    recorder = _Recorder(decoder, layout_of(decoder))
    # The others always give them.
    options = {"output_attentions": True} if decoder.config.model_type == "opt" else {}
    exact = in_float64(decoder) if model.dtype == torch.float64 else contextlib.nullcontext()
    try:
        with exact:
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
