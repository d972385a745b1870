"""A way to a server by which it sees another host: connections come from an address of their own."""

import socket
import threading


class SourceAddress:
    """Passes connections on to `target` ("host:port") from `host`, any address of 127.0.0.0/8."""

    def __init__(self, target, host):
        name, _, port = target.rpartition(":")
        self._target, self._host = (name, int(port)), host
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._listener.getsockname())
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._sockets:
            each.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target, source_address=(self._host, 0))
            self._sockets += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=pair, daemon=True).start()

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # either end is gone; the other one hears of it when both are closed
            pass
