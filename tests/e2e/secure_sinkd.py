"""A real `sinkd` that asks who calls, and clients of all sorts for it."""

import hashlib
import http.client
import socket
import ssl

import grpc

from tests.e2e.calls import Failure
from tests.e2e.sinkd_process import PATIENCE, SinkdProcess


def token_line(name, role, token, *settings):
    return " ".join([name, role, hashlib.sha256(token.encode()).hexdigest(), *settings]) + "\n"


class SecureSinkd(SinkdProcess):
    """`ca` signed the server's certificate, None: plaintext; `pair` is this client's own
    certificate and key; `token` is what its own look at metrics takes."""

    def __init__(self, root, *flags, ca=None, pair=None, token=None, **options):
        self.ca, self.pair, self.token = ca, pair, token
        super().__init__(root, *flags, **options)

    def connect(self, ca=None, pair=None, name="localhost"):
        """Its own connection; with another CA or certificate where given, `pair` () : with none."""
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.ssl_target_name_override", name)]
        ca, pair = ca or self.ca, self.pair if pair is None else pair
        if ca is None:
            return super().connect()
        key, chain = (pair[1].read_bytes(), pair[0].read_bytes()) if pair else (None, None)
        credentials = grpc.ssl_channel_credentials(ca.certificate.read_bytes(), key, chain)
        return grpc.secure_channel(self.address, credentials, options)

    def http_connection(self, ca=None, pair=None):
        host, port = self.http.rsplit(":", 1)
        ca, pair = ca or self.ca, self.pair if pair is None else pair
        if ca is None:
            return http.client.HTTPConnection(host, int(port), timeout=PATIENCE)
        context = ssl.create_default_context(cafile=str(ca.certificate))
        if pair:
            context.load_cert_chain(*map(str, pair))
        return http.client.HTTPSConnection(host, int(port), timeout=PATIENCE, context=context)

    def get(self, path, *authorization, **credentials):
        """(status, headers, text)."""
        connection = self.http_connection(**credentials)
        try:
            connection.putrequest("GET", path)
            for each in authorization:
                connection.putheader("Authorization", each)
            connection.endheaders()
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            connection.close()

    def metrics_text(self):
        status, _, text = self.get("/metrics", *([f"Bearer {self.token}"] if self.token else []))
        assert status == 200, text
        return text

    def certificate_served(self, address, alpn=()):
        """What a new connection to this port is shown, as DER."""
        context = ssl.create_default_context(cafile=str(self.ca.certificate))
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if self.pair:
            context.load_cert_chain(*map(str, self.pair))
        if alpn:
            context.set_alpn_protocols(list(alpn))
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
            with context.wrap_socket(raw) as secured:
                return secured.getpeercert(binary_form=True)


class _ByName(http.client.HTTPSConnection):
    """To an address, whose certificate is to hold another name."""

    def __init__(self, address, name, context):
        super().__init__(name, timeout=PATIENCE, context=context)
        self.address, self.secured = address, context

    def connect(self):
        host, port = self.address.rsplit(":", 1)
        raw = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.sock = self.secured.wrap_socket(raw, server_hostname=self.host)


def get_by_name(address, name, path, context, headers):
    """(status, text) of the server at the address, which is called `name`."""
    connection = _ByName(address, name, context)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def call(channel, method, token=None, *, header=None, message=b""):
    """A call of any method with one message: its Failure, or None once it answered or ended well."""
    header = f"Bearer {token}" if header is None and token is not None else header
    metadata = [] if header is None else [("authorization", header)]
    running = channel.stream_stream(f"/{method}")(iter([message]), metadata=metadata,
                                                  timeout=PATIENCE)
    try:
        next(running, None)
        return None
    except grpc.RpcError as error:
        return Failure.of_call(error)
    finally:
        running.cancel()
