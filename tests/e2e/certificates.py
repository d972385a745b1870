"""Certificates made for a test, by openssl."""

import pathlib
import subprocess
import tempfile


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """A CA with a folder of its own, which outlives its certificates."""

    def __init__(self, name):
        self._folder = tempfile.TemporaryDirectory(prefix="sinkd-ca-")
        self.folder = pathlib.Path(self._folder.name)
        self.certificate, self.key = self.folder / "ca.crt", self.folder / "ca.key"
        self._count = 0
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-subj", f"/CN={name}", "-days", "2", "-keyout", self.key, "-out", self.certificate)

    def cleanup(self):
        self._folder.cleanup()

    def issue(self, name, days=2, hosts=("DNS:localhost", "IP:127.0.0.1"), key_type="ec"):
        """(certificate, key) for this common name, None: without one, on `hosts`; `days` below 0:
        expired; `key_type` "ec" or "rsa"."""
        self._count += 1
        base = self.folder / str(self._count)
        certificate, key = base.with_suffix(".crt"), base.with_suffix(".key")
        request, extensions = base.with_suffix(".csr"), base.with_suffix(".ext")
        extensions.write_text(f"subjectAltName={','.join(hosts)}\n")
        option = {"ec": "ec_paramgen_curve:P-256", "rsa": "rsa_keygen_bits:2048"}[key_type]
        _openssl("req", "-newkey", key_type, "-pkeyopt", option, "-nodes", "-subj",
                 "/O=lab" if name is None else f"/CN={name}", "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                 "-set_serial", 1000 + self._count, "-days", days, "-extfile", extensions, "-out",
                 certificate)
        return certificate, key
