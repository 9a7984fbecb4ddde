#!/usr/bin/python3 -B
"""Embed an OpenAPI description, written as YAML, as the JSON text OPENAPI_JSON.

usage: openapi_json.py VERSION openapi.yaml openapi.h

`info.version` is set to VERSION, so that the description names the build that serves it.
"""

import json
import os
import sys

import yaml

from c_text import c_bytes, write_header


class Loader(yaml.SafeLoader):
    """YAML as JSON has it: a timestamp is a string."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def main():
    version, source, target = sys.argv[1:4]
    with open(source, encoding="utf-8") as file:
        document = yaml.load(file, Loader)
    document["info"]["version"] = version
    text = json.dumps(document, separators=(",", ":"))
    write_header(target, os.path.basename(source), c_bytes("OPENAPI_JSON", text))


if __name__ == "__main__":
    main()
