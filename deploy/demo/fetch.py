"""Prints a server's response to GET; exits with 1 if its status is not 200.

    fetch.py URL [SECONDS]    with SECONDS: retries for that time
"""

import sys
import time
import urllib.error
import urllib.request


def fetch(url):
    """(body, None) or (None, why not)."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode(), None
    except (urllib.error.URLError, OSError) as error:
        return None, str(error)


def main():
    url = sys.argv[1]
    end = time.monotonic() + (float(sys.argv[2]) if len(sys.argv) > 2 else 0)
    while True:
        body, problem = fetch(url)
        if body is not None:
            sys.stdout.write(body)
            return
        if time.monotonic() >= end:
            raise SystemExit(f"{url}: {problem}")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
