"""Safetensors files taken apart and put together again, also in ways no library would."""

import json
import struct

from tests.e2e.model_root import replace


def take_apart(file):
    """(header as a dict without __metadata__, data)."""
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    return header, content[8 + length :]


def put_together(file, header, data, announced=None):
    """`header` is a dict or raw text; `announced` overrides the header's true length."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    replace(file, struct.pack("<Q", len(text) if announced is None else announced) + text + data)


def keep(file, wanted, rename=lambda name: name):
    """Leaves only tensors whose name `wanted` accepts, packed anew."""
    header, data = take_apart(file)
    kept, packed = {}, b""
    for name, entry in header.items():
        if wanted(name):
            begin, end = entry["data_offsets"]
            span = [len(packed), len(packed) + end - begin]
            kept[rename(name)] = {**entry, "data_offsets": span}
            packed += data[begin:end]
    put_together(file, kept, packed)


def poke(file, tensor, content, offset=0):
    """Overwrites bytes of a tensor's data, from its `offset`-th on."""
    header, data = take_apart(file)
    begin = header[tensor]["data_offsets"][0] + offset
    put_together(file, header, data[:begin] + content + data[begin + len(content) :])
