"""Prints the manifest of an artifact, indented."""

import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
fields = struct.unpack("<8Q", data[-96:-32])
offset, size = fields[2:4]
print(json.dumps(json.loads(data[offset : offset + size]), indent=1, sort_keys=True))
