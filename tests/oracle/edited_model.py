"""A causal LM of transformers that can be run with changes made to what its blocks compute.

An oracle: eager attention, float32, forward hooks; it shares no code with the server. Axes: L
layers, T positions, H heads, C hidden.
"""

import contextlib
import dataclasses
from collections.abc import Callable

import numpy as np
import torch

from tests.oracle import detection, expected, sites


@dataclasses.dataclass(frozen=True)
class Sample:
    ids: tuple
    chat_rendered: bool = False


@dataclasses.dataclass(frozen=True)
class Edit:
    """At a site of a block, `change` maps the rows [T, C] to others; it may not write to them."""

    block: int
    site: str
    change: Callable


def replace(positions, vector):
    def change(rows):
        rows = rows.clone()
        rows[list(positions)] = torch.as_tensor(vector, dtype=rows.dtype)
        return rows

    return change


def set_norm(positions, amount, clip=False):
    """Directions are kept; `clip` leaves rows that are no longer than `amount`."""

    def change(rows):
        rows = rows.clone()
        norms = torch.linalg.vector_norm(rows, dim=-1)
        for position in positions:
            if norms[position] > (amount if clip else 0):
                rows[position] *= amount / norms[position]
        return rows

    return change


@dataclasses.dataclass
class Pass:
    """What one pass computed."""

    states: np.ndarray  # [L, T, C] after each block, the last after the final norm
    raw: np.ndarray  # the same, the last before it
    column_sum: np.ndarray  # [L, H, T] attention, summed over queries
    sites: dict  # "site.block" -> [T, width]
    loss: float | None  # mean next-token cross-entropy, nats; None for one token

    def site(self, name, block):
        return self.sites[f"{name}.{block}"].astype(np.float64)

    @property
    def head_mean(self):
        return detection.alpha(self.column_sum).mean(axis=1)  # [L, T]

    def detect(self, chat_rendered, parameters):
        blocks = range(len(self.states))
        mlp_norm = np.stack([np.linalg.norm(self.site("mlp_out", b), axis=1) for b in blocks])
        return detection.detect(self.states, self.column_sum, mlp_norm, chat_rendered, parameters)


class Reference:
    def __init__(self, folder):
        self._model = expected.load(folder, torch.float32)
        self._decoder = expected.decoder_of(self._model)
        self._layers = expected.blocks_of(self._decoder)
        self.config = self._model.config
        self.blocks = len(self._layers)

    def has_site(self, block, site):
        place = sites.of_block(self.config).get(site)
        return place is not None and place[0] in dict(self._layers[block].named_modules())

    @contextlib.contextmanager
    def _edited(self, edits):
        """Its hooks come before those that record, which so see what was changed."""
        handles = []
        for edit in edits:
            path, _ = sites.of_block(self.config)[edit.site]
            module = self._layers[edit.block].get_submodule(path)

            def hook(_module, _inputs, output, edit=edit):
                if not isinstance(output, tuple):
                    return edit.change(output.reshape(-1, output.shape[-1])).reshape(output.shape)
                return edit.change(output[0][0])[None], *output[1:]

            handles.append(module.register_forward_hook(hook))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    @torch.no_grad()
    def run(self, sample, edits=()):
        ids = torch.tensor([sample.ids])
        with self._edited(edits), sites.recorded(self._decoder, self._layers) as values:
            output = self._model(input_ids=ids, use_cache=False, output_attentions=True)
        sums = [each[0].sum(dim=1, dtype=torch.float64).numpy() for each in output.attentions]
        last = self.blocks - 1
        raw = np.stack([values[f"resid_post.{block}"].numpy() for block in range(self.blocks)])
        states = raw.copy()
        states[last] = values[f"final_norm.{last}"].numpy()
        loss = None
        if len(sample.ids) > 1:
            loss = torch.nn.functional.cross_entropy(output.logits[0, :-1].double(), ids[0, 1:])
        return Pass(states, raw, np.stack(sums), {k: v.numpy() for k, v in values.items()},
                    None if loss is None else float(loss))

    @torch.no_grad()
    def mlp_alone(self, block, rows):
        """Rows of mlp_in [n, C] through the MLP and the norm behind it, if there is one."""
        layer = self._layers[block]
        values = torch.as_tensor(rows, dtype=torch.float32)[None]
        mlp_path, _ = sites.of_block(self.config)["mlp_in"]
        out_path, _ = sites.of_block(self.config)["mlp_out"]
        values = layer.get_submodule(mlp_path)(values)
        values = values[0] if isinstance(values, tuple) else values
        if out_path != mlp_path:
            values = layer.get_submodule(out_path)(values)
        return values.reshape(len(rows), -1).double().numpy()


@dataclasses.dataclass
class Life:
    """Of every position while the primary sink and the window are those of another pass."""

    shows: np.ndarray  # [L, T] counts as a sink there; false outside the window
    cosine: np.ndarray  # [L, T] |cos| with the primary sink
    norm: np.ndarray  # [L, T]

    @property
    def lifetime(self):
        return self.shows.sum(axis=0)


def life(run, record, parameters):
    """`record`, a detection record, gives primary sink and window."""
    norms = np.linalg.norm(run.states.astype(np.float64), axis=2)
    cosine = detection.cosines(run.states, record["p0"])
    shows = cosine > parameters.cosine_threshold
    shows &= norms >= parameters.min_norm_ratio * np.median(norms, axis=1, keepdims=True)
    inside = np.zeros(len(norms), dtype=bool)
    inside[slice(*record["window"])] = True
    return Life(shows & inside[:, None], cosine, norms)
