"""Frames of HTTP/2 as bytes, for clients that no library would be: RFC 9113, and RFC 7541 without its table."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 0x1, 0x4
CANCEL, ENHANCE_YOUR_CALM = 0x8, 0xB
INITIAL_WINDOW_SIZE = 0x4


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def setting(key, value):
    return struct.pack(">HI", key, value)


def _integer(value, bits, first=0):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    said, value = [first | most], value - most
    while value >= 128:
        said.append(value % 128 + 128)
        value //= 128
    return bytes([*said, value])


def field(name, value, indexed=False):
    """A header; `indexed`: the other side is to remember it."""
    name, value = name.encode(), value.encode()
    return ((b"\x40" if indexed else b"\x00") + _integer(len(name), 7) + name +
            _integer(len(value), 7) + value)


def indexed(place):
    """The header at this place of the table; 62 is what was remembered last."""
    return _integer(place, 7, 0x80)


def request(path, *fields):
    """The headers of a call of gRPC."""
    return (indexed(3) + indexed(6) + field(":path", path) + field(":authority", "localhost") +
            field("content-type", "application/grpc") + field("te", "trailers") + b"".join(fields))


def message(body, length=None, compressed=False):
    """`body` as a message of gRPC, or the beginning of one that is to have `length` bytes."""
    return struct.pack(">BI", compressed, len(body) if length is None else length) + body


def data(stream, payload, flags=0):
    """DATA frames of the usual size, the flags on the last one."""
    pieces = [payload[i:i + 16384] for i in range(0, len(payload), 16384)] or [b""]
    return (b"".join(frame(DATA, 0, stream, each) for each in pieces[:-1]) +
            frame(DATA, flags, stream, pieces[-1]))


def frames(received):
    """(kind, flags, stream, payload) of each whole frame in these bytes."""
    while len(received) >= 9:
        length = int.from_bytes(received[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", received[3:9])
        if len(received) < 9 + length:
            return
        yield kind, flags, stream, received[9:9 + length]
        received = received[9 + length:]
