"""Checks answers against the published description: gateway/openapi.yaml merged with the openapi.yaml of each service.

An answer is valid when its operation lists the status, the status lists the content type, the body matches the schema
(JSON Schema 2020-12), and every required header is present. Some statuses are possible for every request and are not
listed; their content must be a problem document. A 503 has Retry-After unless the change may have been made, which
OpenAPI cannot express.
"""

import functools
import json
import re
import sys
from pathlib import Path

from jsonschema import Draft202012Validator, FormatChecker

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "libcommon" / "tools"))
import openapi_parts  # noqa: E402

API_DEF = ROOT / "libcommon" / "api.def"

# Statuses of requests that match no operation, or are refused before they are matched.
ANYWHERE = {400, 404, 405, 408, 413, 414, 417, 431}
PROBLEM = "application/problem+json"

FORMATS = {
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "date": r"\d{4}-\d{2}-\d{2}",
    "date-time": r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z",
    "uri": r"[a-z][a-z0-9+.-]*:\S+",
    "email": r"[^@\s]+@[^@\s]+",
}


class ContractError(AssertionError):
    pass


def format_checker():
    checker = FormatChecker(formats=())
    for name, pattern in FORMATS.items():
        whole = re.compile(pattern)
        checker.checks(name)(lambda text, whole=whole: not isinstance(text, str) or bool(whole.fullmatch(text)))
    return checker


def rest_templates():
    """The templates whose last parameter may contain slashes: {+name} in api.def. OpenAPI cannot express this."""
    found = re.findall(r'"([^"{]*(?:\{\w+\}[^"{]*)*\{\+\w+\}[^"{]*)"', API_DEF.read_text(encoding="utf-8"))
    return {template.replace("{+", "{") for template in found}


def path_pattern(template, has_rest):
    """The regular expression of a template. A parameter is one segment, but for the last one of a template that has the rest."""
    *pieces, end = re.split(r"\{[^}]+\}", template)
    pattern = "[^/]+".join(map(re.escape, pieces)) + (".+" if has_rest else "[^/]+") if pieces else ""
    return re.compile(pattern + re.escape(end))


class Contract:
    """An OpenAPI document, prepared for checking answers."""

    def __init__(self, document):
        self.document = document
        # One for all schemas: a new validator searches the whole document before it resolves its first reference.
        self.validator = Draft202012Validator(document, format_checker=format_checker())
        rest = rest_templates()
        # Literal segments take precedence over parameters, and a longer end over a shorter one.
        paths = sorted(document["paths"], key=lambda path: (path.count("{"), -len(path)))
        self.templates = [(path_pattern(path, path in rest), path) for path in paths]
        self.exercised = set()  # (method, template, status) of every answer checked

    def resolve(self, node):
        """`node`, or what its $ref points to."""
        while isinstance(node, dict) and "$ref" in node:
            node = functools.reduce(
                lambda at, step: at[step.replace("~1", "/").replace("~0", "~")],
                node["$ref"].removeprefix("#/").split("/"),
                self.document,
            )
        return node

    def operations(self):
        """{operationId: (METHOD, template)}."""
        return {
            operation["operationId"]: (method.upper(), template)
            for template, item in self.document["paths"].items()
            for method, operation in item.items()
            if isinstance(operation, dict) and "operationId" in operation
        }

    def find(self, method, target):
        """(template, operation), or None when the document has no such operation."""
        path = target.partition("?")[0]
        for pattern, template in self.templates:
            if pattern.fullmatch(path):
                operation = self.document["paths"][template].get(method.lower())
                return None if operation is None else (template, operation)
        return None

    def validate(self, schema, value, what):
        """Check a value against a schema of the document; raises ContractError with every fault."""
        validator = self.validator.evolve(schema=schema)
        faults = [f"  {fault.json_path}: {fault.message}" for fault in validator.iter_errors(value)]
        if faults:
            raise ContractError(f"{what}\n" + "\n".join(faults) + f"\n  in {json.dumps(value)[:2000]}")

    def check(self, method, target, answer):
        """Check the httpx answer to `method target`; raises ContractError."""
        what = f"{method} {target}: {answer.status_code}"
        if answer.status_code == 500:
            raise ContractError(f"{what}, which is always a defect: {answer.text[:2000]}")
        found = self.find(method, target)
        response = None
        if found:
            responses = found[1]["responses"]
            response = self.resolve(responses.get(str(answer.status_code), responses.get(answer.status_code)))
            self.exercised.add((method, found[0], answer.status_code))
        if response is None:
            if answer.status_code not in ANYWHERE:
                raise ContractError(f"{what} is not documented: {answer.text[:2000]}")
            response = {"content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        self.check_headers(what, response, answer)
        self.check_content(what, response, answer)
        if answer.status_code == 503:
            self.check_retry_after(what, answer)

    def check_headers(self, what, response, answer):
        for name, header in response.get("headers", {}).items():
            header = self.resolve(header)
            if name not in answer.headers:
                if header.get("required"):
                    raise ContractError(f"{what} has no {name}")
                continue
            self.validate(header["schema"], self.header_value(header, answer.headers[name]), f"{what}: {name}")

    def header_value(self, header, text):
        is_integer = self.resolve(header["schema"]).get("type") == "integer"
        return int(text) if is_integer and re.fullmatch(r"-?\d+", text) else text

    def check_content(self, what, response, answer):
        content = response.get("content")
        if not content:
            if answer.content:
                raise ContractError(f"{what} is documented without content: {answer.text[:2000]}")
            return
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip()
        if media_type not in content:
            raise ContractError(f"{what} is '{media_type}', not {list(content)}: {answer.text[:2000]}")
        if media_type.endswith(("/json", "+json")):
            self.validate(content[media_type]["schema"], answer.json(), what)
        if media_type == PROBLEM and answer.json()["status"] != answer.status_code:
            raise ContractError(f"{what} says status {answer.json()['status']}")

    def check_retry_after(self, what, answer):
        """A client that obeys Retry-After must not be told to repeat what may have been done."""
        is_repeatable = answer.json()["error"] != "outcome_uncertain"
        if ("retry-after" in answer.headers) != is_repeatable:
            raise ContractError(f"{what} {'has no' if is_repeatable else 'has a'} Retry-After: {answer.text[:2000]}")


@functools.cache
def contract():
    rows = [line.split() for line in (ROOT / "deploy" / "processes").read_text(encoding="utf-8").splitlines()]
    parts = [ROOT / row[0] / "openapi.yaml" for row in rows if row and not row[0].startswith("#")]
    return Contract(openapi_parts.read([part for part in parts if part.exists()]))
