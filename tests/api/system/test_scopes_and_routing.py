"""Every operation of api.def against the running product: keys and scopes, and the answers to what does not exist."""

import hashlib
import zlib

import pytest

from lib.http import api_def, openapi
from lib.http.api_def import absent_target, by_id
from lib.http.client import Api
from lib.http.contract import contract

TABLE = api_def.operations()
CLOSED = [op for op in TABLE if op.scope]
DESCRIBED = openapi.operations()
GONE = [op for op in TABLE if "GONE" in op.flags]
PATHS = sorted({op.path for op in TABLE} - {op.path for op in GONE})

# What a permitted GET gets where that is not 200, or 404 for a parameter of the path.
PERMITTED = {"app_installation_get": 400, "auth_url_get": 200, "connection_status_get": 200, "identity_resolve": 400,
             "people_list": 400}

VALUES = {"arxiv_id": "hep-th/9901001", "provider_name": "code_host", "rest": "a/b"}

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def target(op):
    """A path that matches the template. Its ids are of no object that exists."""
    return absent_target(op, **VALUES)


def body(op):
    return {} if op.body != "NONE" else None


def methods_of(path):
    return {op.method for op in TABLE if op.path == path}


def problem(answer, status, error):
    """The problem document of the answer, which must be valid and have this status and error."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    contract().validate({"$ref": "#/components/schemas/Problem"}, document, str(answer.request.url))
    assert (document["status"], document["error"]) == (status, error)
    assert document["instance"] == answer.headers["x-request-id"]
    return document


@pytest.fixture(scope="module")
def operator_user(cluster):
    return cluster.user(operator=True)


@pytest.fixture(scope="module")
def all_scopes(cluster, operator_user):
    """A client with every scope. It does not check answers, since not all of them are described."""
    return Api(cluster.gateway_url, operator_user.key, checked=False)


@pytest.fixture(scope="module")
def without_key(cluster):
    return Api(cluster.gateway_url, checked=False)


@pytest.fixture(scope="module")
def with_scope(cluster, operator_user):
    """with_scope(NAME): a client whose key has this scope only."""
    made = {}

    def get(scope):
        if scope not in made:
            answer = operator_user.api.post("/account/api-keys", {"name": scope, "scopes": [scope]}, expect=201)
            made[scope] = Api(cluster.gateway_url, answer.json()["key"], checked=False)
        return made[scope]

    return get


# ---- keys and scopes ----


@by_id(CLOSED)
def test_without_a_key_is_401(without_key, op):
    answer = without_key.request(op.method, target(op), body(op))
    problem(answer, 401, "invalid_token")
    assert answer.headers["www-authenticate"] == 'Bearer realm="expops", error="invalid_token"'


def wrong_keys(key):
    unknown = "usr_" + hashlib.sha256(key.encode()).hexdigest()[:32]
    return {
        "absent": None,
        "empty": "Bearer",
        "scheme": f"Basic {key}",
        "no scheme": key,
        "two": f"Bearer {key} {key}",
        "changed": "Bearer " + key[:-1] + BASE62[(BASE62.index(key[-1]) + 1) % 62],
        "unknown": f"Bearer {unknown}{checksum(unknown)}",
        "longer": f"Bearer {key}a",
        "other prefix": f"Bearer auto_{key.removeprefix('usr_')}",
    }


def checksum(text):
    """The CRC-32 of the text as 6 base62 digits."""
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits


def test_a_key_ends_in_its_checksum(operator_user):
    key = operator_user.key
    assert len(key) == len("usr_") + 32 + 6
    assert key[-6:] == checksum(key[:-6])


@pytest.mark.parametrize("kind", wrong_keys("usr_0"))
def test_all_wrong_keys_get_the_same_answer(without_key, operator_user, kind):
    header = wrong_keys(operator_user.key)[kind]
    answer = without_key.get("/interests", headers={} if header is None else {"Authorization": header})
    document = problem(answer, 401, "invalid_token")
    reference = without_key.get("/interests").json()
    assert document | {"instance": ""} == reference | {"instance": ""}


@by_id(CLOSED)
def test_without_the_scope_is_403(with_scope, op):
    scope = "search:read" if op.scope != "search:read" else "account:read"
    answer = with_scope(scope).request(op.method, target(op), body(op))
    assert problem(answer, 403, "insufficient_scope")["scope"] == op.scope
    challenge = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in challenge and f'scope="{op.scope}"' in challenge


@by_id([op for op in CLOSED if op.method == "GET"])
def test_the_one_scope_is_enough(cluster, code_host, with_scope, op):
    if op.process not in cluster.processes:
        pytest.skip(f"{op.process} is not part of the cluster")
    query = {} if op.id in PERMITTED else DESCRIBED[op.id].required_query
    expected = PERMITTED.get(op.id, 404 if op.parameters or query else 200)
    answer = with_scope(op.scope).get(target(op), params=query)
    assert answer.status_code == expected, answer.text


# ---- what does not exist ----


@by_id(GONE)
@pytest.mark.parametrize("method", api_def.METHODS)
def test_a_removed_operation_is_410_with_and_without_key(all_scopes, without_key, op, method):
    problem(all_scopes.request(method, target(op)), 410, "gone")
    problem(without_key.request(method, target(op)), 410, "gone")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1.0/",
        "/api/v1.0",
        "/api/v1/experiments",
        "/api/v2.0/experiments",
        "/api/v1.0/Experiments",
        "/api/v1.0/experiments/",
        "/api/v1.0/experimentsx",
        "/api/v1.0/interests/x/y/z",
        "/api/v1.0/experiments/a%2Fb",
        "/api/v1.0/experiments%2Fa",
        "/api/v1.0//experiments",
        "/api/v1.0/projects/%00",
        "/api/v1.0/projects/%ff",
        "/api/v1.0/projects/%2e%2e",
        "/api/v1.0/research-interests",
        "/api/internal/assets/lookup",
    ],
)
def test_unknown_path_is_404(all_scopes, path):
    problem(all_scopes.get(path), 404, "not_found")


@pytest.mark.parametrize("path", ["/internal/assets/lookup", "/metrics", "/healthz/", "/api/v1.0/readyz"])
def test_other_paths_are_404(cluster, operator_user, path):
    with Api(cluster.gateway_url, operator_user.key, checked=False).http as http:
        problem(http.get(path), 404, "not_found")


@pytest.mark.parametrize("path", PATHS)
def test_wrong_method_is_405_with_allow(all_scopes, path):
    op = next(op for op in TABLE if op.path == path)
    known = methods_of(path)
    for method in [*api_def.METHODS, "PROPFIND"]:
        if method not in known:
            answer = all_scopes.request(method, target(op))
            problem(answer, 405, "method_not_allowed")
            allowed = {name.strip() for name in answer.headers["allow"].split(",")}
            assert allowed - {"HEAD", "OPTIONS"} == known


# ---- the description ----


def test_the_served_description_is_openapi_yaml(without_key):
    answer = without_key.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    served, written = answer.json(), contract().document
    assert served["info"].pop("version")
    assert served == written | {"info": {k: v for k, v in written["info"].items() if k != "version"}}


def test_the_description_is_served_to_any_key(all_scopes):
    assert all_scopes.get("/openapi.json").status_code == 200
