#!/usr/bin/python3 -B
"""Make the table of tools of tools.yaml, which says what its rows mean, and of the API's description.

usage: tools_header.py tools.h gateway/mcp/tools.yaml gateway/openapi.yaml [svc-x/openapi.yaml ...]
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "libcommon" / "tools"))

import openapi_parts  # noqa: E402
import yaml  # noqa: E402
from c_text import c_string, write_header  # noqa: E402

PLACES = {"path": "IN_TOOL_PATH", "query": "IN_TOOL_QUERY", "body": "IN_TOOL_BODY"}

# What of a schema a tool's argument has.
KEPT = ["type", "enum", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "items", "default"]

# What of a row's argument is not of its schema.
ARGUMENT_KEYS = {"own", "as", "required", "description"}

ROW_KEYS = {"title", "description", "hints", "operation", "when", "instead", "arguments", "outside", "always", "list", "paged", "result",
            "rest", "absent", "uncertain"}

# Of a row of `result` that is no plain object.
DIRECTIVES = {"from", "cut", "first", "items", "most", "members"}

DESCRIPTION_MAX = 100


class RowError(Exception):
    pass


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Operation:
    """An operation of the description: its parameters, the members of its body, and the schema of its answer."""

    def __init__(self, document, name):
        self.document, self.name = document, name
        item, self.node = next((item, node) for item in document["paths"].values() for node in item.values()
                               if isinstance(node, dict) and node.get("operationId") == name)
        self.places = {}  # name -> place, schema, description
        for parameter in map(self.resolved, [*item.get("parameters", []), *self.node.get("parameters", [])]):
            if parameter["in"] in PLACES:
                self.places[parameter["name"]] = parameter["in"], self.resolved(parameter["schema"]), parameter.get("description")
        for member, schema in self.body().get("properties", {}).items():
            schema = self.resolved(schema)
            self.places[member] = "body", schema, schema.get("description")

    def resolved(self, node):
        """The node without references, those of a union without null as well."""
        if "$ref" in node:
            target = openapi_parts.target(self.document, node["$ref"])
            node = {**self.resolved(target), **{name: value for name, value in node.items() if name != "$ref"}}
        choices = [choice for choice in node.get("anyOf", node.get("oneOf", [])) if choice != {"type": "null"}]
        return self.resolved({**choices[0], "nullable": True}) if len(choices) == 1 else node

    def body(self):
        content = self.node.get("requestBody", {}).get("content", {})
        return self.resolved(content["application/json"]["schema"]) if content else {}

    def answer(self):
        response = next(response for status, response in self.node["responses"].items() if status.startswith("2"))
        return self.resolved(self.resolved(response)["content"]["application/json"]["schema"])


def types_of(schema):
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return [kind for kind in kinds if kind != "null"], "null" in kinds or schema.get("nullable", False)


def without_null(schema):
    """The schema of a value that is there, and is not null."""
    kept = {name: schema[name] for name in KEPT if name in schema and name != "default"}
    kinds, _ = types_of(schema)
    kept["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in kept:
        kept["enum"] = [value for value in kept["enum"] if value is not None]
    if "items" in kept:
        kept["items"] = without_null(kept["items"])
    return kept


def check_keys(keys, known, where):
    unknown = sorted(str(key) for key in set(keys) - known)
    if unknown:
        raise RowError(f"{where} has unknown keys: {', '.join(unknown)}")


class Tool:
    """A row of tools.yaml."""

    def __init__(self, document, name, row):
        check_keys(row, ROW_KEYS, name)
        if ("W" in row["hints"]) != ("uncertain" in row):
            raise RowError(f"{name}: a tool that writes needs uncertain, and no other")
        self.name, self.row = name, row
        self.operations = [Operation(document, row["operation"])]
        if "instead" in row:
            self.operations.append(Operation(document, row["instead"]))
        self.arguments = {argument: changes or {} for argument, changes in row["arguments"].items()}
        self.schemas = {argument: self.schema(argument, changes) for argument, changes in self.arguments.items()}

    def schema(self, argument, changes):
        """The schema of an argument: that of the first operation that has it, changed."""
        check_keys(changes, ARGUMENT_KEYS | set(KEPT), f"{self.name}: {argument}")
        known = next((op.places[changes.get("as", argument)] for op in self.operations
                      if changes.get("as", argument) in op.places), None)
        if not known and not changes.get("own"):
            raise RowError(f"{self.name}: {self.operations[0].name} has no {argument}")
        schema = {} if changes.get("own") else without_null(known[1])
        schema.update({key: value for key, value in changes.items() if key not in ARGUMENT_KEYS})
        description = changes.get("description") or (known and known[2]) or ""
        if not 0 < len(description) <= DESCRIPTION_MAX:
            raise RowError(f"{self.name}: {argument} needs a description of at most {DESCRIPTION_MAX} characters")
        if schema["type"] == "array" and "maxItems" not in schema:
            raise RowError(f"{self.name}: {argument} is an array and needs maxItems")
        return {"type": schema.pop("type"), "description": description, **schema}

    def place(self, number, argument):
        if number >= len(self.operations) or self.arguments[argument].get("own"):
            return "NOT_SENT"
        place = self.operations[number].places.get(self.arguments[argument].get("as", argument))
        return PLACES[place[0]] if place else "NOT_SENT"

    def members(self):
        """The members of the result, and of each operation's answer its schema."""
        result = self.row["result"]
        return result[0] if self.row.get("list") else result

    def output_schema(self):
        """Only the members that every result has: models read the result itself."""
        if self.row["result"] == "formatted":
            return None
        if self.row.get("list"):
            return {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object"}}}, "required": ["items"]}
        properties = {}
        for member, part in self.members().items():
            schemas = [self.at(operation.answer(), member, part) for operation in self.operations]
            kinds = [types_of(schema) for schema in schemas if schema]
            is_always = len(kinds) == len(schemas) and not any(is_null or kind == ["array"] for kind, is_null in kinds)
            if member in self.row["always"] if "always" in self.row else is_always:
                properties[member] = {"type": kinds[0][0][0]}
        return {"type": "object", "properties": properties, **({"required": list(properties)} if properties else {})}

    def at(self, answer, member, part):
        """The schema of what a member of the result is made of; None: the answer has no such member."""
        path = part["from"] if isinstance(part, dict) and part.keys() <= DIRECTIVES and "from" in part else member
        schema = answer
        for step in [] if path == "." else path.split("."):
            schema = schema.get("properties", {}).get(step)
            if schema is None:
                return None
            schema = self.operations[0].resolved(schema)
        return schema if path != "." else {"type": "object"}

    def definition(self, is_repo_known=False):
        required = [argument for argument, changes in self.arguments.items()
                    if changes.get("required") and not (is_repo_known and argument == "repo")]
        inputs = {"type": "object", "properties": self.schemas, "additionalProperties": False}
        hints = self.row["hints"]
        output = self.output_schema()
        return {
            "name": self.name,
            "title": self.row["title"],
            "description": self.row["description"],
            "inputSchema": {**inputs, "required": required} if required else inputs,
            **({"outputSchema": output} if output else {}),
            "annotations": {"readOnlyHint": "R" in hints, "destructiveHint": "D" in hints,
                            **({"idempotentHint": True} if "I" in hints else {}), "openWorldHint": "O" in hints},
        }

    def lines(self):
        """The C table of the arguments."""
        yield f"static const struct tool_argument {self.name}_arguments[] = {{"
        for argument, changes in self.arguments.items():
            places = ", ".join(self.place(number, argument) for number in (0, 1))
            yield f"\t{{{c_string(argument)}, {c_string(changes.get('as', argument))}, {{{places}}}}},"
        yield "\t{0},"
        yield "};"

    def row_lines(self):
        row = self.row
        text = lambda value: c_string(value) if value else "NULL"  # noqa: E731
        yield "\t{"
        yield f"\t\t.name = {c_string(self.name)},"
        yield f"\t\t.operations = {{API_ID_{row['operation']}, API_ID_{row.get('instead', row['operation'])}}},"
        yield f"\t\t.when = {text(row.get('when'))},"
        yield f"\t\t.arguments = {self.name}_arguments,"
        yield f"\t\t.definition = {c_string(compact(self.definition()))},"
        yield f"\t\t.definition_with_repo = {c_string(compact(self.definition(is_repo_known=True)))},"
        shape = None if row["result"] == "formatted" else compact(normal_part(self.members()))
        yield f"\t\t.shape = {text(shape)},"
        yield f"\t\t.paged = {text(row.get('paged'))},"
        yield f"\t\t.rest = {text(row.get('rest'))},"
        yield f"\t\t.absent = {text(row.get('absent'))},"
        yield f"\t\t.uncertain = {text(row.get('uncertain'))},"
        yield f"\t\t.has_outside_text = {str(row.get('outside', False)).lower()},"
        yield f"\t\t.is_list = {str(row.get('list', False)).lower()},"
        yield "\t},"


def normal_part(part):
    """A part of `result` with every abbreviation written out: shape.h."""
    if part is None or part == {}:
        return {}
    if isinstance(part, int):
        return {"cut": part}
    if isinstance(part, list):
        return {"items": normal_part(part[0])}
    if not part.keys() <= DIRECTIVES:
        return {"members": {name: normal_part(value) for name, value in part.items()}}
    normal = {name: part[name] for name in ("from", "cut", "first", "most") if name in part}
    if "items" in part:
        normal["items"] = normal_part(part["items"])
    if "members" in part:
        normal["members"] = {name: normal_part(value) for name, value in part["members"].items()}
    return normal


def main():
    target, source, *descriptions = sys.argv[1:]
    document = openapi_parts.read([Path(path) for path in descriptions])
    rows = yaml.safe_load(Path(source).read_text(encoding="utf-8"))
    try:
        tools = [Tool(document, name, row) for name, row in rows.items()]
        lines = [line for tool in tools for line in tool.lines()]
        lines += ["static const struct tool TOOLS[] = {", *(line for tool in tools for line in tool.row_lines()), "};"]
    except RowError as error:
        sys.exit(f"tools_header.py: {error}")
    write_header(target, "tools.yaml", lines)


if __name__ == "__main__":
    main()
