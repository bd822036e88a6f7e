"""Runs a command and prints its exit code, for tests of which one it is."""

import subprocess
import sys

print("exit code", subprocess.call(sys.argv[1:]))
