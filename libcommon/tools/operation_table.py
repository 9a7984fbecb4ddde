#!/usr/bin/python3 -B
"""Make the command line's table of operations from the API's description.

usage: operation_table.py operation_table.h gateway/openapi.yaml [svc-x/openapi.yaml ...]

Each operation becomes a row of OPERATIONS, `struct operation` of gateway/cli/call/operation.h, with a row for each field that it
takes: the parameters of its path, query and header, and the members of its JSON body. Operations that only say that they are
gone are left out.
"""

import sys
from pathlib import Path

import openapi_parts
from c_text import c_string, write_header

METHODS = ["get", "post", "put", "patch", "delete"]
KINDS = {"string": "TEXT", "integer": "INTEGER", "number": "NUMBER", "boolean": "BOOLEAN", "array": "ARRAY", "object": "OBJECT"}


class Description:
    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        """The node itself, or what its $ref leads to."""
        while "$ref" in node:
            node = openapi_parts.target(self.document, node["$ref"])
        return node

    def types(self, schema):
        """The JSON types of a schema's values, without null."""
        schema = self.resolve(schema)
        parts = schema.get("oneOf") or schema.get("anyOf")
        if parts and "type" not in schema:
            return {one for part in parts for one in self.types(part)}
        found = schema.get("type", [])
        return set([found] if isinstance(found, str) else found) - {"null"}

    def kind(self, schema):
        types = self.types(schema)
        return KINDS[types.pop()] if len(types) == 1 else "ANY"

    def values(self, schema):
        schema = self.resolve(schema)
        for part in schema.get("oneOf", []):
            schema = schema | {key: value for key, value in self.resolve(part).items() if key == "enum"}
        return " ".join(str(value) for value in schema.get("enum", []) if value is not None)

    def field(self, name, place, is_required, schema, text):
        text = text or self.resolve(schema).get("description") or ""
        return (f"{{{c_string(name)}, FIELD_{place}, KIND_{self.kind(schema)}, {str(is_required).lower()}, "
                f"{c_string(self.values(schema))}, {c_string(' '.join(text.split()))}}}")  # fmt: skip

    def parameters(self, nodes):
        for node in map(self.resolve, nodes):
            place, schema = node["in"].upper(), node.get("schema", {})
            yield self.field(node["name"], place, node.get("required", False), schema, node.get("description"))

    def body(self, operation):
        """Its schema; None: the operation has no JSON body."""
        content = self.resolve(operation.get("requestBody", {})).get("content", {})
        return self.resolve(content["application/json"]["schema"]) if "application/json" in content else None

    def members(self, body):
        required = body.get("required", [])
        for name, schema in body.get("properties", {}).items():
            yield self.field(name, "BODY", name in required, schema, schema.get("description"))

    def operations(self):
        """(path, method, operation, the parameters that all operations of the path have)"""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item and "x-any-method" not in item[method]:
                    yield path, method, item[method], item.get("parameters", [])


def fields(description, operation, shared):
    body = description.body(operation) or {}
    return [*description.parameters(shared + operation.get("parameters", [])), *description.members(body)]


def row(description, path, method, operation, scope):
    name, body = operation["operationId"], description.body(operation)
    texts = [name, method.upper(), path, operation["tags"][0], scope, operation["summary"], operation.get("description", "").strip()]
    flags = ["true" if flag else "false" for flag in (body is not None, "x-required-scope" in operation)]
    return f"\t{{{', '.join(map(c_string, texts))}, {', '.join(flags)}, FIELDS_{name}}},"


def main():
    target, *sources = sys.argv[1:]
    description = Description(openapi_parts.read([Path(source) for source in sources]))
    lines, rows = [], []
    for path, method, operation, shared in description.operations():
        lines += [f"static const struct operation_field FIELDS_{operation['operationId']}[] = {{"]
        lines += [f"\t{one}," for one in fields(description, operation, shared)] + ["\t{0},", "};"]
        rows += [row(description, path, method, operation, operation.get("x-required-scope", ""))]
    lines += ["static const struct operation OPERATIONS[] = {", *rows, "\t{0},", "};"]
    write_header(target, "openapi.yaml", lines)


if __name__ == "__main__":
    main()
