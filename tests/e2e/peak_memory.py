"""Runs a command and prints the most memory it took, in KiB, into a file:

    python -I -S tests/e2e/peak_memory.py REPORT COMMAND ...

A process of its own, and a small one: the kernel counts the memory of whoever starts a program into
the program's peak.
"""

import pathlib
import resource
import subprocess
import sys

code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
pathlib.Path(sys.argv[1]).write_text(f"{peak}\n")
sys.exit(code)
