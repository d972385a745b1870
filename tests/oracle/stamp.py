"""Skips a generator whose outputs are there already and whose scripts have not changed."""

import hashlib
import pathlib


class Stamp:
    """A hash of the scripts and arguments behind a folder, kept in the folder."""

    def __init__(self, folder, scripts, *arguments):
        digest = hashlib.sha256(repr(arguments).encode())
        for script in sorted(str(script) for script in scripts):
            digest.update(pathlib.Path(script).read_bytes())
        self._value = digest.hexdigest()
        self._file = pathlib.Path(folder) / ".stamp"

    def is_current(self):
        return self._file.exists() and self._file.read_text() == self._value

    def write(self):
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(self._value)
