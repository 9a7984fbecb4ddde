#!/usr/bin/python3 -B
"""Embed the types of messages, which are the `webhooks` of the API's description, as C.

usage: event_types.py event_types.h gateway/openapi.yaml [svc-x/openapi.yaml ...]

EVENT_TYPES is the array of their names, which NULL ends; EVENT_TYPES_JSON what GET /webhooks/event-types answers:
[{"type", "description", "schema", "example"}], with what a schema refers to in its place. A name is two words, such as run.finished:
endpoints want one, or all with its first word.
"""

import json
import re
import sys
from pathlib import Path

import openapi_parts
from c_text import c_bytes, c_string, write_header


def resolved(value, document):
    """The value without references: a schema is read outside of the description, too. Members beside a reference win."""
    if isinstance(value, list):
        return [resolved(item, document) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        value = {**openapi_parts.target(document, value["$ref"]), **{name: item for name, item in value.items() if name != "$ref"}}
    return {name: resolved(item, document) for name, item in value.items()}


def event_type(name, item, document):
    if not re.fullmatch(r"[a-z_]+\.[a-z_]+", name):
        sys.exit(f"the type {name} of webhooks is not two words with a point between")
    content = item["post"]["requestBody"]["content"]["application/json"]
    return {
        "type": name,
        "description": item["post"]["summary"],
        "schema": resolved(content["schema"], document),
        "example": content["example"],
    }


def main():
    target, *sources = sys.argv[1:]
    document = openapi_parts.read([Path(source) for source in sources])
    types = [event_type(name, item, document) for name, item in sorted(document["webhooks"].items())]
    names = [f"\t{c_string(row['type'])}," for row in types]
    lines = ["static const char *const EVENT_TYPES[] __attribute__((unused)) = {", *names, "\tNULL,", "};", ""]
    write_header(target, "openapi.yaml", lines + c_bytes("EVENT_TYPES_JSON", json.dumps(types, separators=(",", ":"))))


if __name__ == "__main__":
    main()
