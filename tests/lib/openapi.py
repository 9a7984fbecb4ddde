"""gateway/openapi.yaml as data."""

import datetime
import re
import urllib.parse
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "gateway" / "openapi.yaml"

METHODS = ["get", "put", "post", "delete", "patch"]
PARAMETER = re.compile(r"\{(\w+)\}")

# Parameters that take the rest of the path, slashes too; the form {+name} of api.def is not OpenAPI's.
TAKES_THE_REST = {"arxiv_id", "rest"}

FORMATS = jsonschema.FormatChecker(formats=["uuid"])


@FORMATS.checks("date-time", ValueError)
def is_date_time(value):
    return not isinstance(value, str) or datetime.datetime.fromisoformat(value).tzinfo is not None


@FORMATS.checks("date", ValueError)
def is_date(value):
    return not isinstance(value, str) or bool(datetime.date.fromisoformat(value))


@FORMATS.checks("uri", ValueError)
def is_uri(value):
    return not isinstance(value, str) or bool(urllib.parse.urlsplit(value).scheme)


@FORMATS.checks("uri-reference", ValueError)
def is_uri_reference(value):
    return not isinstance(value, str) or urllib.parse.urlsplit(value) is not None


class Loader(yaml.SafeLoader):
    """YAML as JSON has it: a timestamp is a string."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass
class Operation:
    """An operation of the document, references followed."""

    id: str
    method: str  # upper case
    path: str  # template
    node: dict
    parameters: list = field(default_factory=list)

    @property
    def is_open(self):
        return self.node.get("security") == []

    @property
    def any_method(self):
        return bool(self.node.get("x-any-method"))

    def parameter(self, place, name):
        found = [p for p in self.parameters if (p["in"], p["name"]) == (place, name)]
        return found[0] if found else None

    def matches(self, method, path):
        if method != self.method and not self.any_method:
            return False
        return re.fullmatch(self.pattern, path) is not None

    @property
    def pattern(self):
        pieces = PARAMETER.split(self.path)
        names = pieces[1::2]
        slots = [".+" if name in TAKES_THE_REST else "[^/]+" for name in names]
        literals = [re.escape(piece) for piece in pieces[0::2]]
        return "".join(a + b for a, b in zip(literals, slots + [""]))


class Document:
    """The whole document."""

    def __init__(self, source=SOURCE):
        self.root = yaml.load(Path(source).read_text(encoding="utf-8"), Loader)
        self.resolver = jsonschema.RefResolver("", self.root)
        self.operations = [
            self._operation(path, method, item)
            for path, item in self.root["paths"].items()
            for method in METHODS
            if method in item
        ]

    def _operation(self, path, method, item):
        node = item[method]
        parameters = item.get("parameters", []) + node.get("parameters", [])
        return Operation(
            id=node["operationId"],
            method=method.upper(),
            path=path,
            node=node,
            parameters=[self.resolve(parameter) for parameter in parameters],
        )

    def resolve(self, node):
        """What a reference stands for; anything else as it is."""
        while isinstance(node, dict) and "$ref" in node:
            node = self.resolver.resolve(node["$ref"])[1]
        return node

    def validator(self, schema):
        return jsonschema.Draft202012Validator(schema, resolver=self.resolver, format_checker=FORMATS)

    def faults(self, schema, value):
        """What is wrong with a value, a sentence each."""
        errors = self.validator(schema).iter_errors(value)
        return [f"{'/'.join(map(str, error.absolute_path)) or 'value'}: {error.message}" for error in errors]

    def operation(self, operation_id):
        return next(op for op in self.operations if op.id == operation_id)

    def find(self, method, target):
        """The operation that a request is for, literal segments first; None when there is none."""
        path = target.partition("?")[0]
        found = [op for op in self.operations if op.matches(method, path)]
        return min(found, key=lambda op: op.path.count("{"), default=None)


@cache
def document():
    """The document, read once."""
    return Document()
