"""The operations of gateway/openapi.yaml as data, for parametrized tests."""

from dataclasses import dataclass
from functools import cache

from lib.http.contract import ContractError, contract

METHODS = ["get", "put", "post", "delete", "patch"]


@dataclass
class Operation:
    """An operation; the references of its parameters are resolved."""

    id: str
    method: str  # upper case
    path: str  # template with {name}
    node: dict
    parameters: list

    @property
    def is_open(self):
        return self.node.get("security") == []

    @property
    def has_any_method(self):
        return bool(self.node.get("x-any-method"))

    @property
    def body_schema(self):
        """Schema of the body, its reference resolved; None when there is no body."""
        body = self.node.get("requestBody")
        return body and contract().resolve(body["content"]["application/json"]["schema"])

    @property
    def required_query(self):
        """{name: example} of the query parameters that must be given."""
        return {p["name"]: p["example"] for p in self.parameters if p["in"] == "query" and p.get("required")}

    def parameter(self, location, name):
        found = [p for p in self.parameters if (p["in"], p["name"]) == (location, name)]
        return found[0] if found else None


def read_operation(path, method, item):
    node = item[method]
    parameters = item.get("parameters", []) + node.get("parameters", [])
    return Operation(
        id=node["operationId"],
        method=method.upper(),
        path=path,
        node=node,
        parameters=[contract().resolve(parameter) for parameter in parameters],
    )


@cache
def operations():
    """{operationId: Operation}, in the order of the document."""
    paths = contract().document["paths"]
    found = [read_operation(path, method, item) for path, item in paths.items() for method in METHODS if method in item]
    return {operation.id: operation for operation in found}


def fault(schema, value):
    """The faults of a value; None when it matches the schema."""
    try:
        contract().validate(schema, value, "value")
    except ContractError as error:
        return str(error)
    return None
