"""Clients of the gRPC port that mean harm and have no token, each kind a script of bytes:

    python -m tests.e2e.attackers tls|plaintext HOST:PORT SECONDS CONNECTIONS [KIND...]

All connections are held by one thread, send as fast as the server reads, come back a second after
they were ended, and are bounded by SECONDS. They come from 127.0.0.2, since what is bounded by
address is not to be shared with whoever looks on. The last line that is printed is, as JSON, what
each kind saw: connections made, bytes sent, GOAWAYs of ENHANCE_YOUR_CALM.
"""

import collections
import contextlib
import json
import selectors
import socket
import ssl
import struct
import sys
import time
import zlib

from tests.e2e import h2

SOURCE = "127.0.0.2"
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
LIST = "/sinks.v1.ModelService/ListModels"
ANALYZE = "/sinks.v1.AnalysisService/Analyze"
BEGIN = h2.PREFACE + h2.frame(h2.SETTINGS)
MIB = 1 << 20
WIDE = h2.frame(h2.WINDOW_UPDATE, payload=struct.pack(">I", (1 << 31) - 1 - 65535))
CANCELLED = struct.pack(">I", h2.CANCEL)


def opened(path, count, each=b""):
    """As many calls, each followed by a frame."""
    headers = h2.request(path)
    return b"".join(h2.frame(h2.HEADERS, h2.END_HEADERS, stream, headers) +
                    (each(stream) if callable(each) else each)
                    for stream in range(1, 2 * count, 2))


def rapid_reset():
    reset = lambda stream: h2.frame(h2.RST_STREAM, stream=stream, payload=CANCELLED)
    return BEGIN + opened(CHECK, 60_000, reset)


def reset_by_the_server():
    """Calls that make the server reset them: a window that grows by nothing is an error of the stream."""
    nothing = lambda stream: h2.frame(h2.WINDOW_UPDATE, stream=stream, payload=struct.pack(">I", 0))
    return BEGIN + opened(CHECK, 60_000, nothing)


def continuations():
    piece = h2.frame(h2.CONTINUATION, stream=1, payload=h2.field("a", "b" * 16000))
    return BEGIN + h2.frame(h2.HEADERS, 0, 1, h2.request(CHECK)) + piece * 4000


def empty_continuations():
    return (BEGIN + h2.frame(h2.HEADERS, 0, 1, h2.request(CHECK)) +
            h2.frame(h2.CONTINUATION, stream=1) * 200_000)


def headers_of_headers():
    """A header of 4,000 bytes, remembered, and then named by one byte each, 60,000 times a call."""
    named = h2.request(CHECK) + h2.indexed(62) * 60_000
    first = h2.frame(h2.HEADERS, h2.END_HEADERS, 1,
                     h2.request(CHECK, h2.field("a", "b" * 4000, indexed=True)))
    def call(stream):
        pieces = [named[i:i + 16384] for i in range(0, len(named), 16384)]
        return (h2.frame(h2.HEADERS, 0, stream, pieces[0]) +
                b"".join(h2.frame(h2.CONTINUATION, 0, stream, each) for each in pieces[1:-1]) +
                h2.frame(h2.CONTINUATION, h2.END_HEADERS, stream, pieces[-1]))
    return BEGIN + first + b"".join(call(stream) for stream in range(3, 203, 2))


def flood(*frames):
    return lambda: BEGIN + opened(CHECK, 1) + b"".join(frames) * (4 * MIB // len(b"".join(frames)))


def half_open_calls():
    return BEGIN + opened(LIST, 1000)


def more_calls_than_agreed():
    """Without having agreed to any number: the server's settings are not answered."""
    return BEGIN + opened(WATCH, 20_000)


def half_messages():
    """One byte of each is missing."""
    most = 8 * MIB - 1
    half = lambda stream: h2.data(stream, h2.message(b"x" * most, length=most + 1))
    return BEGIN + WIDE + opened(CHECK, 8, half)


def endless_message():
    return BEGIN + WIDE + opened(CHECK, 1, lambda stream: h2.data(
        stream, h2.message(b"x" * (64 * MIB), length=(1 << 31) - 1)))


def long_names():
    """Watches a service with a name of 8 MiB."""
    name = b"x" * (8 * MIB - 16)
    service = b"\x0a" + b"".join(bytes([len(name) >> shift & 0x7f | (0x80 if shift < 21 else 0)])
                                 for shift in (0, 7, 14, 21)) + name
    return BEGIN + WIDE + opened(WATCH, 4, lambda stream: h2.data(
        stream, h2.message(service), h2.END_STREAM))


def bombs():
    packer = zlib.compressobj(9, wbits=31)
    packed = packer.compress(bytes(32 * MIB)) + packer.flush()
    headers = h2.request(CHECK, h2.field("grpc-encoding", "gzip"))
    call = lambda stream: h2.frame(h2.HEADERS, h2.END_HEADERS, stream, headers) + h2.data(
        stream, h2.message(packed, compressed=True), h2.END_STREAM)
    return BEGIN + WIDE + b"".join(call(stream) for stream in range(1, 257, 2))


def refused_calls():
    """Of who has no token, as fast as they are taken."""
    return BEGIN + WIDE + opened(LIST, 40_000, lambda stream: h2.data(
        stream, h2.message(b""), h2.END_STREAM))


def refused_streams():
    body = h2.message(b"\x0a\x04abcd" * 4000)
    return BEGIN + WIDE + opened(ANALYZE, 500, lambda stream: h2.data(stream, body))


def answers_not_taken():
    """Calls whose answers the client gives no room for."""
    none = h2.PREFACE + h2.frame(h2.SETTINGS, payload=h2.setting(h2.INITIAL_WINDOW_SIZE, 0))
    ask = lambda stream: h2.data(stream, h2.message(b"") * 8, h2.END_STREAM)
    return none + opened(CHECK, 900, ask)


def nonsense():
    return BEGIN + bytes(range(256)) * 4096


# An empty script is a connection that says nothing.
KINDS = {each.__name__: each for each in (
    rapid_reset, reset_by_the_server, continuations, empty_continuations, headers_of_headers, half_open_calls,
    more_calls_than_agreed, half_messages, endless_message, long_names, bombs, refused_calls, refused_streams,
    answers_not_taken, nonsense)} | {
        "settings": flood(h2.frame(h2.SETTINGS)),
        "large_settings": flood(h2.frame(h2.SETTINGS, payload=h2.setting(0x99, 1) * 2000)),
        "pings": flood(h2.frame(h2.PING, payload=b"12345678")),
        "priorities": flood(h2.frame(h2.PRIORITY, 0, 1, b"\0\0\0\0\x01")),
        "window_updates": flood(h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\x01")),
        "empty_data": flood(h2.frame(h2.DATA, 0, 1)),
        "unknown_frames": flood(h2.frame(0xEE, 0, 0, b"x" * 100)),
        "silence": lambda: b"",
        "half_a_preface": lambda: h2.PREFACE[:20],
        "idle": lambda: BEGIN,
    }


def insecure_context():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


class Connection:
    def __init__(self, target, kind, script, tls):
        self.target, self.kind, self.script, self.tls = target, kind, memoryview(script), tls
        self.socket = None
        self.again = 0.0  # when to connect

    def connect(self, selector):
        self.left, self.received = self.script, b""
        try:
            self.socket = socket.create_connection(self.target, timeout=10, source_address=(SOURCE, 0))
            # Who says nothing does so before the handshake.
            if self.tls and len(self.script) > len(h2.PREFACE):
                self.socket = self.tls.wrap_socket(self.socket)
        except OSError:
            if self.socket is not None:
                self.socket.close()
            self.socket, self.again = None, time.monotonic() + 1
            return
        self.socket.setblocking(False)
        selector.register(self.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def step(self, selector, events, seen):
        """Sends and reads what there is."""
        try:
            if events & selectors.EVENT_WRITE:
                sent = self.socket.send(self.left[:256 << 10]) if self.left else 0
                self.left = self.left[sent:]
                seen["bytes"] += sent
                if not self.left:
                    selector.modify(self.socket, selectors.EVENT_READ, self)
            if events & selectors.EVENT_READ:
                got = self.socket.recv(64 << 10)
                self.received = (self.received + got)[-4096:]
                if not got:
                    raise ConnectionResetError
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError:
            self.end(selector, seen)

    def end(self, selector, seen):
        # The last of it, since what came before may be longer than what was kept.
        place = self.received.rfind(struct.pack(">BBIII", h2.GOAWAY, 0, 0, (1 << 31) - 1, h2.ENHANCE_YOUR_CALM))
        seen["calmed"] += place >= 0
        seen["ended"] += 1
        selector.unregister(self.socket)
        self.socket.close()
        self.socket, self.again = None, time.monotonic() + 1


def attack(target, tls, seconds, count, kinds):
    scripts = {kind: KINDS[kind]() for kind in kinds}
    connections = [Connection(target, kind, scripts[kind], tls) for kind in (kinds * count)[:count]]
    seen = {kind: collections.Counter(connections=0, ended=0, bytes=0, calmed=0) for kind in kinds}
    print("begun", flush=True)
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        while (now := time.monotonic()) < end:
            for each in connections:
                if each.socket is None and each.again <= now:
                    each.connect(selector)
                    seen[each.kind]["connections"] += 1
            for key, events in selector.select(0.05):
                key.data.step(selector, events, seen[key.data.kind])
        for each in connections:
            if each.socket is not None:
                with contextlib.suppress(OSError):
                    each.socket.close()
    return seen


def main():
    speak, address, seconds, count, *kinds = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    tls = insecure_context() if speak == "tls" else None
    print(json.dumps(attack((host, int(port)), tls, float(seconds), int(count), kinds or list(KINDS))), flush=True)


if __name__ == "__main__":
    main()
