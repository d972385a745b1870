"""How long libtorch's own attention takes in the shape of a model of write_model.py, all blocks together.

    python3 tests/device/plain_attention.py DEVICE 1.5b|small LENGTH...

Prints a Markdown table to set beside the one of `device_check speed`. Needs torch alone.
"""

import statistics
import sys
import time

import torch
from write_model import SHAPES

TURNS = 5


def seconds(device, work):
    """The median, after one turn that does not count."""
    times = []
    for _ in range(TURNS + 1):
        begin = time.perf_counter()
        work()
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


@torch.inference_mode()
def main():
    device, name, *lengths = sys.argv[1:]
    shape = SHAPES[name]
    heads, kv_heads = shape["num_attention_heads"], shape["num_key_value_heads"]
    size = shape["hidden_size"] // heads
    print("| tokens | type | plain attention (s) |\n|---|---|---|")
    for dtype in (torch.bfloat16, torch.float32):
        for length in map(int, lengths):
            q, k, v = (torch.randn(1, n, length, size, device=device, dtype=dtype)
                       for n in (heads, kv_heads, kv_heads))
            k, v = (each.repeat_interleave(heads // kv_heads, 1) for each in (k, v))
            one = seconds(device, lambda: torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True))
            all_blocks = one * shape["num_hidden_layers"]
            print(f"| {length} | {str(dtype).removeprefix('torch.')} | {all_blocks:.3f} |", flush=True)


if __name__ == "__main__":
    main()
