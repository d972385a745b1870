"""A PostgreSQL server of its own on a Unix socket, for as long as a test needs it."""

import os
import pathlib
import pwd
import signal
import subprocess
import tempfile

from tests.e2e.sinkd_process import PATIENCE, wait_until


class PostgresProcess:
    """Ready when constructed."""

    def __init__(self):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            raise AssertionError("there is no /usr/lib/postgresql/*/bin/initdb; "
                                 "run deploy/setup.sh test")
        self._binaries = found[-1].parent
        self._folder = tempfile.TemporaryDirectory(prefix="sinkd-postgres-")
        self.folder = pathlib.Path(self._folder.name)
        self._user = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self._user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._log = (self.folder / "log").open("wb")
        data = self.folder / "data"
        subprocess.run([self._binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust",
                        "-E", "UTF8", "--no-locale", "--no-sync"], stdout=self._log, stderr=self._log,
                       cwd="/", timeout=PATIENCE, check=True, **self._user)
        self._process = subprocess.Popen(
            [self._binaries / "postgres", "-D", data, "-k", self.folder, "-c", "listen_addresses=",
             "-c", "shared_buffers=32MB"],
            stdout=self._log, stderr=self._log, cwd="/", **self._user)
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"
        wait_until("PostgreSQL serves", self._serves)

    def _serves(self):
        if self._process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text())
        ready = [self._binaries / "pg_isready", "-q", "-h", self.folder]
        return subprocess.run(ready, timeout=PATIENCE, check=False).returncode == 0

    def stop(self):
        self._process.send_signal(signal.SIGQUIT)  # nobody needs what it holds
        self._process.wait(PATIENCE)
        self._log.close()
        self._folder.cleanup()
