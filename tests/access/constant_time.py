"""Holds that what matches tokens compares them by CRYPTO_memcmp only.

Usage: constant_time.py NM OBJECT...
"""

import subprocess
import sys

EARLY = ("memcmp", "bcmp", "strcmp", "strncmp", "basic_string", "string_view")


def main():
    nm, *objects = sys.argv[1:]
    matching = [each for each in objects if "token_match" in each]
    assert len(matching) == 1, objects
    listed = subprocess.run([nm, "--undefined-only", matching[0]], capture_output=True, text=True,
                            check=True).stdout
    called = [line.split()[-1] for line in listed.splitlines()]
    early = [name for name in called
             if name != "CRYPTO_memcmp" and any(each in name for each in EARLY)
             and "Sha256" not in name]
    print("\n".join(called))
    return 0 if "CRYPTO_memcmp" in called and not early else f"compares by {early or 'nothing'}"


if __name__ == "__main__":
    sys.exit(main())
