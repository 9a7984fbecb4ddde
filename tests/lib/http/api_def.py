"""libcommon/api.def as data: the table of all public operations."""

import re
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "libcommon" / "api.def"
SCOPES = ROOT / "libcommon" / "scope.def"

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
ROW = re.compile(
    r"API\((?P<id>\w+), +(?P<method>\w+), +\"(?P<path>[^\"]+)\", +(?P<service>\w+),"
    r" +(?:\"(?P<scope>[^\"]+)\"|NULL), +BODY_(?P<body>\w+), +(?P<flags>[\w |]+)\)"
)
PARAMETER = re.compile(r"\{(\+?)(\w+)\}")


OPERATOR_SCOPES = {"service:any_user", "assets:write"}


def scopes():
    """All scopes, in the order of their bits."""
    return re.findall(r'^SCOPE\(\w+, +"([^"]+)"', SCOPES.read_text(encoding="utf-8"), re.MULTILINE)


def account_scopes():
    """Those that a user can have."""
    return [name for name in scopes() if name not in OPERATOR_SCOPES]


def scope_mask(*names):
    """The bits of these scopes."""
    known = scopes()
    return sum(1 << known.index(name) for name in names)


def process_of(symbol):
    """Name of the process with this symbol of API_SERVICES, or GATEWAY."""
    return "gateway" if symbol == "GATEWAY" else f"svc-{symbol.lower()}"


@dataclass(frozen=True)
class Operation:
    """A row of the table."""

    id: str
    method: str  # one of METHODS, or ANY
    path: str  # template with {name} and {+name}
    service: str
    scope: str  # None: no key is needed, or any
    body: str  # NONE, SMALL, JSON, LARGE or DELIVERY
    flags: frozenset

    @property
    def process(self):
        """Name of the process that handles it."""
        return process_of(self.service)

    @property
    def parameters(self):
        """Names of the path parameters, in order."""
        return [name for _, name in PARAMETER.findall(self.path)]

    @property
    def plain_path(self):
        """The template as OpenAPI writes it."""
        return PARAMETER.sub(r"{\2}", self.path)

    @property
    def body_max_bytes(self):
        return {"NONE": 0, "SMALL": 16 << 10, "JSON": 1 << 20, "LARGE": 8 << 20, "DELIVERY": 25 << 20}[self.body]

    def target(self, **values):
        """The path with the parameters replaced by `values`, which are percent-encoded already."""
        return PARAMETER.sub(lambda match: values[match.group(2)], self.path)


def parse(text):
    """The operations of a table. Raises ValueError for a line that is not a row, comment or directive."""
    operations = []
    for line in COMMENT.sub("", text).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        row = ROW.fullmatch(line)
        if not row:
            raise ValueError(f"not a row: {line}")
        cells = row.groupdict()
        flags = {flag.strip() for flag in cells.pop("flags").split("|")} - {"0"}
        operations.append(Operation(**cells, flags=frozenset(flags)))
    return operations


PUBLIC_VALUES = {"arxiv_id": "2205.14135"}  # of path parameters that are no ids of an account


def absent_target(operation, **values):
    """The target of an operation on what nobody has; `values` of parameters, which are percent-encoded already."""
    missing = str(uuid.uuid4())
    known = PUBLIC_VALUES | values
    return operation.target(**{name: known.get(name, missing) for name in operation.parameters})


def by_id(rows):
    """Parametrize a test by operations: its argument `op`."""
    return pytest.mark.parametrize("op", rows, ids=lambda op: op.id)


def all_operations():
    return parse(TABLE.read_text(encoding="utf-8"))


def operations():
    """Those of the REST interface, which openapi.yaml describes."""
    return [op for op in all_operations() if "PROTOCOL" not in op.flags]


INTERNAL_TABLE = ROOT / "libcommon" / "internal.def"
INTERNAL_ROW = re.compile(r'INTERNAL\(\w+, +(\w+), +"([^"]+)", +(\w+), +BODY_\w+, +\w+, +(.*)\)')
PUBLIC_ROW = re.compile(r"PUBLIC\((\w+), +(.*)\)")


def callers_of(text):
    """`MAY(INTERESTS) | MAY(SEARCH)` -> the names of these services."""
    return {process_of(name) for name in re.findall(r"MAY\((\w+)\)", text)}


def internal_operations():
    """[(method, path, service, callers)] of libcommon/internal.def; services by name, each of EVERY."""
    rows = INTERNAL_ROW.findall(COMMENT.sub("", INTERNAL_TABLE.read_text(encoding="utf-8")))
    return [(method, path, process_of(each), callers_of(callers))
            for method, path, service, callers in rows for each in (services()[1:] if service == "EVERY" else [service])]


def public_callers():
    """{operation id: services that may use it, beside the gateway} of libcommon/internal.def."""
    rows = PUBLIC_ROW.findall(COMMENT.sub("", INTERNAL_TABLE.read_text(encoding="utf-8")))
    return {operation: callers_of(callers) for operation, callers in rows}


def services():
    """All values of Operation.service, in the order of API_SERVICES in libcommon/http/api.h."""
    header = (ROOT / "libcommon" / "http" / "api.h").read_text(encoding="utf-8")
    return ["GATEWAY", *re.findall(r'^\tX\((\w+), "svc-', header, re.MULTILINE)]
