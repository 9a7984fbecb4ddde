#!/usr/bin/python3 -B
"""Embed the API's description as the JSON text OPENAPI_JSON.

usage: openapi_json.py VERSION openapi.h gateway/openapi.yaml [svc-x/openapi.yaml ...]
       openapi_json.py VERSION openapi.json ...    the text itself

The files are merged as openapi_parts.py tells. `info.version` is set to VERSION, so that the description names the build
that serves it.
"""

import json
import sys
from pathlib import Path

import openapi_parts
from c_text import c_bytes, write_header


def main():
    version, target, *sources = sys.argv[1:]
    try:
        document = openapi_parts.read([Path(source) for source in sources])
    except openapi_parts.PartsError as error:
        sys.exit(f"openapi_json.py: {error}")
    document["info"]["version"] = version
    text = json.dumps(document, separators=(",", ":"))
    if target.endswith(".json"):
        Path(target).write_text(text, encoding="utf-8")
    else:
        write_header(target, "openapi.yaml", c_bytes("OPENAPI_JSON", text))


if __name__ == "__main__":
    main()
