"""Float32 tensors and the safetensors file that holds them, with the standard library alone."""

import array
import json
import math
import struct
import sys


class Tensor:
    """One axis or two, zero at first; indexed by a number or by (row, column)."""

    def __init__(self, *shape):
        self.shape = shape
        self._values = array.array("f", [0.0]) * math.prod(shape)

    def __setitem__(self, index, value):
        if isinstance(index, tuple):
            row, column = index
            index = row * self.shape[1] + column
        self._values[index] = value

    def fill(self, value):
        self._values = array.array("f", [value]) * len(self._values)

    def clear_rows(self, first, last):
        columns = self.shape[1]
        self._values[first * columns : last * columns] = array.array("f", [0.0]) * (
            (last - first) * columns
        )

    def little_endian(self):
        values = self._values[:]
        if sys.byteorder == "big":
            values.byteswap()
        return values.tobytes()


def write(file, tensors):
    """`tensors`: {name: Tensor}, packed in this order."""
    header, end = {"__metadata__": {"format": "pt"}}, 0
    data = [tensor.little_endian() for tensor in tensors.values()]
    for (name, tensor), content in zip(tensors.items(), data, strict=True):
        begin, end = end, end + len(content)
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the data is aligned
    file.write_bytes(b"".join([struct.pack("<Q", len(text)), text, *data]))
