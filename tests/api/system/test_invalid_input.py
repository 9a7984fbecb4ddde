"""Invalid input to every operation: bodies, members, parameters and lists. The tests are generated from api.def and
openapi.yaml, so a new operation is covered without a new test."""

import json

import pytest

from lib.http import api_def, openapi
from lib.http.api_def import absent_target, by_id
from lib.http.contract import contract

OPERATIONS = [op for op in api_def.operations() if "GONE" not in op.flags]
# Without a key the body is a signed delivery, whatever it says (integrations/test_webhooks.py).
BODIED = [op for op in OPERATIONS if op.body != "NONE" and "OPEN" not in op.flags]
# The provider of the log-in, which makes the address, adds parameters of its own.
STRICT = [op for op in OPERATIONS if op.id != "session_oidc_callback"]
DESCRIBED = openapi.operations()

DEPTH_MAX = 64


def nested(depth):
    return b'{"a":' * depth + b"1" + b"}" * depth


MALFORMED = {
    "cut": b'{"a":',
    "not JSON": b"name=x",
    "single quotes": b"{'a': 1}",
    "comment": b'{"a": 1 /* one */}',
    "trailing comma": b'{"a": 1,}',
    "NaN": b'{"a": NaN}',
    "number form": b'{"a": 01}',
    "trailing bytes": b'{"a": 1} x',
    "two values": b"{} {}",
    "too deep": nested(DEPTH_MAX + 1),
    "too deep array": b'{"a":' + b"[" * DEPTH_MAX + b"]" * DEPTH_MAX + b"}",
    "far too deep": b"[" * 100_000,
    "UTF-8 byte": b'{"a": "\xff"}',
    "UTF-8 cut": b'{"a": "\xe2\x82"}',
    "UTF-8 overlong": b'{"a": "\xc0\xaf"}',
    "UTF-8 surrogate": b'{"a": "\xed\xa0\x80"}',
    "lone surrogate": b'{"a": "\\ud800"}',
    "NUL": b'{"a": "\x00"}',
    "NUL escape": b'{"a": "\\u0000"}',
    "NUL at the end": b"{}\x00",
    "control": b'{"a": "\n"}',
    "named twice": b'{"a": 1, "a": 2}',
}
NOT_AN_OBJECT = {"array": b"[]", "string": b'"a"', "number": b"1", "true": b"true", "null": b"null"}


@pytest.fixture
def send(cluster, all_scopes, op):
    """send(content, ...): call the operation under test with this body; returns the answer."""
    if op.process not in cluster.processes:
        pytest.skip(f"{op.process} is not part of the cluster")

    def request(content=None, content_type="application/json", **options):
        headers = {} if content_type is None or content is None else {"Content-Type": content_type}
        path = options.pop("path", absent_target(op))
        return all_scopes.request(op.method, path, content=content, headers=headers, **options)

    return request


def fault_fields(answer):
    """The fields that a 400 names."""
    assert answer.status_code == 400, answer.text
    return [fault["field"] for fault in answer.json()["errors"]]


# ---- bodies ----


@by_id(BODIED)
@pytest.mark.parametrize("content_type", [None, "text/plain", "application/xml", "application/x-www-form-urlencoded"])
def test_a_body_of_another_content_type_is_415(send, op, content_type):
    assert send(b"{}", content_type).status_code == 415


OTHER_CHARSETS = [
    "application/json; charset=iso-8859-1",
    'application/json;charset="utf-16"',
    "application/json; x=y; Charset=utf-8x",
    "application/json; charset=",
    "application/json; charset=utf-8; charset=latin1",
    'application/json; x="a; b"; charset=latin1',
]


@by_id(BODIED)
@pytest.mark.parametrize("content_type", OTHER_CHARSETS)
def test_a_body_of_another_charset_is_415(send, op, content_type):
    answer = send(b"{}", content_type)
    assert answer.status_code == 415
    assert "UTF-8" in answer.json()["detail"]


JSON_TYPES = [
    "application/json; charset=utf-8",
    'application/json;x="a; charset=latin1";CHARSET="UTF-8"',
    "Application/JSON",
    "application/json ;x=y",
]


@by_id(BODIED)
@pytest.mark.parametrize("content_type", JSON_TYPES)
def test_the_media_type_may_have_parameters(send, op, content_type):
    assert send(b'{"confirm": false}', content_type).status_code != 415


@by_id(BODIED)
@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_malformed_json_is_400(send, op, content):
    answer = send(content)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"] == "malformed_request"


REFUSALS = {
    "NUL escape": "has a NUL (\\u0000) in a string at byte 7",
    "named twice": "has a duplicate member name at byte 10",
    "not JSON": "is not valid JSON: ",
    "too deep": "nests deeper than 64 at byte ",
}


@by_id(BODIED)
@pytest.mark.parametrize(("content", "reason"), [(MALFORMED[name], reason) for name, reason in REFUSALS.items()], ids=REFUSALS)
def test_a_refused_body_is_told_why(send, op, content, reason):
    problem = send(content).json()
    assert problem["detail"].startswith(f"the body {reason}")
    assert problem["errors"][0]["message"].startswith(reason)


@by_id(BODIED)
@pytest.mark.parametrize("content", NOT_AN_OBJECT.values(), ids=NOT_AN_OBJECT)
def test_a_body_that_is_not_an_object_is_400(send, op, content):
    assert send(content).status_code == 400


@by_id(BODIED)
def test_nesting_at_the_limit_is_accepted(send, op):
    answer = send(nested(DEPTH_MAX))
    assert answer.status_code < 500
    assert answer.status_code != 400 or answer.json()["error"] == "invalid_request"


def padded(size):
    """An empty object of `size` bytes."""
    return b"{" + b" " * (size - 2) + b"}"


@by_id(BODIED)
def test_a_body_at_the_limit_is_accepted(send, op):
    answer = send(padded(op.body_max_bytes))
    assert answer.status_code < 500 and answer.status_code != 413
    assert answer.status_code != 400 or answer.json()["error"] == "invalid_request"


@by_id(BODIED)
def test_a_body_over_the_limit_is_413(send, op):
    assert send(padded(op.body_max_bytes + 1)).status_code == 413


@by_id(BODIED)
def test_a_chunked_body_over_the_limit_is_413(send, op):
    content = padded(op.body_max_bytes + 1)
    pieces = (content[start : start + 65536] for start in range(0, len(content), 65536))
    assert send(pieces).status_code == 413


# ---- members ----


def members(op):
    """(name, schema) of each member of the body, references resolved."""
    schema = DESCRIBED[op.id].body_schema
    return [(name, contract().resolve(member)) for name, member in schema.get("properties", {}).items()]


def types(schema):
    declared = schema.get("type", [])
    return [declared] if isinstance(declared, str) else declared


def invalid_values(schema):
    """(id, value): values that do not match the schema of the member."""
    if "anyOf" in schema:
        return [("type", 7)]
    if not schema.keys() & {"type", "const"}:
        return []  # anything is valid
    if "const" in schema:
        return [("value", not schema["const"]), ("type", "yes"), ("null", None)]
    found = [("type", 7 if "object" in types(schema) else {})]
    found.append(("item", [[]]) if "array" in types(schema) else ("array", []))
    if "null" not in types(schema):
        found.append(("null", None))
    if "string" in types(schema) and "integer" not in types(schema):
        found.append(("number", 7))
    if "string" not in types(schema) and set(types(schema)) & {"integer", "number", "boolean"}:
        found.append(("string", "1"))
    if "integer" in types(schema):
        found.append(("fraction", 1.5))
    if "enum" in schema:
        found.append(("enum", "nonsense"))
    if schema.get("format") in ("uuid", "uri", "date-time"):
        found.append(("format", "nonsense"))
    if "minimum" in schema:
        found.append(("under", schema["minimum"] - 1))
    if "maximum" in schema:
        found.append(("over", schema["maximum"] + 1))
    if schema.get("minLength"):
        found.append(("empty", ""))
    if "maxLength" in schema and "format" not in schema:
        found.append(("long", "x" * (schema["maxLength"] + 1)))
    if schema.get("minItems"):
        found.append(("no items", []))
    if "maxItems" in schema:
        found.append(("items", ["x"] * (schema["maxItems"] + 1)))
    return found


MEMBER_FAULTS = [
    pytest.param(op, name, value, id=f"{op.id}-{name}-{what}")
    for op in BODIED
    for name, schema in members(op)
    for what, value in invalid_values(schema)
]


@pytest.mark.parametrize("op, name, value", MEMBER_FAULTS)
def test_an_invalid_member_is_reported(send, op, name, value):
    fields = fault_fields(send(json.dumps({name: value}).encode()))
    assert any(field == name or field.startswith((f"{name}[", f"{name}.")) for field in fields), fields


WHOLE_NUMBERS = [
    pytest.param(op, name, schema, id=f"{op.id}-{name}")
    for op in BODIED
    for name, schema in members(op)
    if "integer" in types(schema)
]


@pytest.mark.parametrize("op, name, schema", WHOLE_NUMBERS)
def test_a_whole_number_is_an_integer_in_any_spelling(send, op, name, schema):
    number = max(schema.get("minimum", 0), 1)
    for text in (f"{number}.0", f"{number}e0", f"{number}0E-1"):
        answer = send(f'{{"{name}": {text}}}'.encode())
        assert answer.status_code < 500, text
        assert answer.status_code != 400 or name not in fault_fields(answer), text


@by_id([op for op in BODIED if DESCRIBED[op.id].body_schema.get("required")])
def test_every_missing_member_is_reported(send, op):
    required = DESCRIBED[op.id].body_schema["required"]
    assert set(required) <= set(fault_fields(send(b"{}")))
    assert set(required) <= set(fault_fields(send(None)))
    assert set(required) <= set(fault_fields(send(b'{"unknown": 1}')))


@by_id([op for op in BODIED if len(members(op)) > 1])
def test_all_invalid_members_are_reported_together(send, op):
    body = {name: invalid_values(schema)[0][1] for name, schema in members(op) if invalid_values(schema)}
    heads = {field.partition("[")[0].partition(".")[0] for field in fault_fields(send(json.dumps(body).encode()))}
    assert heads >= set(body)


@by_id([op for op in BODIED if op.method in ("PUT", "PATCH")])
@pytest.mark.parametrize("content", [None, b"{}", b'{"id": "x", "created_at": 7, "unknown": {}}'])
def test_an_update_without_members_is_400(send, op, content):
    assert send(content).status_code == 400


# ---- parameters ----


def invalid_texts(parameter):
    """(id, text): values of a parameter that are refused."""
    schema = contract().resolve(parameter["schema"])
    found = []
    if "integer" in types(schema):
        found += [("word", "x"), ("empty", ""), ("fraction", "1.5"), ("under", str(schema["minimum"] - 1))]
        found += [("negative", "-1"), ("space", " 1"), ("exponent", "1e1"), ("hexadecimal", "0x1")]
    if "boolean" in types(schema):
        found += [("word", "maybe"), ("empty", "")]
    if "enum" in schema:
        found += [("enum", "nonsense"), ("empty", "")]
    if schema.get("format") == "uuid":
        found += [("form", "nonsense"), ("cut", "019bb695-8a5a-7951-9d9d-c9f81818e81"), ("form", "0" * 32)]
    if "maxLength" in schema and parameter["in"] == "query":
        found.append(("long", "x" * (schema["maxLength"] + 1)))
    return found


def parameter_faults(location):
    return [
        pytest.param(op, parameter["name"], text, id=f"{op.id}-{parameter['name']}-{what}")
        for op in OPERATIONS
        for parameter in DESCRIBED[op.id].parameters
        if parameter["in"] == location
        for what, text in invalid_texts(parameter)
    ]


# Operations that need one of two parameters.
ONE_OF_TWO = {"identity_resolve": {"external_id": "4711"}}


@pytest.mark.parametrize("op, name, text", parameter_faults("query"))
def test_an_invalid_query_parameter_is_reported(send, op, name, text):
    needed = {**DESCRIBED[op.id].required_query, **ONE_OF_TWO.get(op.id, {})}
    assert fault_fields(send(params={**needed, name: text})) == [name]


@pytest.mark.parametrize("op, name, text", [fault for fault in parameter_faults("path") if fault.values[2]])
def test_an_invalid_path_parameter_is_reported(send, op, name, text):
    path = absent_target(op, **{name: text})
    assert name in fault_fields(send(path=path))


@by_id([op for op in OPERATIONS if op.method == "GET" and DESCRIBED[op.id].parameter("query", "limit")])
@pytest.mark.parametrize("limit", ["1", "1000", "9" * 40])
def test_a_limit_over_the_maximum_is_clamped(send, op, limit):
    status = 404 if op.parameters else 200  # what the path names is absent
    other = {"arxiv_id": "0704.9999"} if "arxiv_id" in op.parameters else {}  # the tests of bodies make the usual one
    assert send(path=absent_target(op, **other), params={"limit": limit}).status_code == status


def has_any_offset(op):
    """A list that says no greatest offset."""
    offset = DESCRIBED[op.id].parameter("query", "offset")
    return offset and "maximum" not in offset["schema"] and not op.parameters


@by_id([op for op in OPERATIONS if has_any_offset(op)])
@pytest.mark.parametrize("offset", ["1000000", "9" * 40])
def test_an_offset_past_the_end_is_an_empty_page(send, op, offset):
    answer = send(params={"offset": offset})
    member = {"api_keys_list": "keys", "recommendations_digest_get": "interests"}.get(op.id)
    items = answer.json()[member] if member else answer.json()
    assert (answer.status_code, items) == (200, [])
    assert 'rel="next"' not in answer.headers.get("link", "")


@by_id([op for op in OPERATIONS if op.id == "projects_list"])
def test_a_clamped_page_has_the_maximum(send, all_scopes, op):
    for number in range(101):
        all_scopes.post("/projects", {"name": f"project {number}"}, expect=201)
    answer = send(params={"limit": "1000"})
    assert len(answer.json()) == 100
    assert answer.headers["x-total-count"] == "101"
    rest = all_scopes.get(answer.links["next"]["url"])
    assert [project["name"] for project in rest.json()] == ["project 0"]
    assert "next" not in rest.links and "prev" in rest.links


@by_id([op for op in OPERATIONS if op.method == "GET" and DESCRIBED[op.id].parameter("query", "limit")])
def test_a_parameter_given_twice_is_400(send, op):
    assert "limit" in fault_fields(send(params=[("limit", "1"), ("limit", "2")]))


@by_id([op for op in OPERATIONS if "CREATES" in op.flags])
@pytest.mark.parametrize("key", ["", "x" * 256, "a b"], ids=["empty", "long", "space"])
def test_an_invalid_idempotency_key_is_400(cluster, all_scopes, op, key):
    if op.process not in cluster.processes:
        pytest.skip(f"{op.process} is not part of the cluster")
    body = {} if op.body != "NONE" else None
    assert all_scopes.request(op.method, absent_target(op), body, headers={"Idempotency-Key": key}).status_code == 400


def query_names(op):
    return [row["name"] for row in DESCRIBED[op.id].parameters if row["in"] == "query"]


def messages(answer):
    """{field: message} of a 400, which names each field once; `query` may have several faults."""
    assert answer.status_code == 400, answer.text
    faults = answer.json()["errors"]
    names = [fault["field"] for fault in faults if fault["field"] != "query"]
    assert len(names) == len(set(names))
    return {fault["field"]: fault["message"] for fault in faults}


@by_id(STRICT)
def test_an_unknown_parameter_is_reported(send, op):
    content = b"{}" if op.body != "NONE" else None
    found = messages(send(content, params={**DESCRIBED[op.id].required_query, "nosuch": "x"}))
    assert found["nosuch"].startswith("is not a parameter of this operation")
    known = found["nosuch"].partition("it has ")[2]
    assert set(known.split(", ")) == set(query_names(op) or ["none"])


@by_id([op for op in OPERATIONS if op.method == "GET"])
def test_HEAD_refuses_unknown_parameters_too(cluster, all_scopes, op):
    if op.process not in cluster.processes:
        pytest.skip(f"{op.process} is not part of the cluster")
    answer = all_scopes.request("HEAD", absent_target(op), params={"nosuch": "x"}, checked=False)
    assert answer.status_code == 400


def swapped(name):
    """The name with its last two different letters in another order."""
    at = max(i for i in range(1, len(name)) if name[i] != name[i - 1])
    return name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :]


MISSPELT = [
    pytest.param(op, name, form(name), id=f"{op.id}-{form(name)}")
    for op in STRICT
    for name in query_names(op)
    for form in (swapped, str.upper, lambda name: name[:-1], lambda name: name + "s")
    if len(name) > 4 and form(name) not in query_names(op)
]


@pytest.mark.parametrize("op, name, given", MISSPELT)
def test_a_misspelt_parameter_is_told_the_right_name(send, op, name, given):
    found = messages(send(params={given: "x"}))
    near = [known for known in query_names(op) if known.startswith(name) or name.startswith(known)]
    assert found[given].endswith(tuple(f"; {known} is" for known in near))


@by_id([op for op in OPERATIONS if op.id in ("experiments_list", "api_keys_list", "asset_get")])
def test_every_fault_of_a_query_is_reported(send, op):
    """A name that came twice is reported once; one that cannot be decoded as the query's."""
    path = absent_target(op) + "?a=1&b=2&a=3&%FF=4&=5&&%C3%BC=6&" + "n" * 300
    found = messages(send(path=path))
    assert set(found) == {"a", "b", "ü", "query", "n" * 100}


@by_id([op for op in OPERATIONS if op.id == "experiments_list"])
def test_very_many_unknown_parameters_are_cheap(send, op):
    path = absent_target(op) + "?" + "&".join(f"p{number}" for number in range(5000))
    assert len(messages(send(path=path))) == 100


@by_id([op for op in OPERATIONS if op.id == "project_create"])
def test_a_parameter_beside_an_invalid_body_is_reported_with_it(send, op):
    assert set(messages(send(b'{"name": "", "description": 7}', params={"dry_run": "true"}))) == {"name", "description", "dry_run"}


@by_id([op for op in OPERATIONS if op.id in ("experiments_list", "openapi_get", "search_stats_get")])
@pytest.mark.parametrize("query", ["", "&", "&&&"])
def test_an_empty_query_has_no_parameters(send, op, query):
    assert send(path=f"{absent_target(op)}?{query}").status_code == 200
