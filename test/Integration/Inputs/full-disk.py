"""Runs a command whose standard output is full; prints its error and its exit code.

usage: full-disk.py COMMAND...
"""

import subprocess
import sys

with open("/dev/full", "wb") as full:
    done = subprocess.run(sys.argv[1:], stdout=full, stderr=subprocess.PIPE, text=True)
print(done.stderr, end="")
print("exit code", done.returncode)
