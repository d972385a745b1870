"""Forward passes of transformers, in a process of their own so that memory can be told apart.

    python -m tests.bench.reference MODEL_FOLDER eager|sdpa float32|bfloat16 THREADS

Reads one JSON object a line, {"how": NAME, "batches": [[[id, ...], ...], ...]}, runs each batch as
NAME says and answers with an empty line. All run the model without its head and without a cache.
"""

import ctypes
import gc
import json
import os
import pathlib
import sys

import torch
from transformers import AutoModel
from transformers.masking_utils import create_causal_mask


def kept(model, ids):
    """Eager attention, all attention weights and hidden states kept: what asking for everything is."""
    return model(ids, use_cache=False, output_attentions=True, output_hidden_states=True)


def plain(model, ids):
    """Nothing kept. The mask of ones lets transformers choose torch's causal kernel, which is faster
    than the one it takes with a mask that it makes itself."""
    return model(ids, attention_mask=torch.ones_like(ids), use_cache=False).last_hidden_state


def layerwise(model, ids):
    """Hidden states from an sdpa pass, then every layer's attention once more with eager attention
    for its weights, reduced to column sums at once: the published way."""
    states = model(
        ids, attention_mask=torch.ones_like(ids), use_cache=False, output_hidden_states=True
    ).hidden_states
    model.config._attn_implementation = "eager"
    try:
        positions = torch.arange(ids.shape[1]).unsqueeze(0)
        mask = create_causal_mask(
            config=model.config, input_embeds=states[0], attention_mask=None,
            cache_position=positions[0], past_key_values=None, position_ids=positions,
        )
        rotary = model.rotary_emb(states[0], positions)
        sums = []
        for layer, state in zip(model.layers, states):
            _, weights = layer.self_attn(
                hidden_states=layer.input_layernorm(state), attention_mask=mask,
                position_ids=positions, position_embeddings=rotary,
            )
            sums.append(weights.sum(dim=2))
            del weights
        return states, sums
    finally:
        model.config._attn_implementation = "sdpa"


HOW = {"kept": kept, "plain": plain, "layerwise": layerwise}


def settle(model):
    """Brings all that stays into memory, and gives back what loading left."""
    for parameter in model.parameters():
        parameter.sum()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


@torch.inference_mode()
def main():
    folder, attention, dtype, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    # Results go to the real standard output; whatever else prints, prints to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    model = AutoModel.from_pretrained(
        pathlib.Path(folder), dtype=getattr(torch, dtype), attn_implementation=attention
    ).eval()
    settle(model)
    print(file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        for batch in request["batches"]:
            HOW[request["how"]](model, torch.tensor(batch))
        print(file=answers, flush=True)


if __name__ == "__main__":
    main()
