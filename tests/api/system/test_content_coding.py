"""Bodies with a Content-Encoding: gzip is taken by every operation, and its limit holds for what it decodes to."""

import functools
import gzip
import json
import uuid

import pytest

from lib.http import api_def
from lib.http.api_def import absent_target, by_id
from lib.outside.webhooks import Hook, pull_request, signature
from lib.scenario.evalenv import SECRET, SPEC, signed

OPERATIONS = [op for op in api_def.operations() if "GONE" not in op.flags and op.body != "NONE"]
BODIED = [op for op in OPERATIONS if "OPEN" not in op.flags]


@pytest.fixture
def send(cluster, all_scopes, op):
    """send(content, coding): call the operation under test with these bytes."""
    if op.process not in cluster.processes:
        pytest.skip(f"{op.process} is not part of the cluster")
    target = absent_target(op)

    def request(content, coding="gzip"):
        headers = {"Content-Type": "application/json", "Content-Encoding": coding}
        return all_scopes.request(op.method, target, content=content, headers=headers)

    return request


@functools.cache
def packed(size):
    """An empty object of `size` bytes, packed."""
    return gzip.compress(b"{" + b" " * (size - 2) + b"}", compresslevel=1)


@by_id(BODIED)
def test_gzip_is_decoded(send, op):
    for coding in ["gzip", "x-gzip", "GZip", "identity, gzip"]:
        answer = send(gzip.compress(b'{"a": 1} x'), coding)
        assert (answer.status_code, answer.json()["error"]) == (400, "malformed_request"), coding
        assert "is not valid JSON" in answer.json()["errors"][0]["message"], coding


@by_id(BODIED)
def test_another_coding_is_415(send, op):
    for coding in ["br", "deflate", "zstd", "gzip, gzip", "gzip, br", "compress", "aws-chunked"]:
        answer = send(b"{}", coding)
        assert answer.status_code == 415, coding
        assert answer.headers["accept-encoding"] == "gzip", coding


@by_id(BODIED)
def test_a_415_for_the_type_names_no_coding(cluster, all_scopes, op):
    target = absent_target(op)
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    answer = all_scopes.request(op.method, target, content=gzip.compress(b"{}"), headers=headers)
    assert answer.status_code == 415
    assert "accept-encoding" not in answer.headers


PACKED = gzip.compress(b'{"name": "one", "unknown": [1, 2, 3]}')
BROKEN = {
    "not gzip": b"{}",
    "head alone": PACKED[:10],
    "truncated": PACKED[:-1],
    "no trailer": PACKED[:-8],
    "checksum": PACKED[:-8] + bytes(4) + PACKED[-4:],
    "length": PACKED[:-1] + b"\xff",
    "trailing garbage": PACKED + b"garbage",
    "trailing zeros": PACKED + bytes(512),
    "half a second member": PACKED + PACKED[:12],
    "damaged": PACKED[:14] + b"\xff\xff\xff" + PACKED[17:],
}


@by_id(BODIED)
def test_broken_gzip_is_400(send, op):
    for case, content in BROKEN.items():
        answer = send(content)
        assert (answer.status_code, answer.json()["error"]) == (400, "malformed_request"), case
        assert answer.json()["errors"][0]["field"] == "body", case
        assert "gzip" in answer.json()["detail"], case


@by_id(BODIED)
def test_a_body_at_the_limit_is_accepted(send, op):
    answer = send(packed(op.body_max_bytes))
    assert answer.status_code < 500 and answer.status_code != 413
    assert answer.status_code != 400 or answer.json()["error"] == "invalid_request"


@by_id(BODIED)
@pytest.mark.parametrize("factor", [1, 100])
def test_a_body_over_the_limit_is_413(send, op, factor):
    """100 times the limit is sent as a thousandth of that."""
    assert send(packed(op.body_max_bytes * factor + 1)).status_code == 413


@by_id([op for op in OPERATIONS if "OPEN" in op.flags])
def test_a_bomb_without_a_key_is_413(cluster, anonymous, op):
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    content = packed(op.body_max_bytes * 20)
    assert anonymous.request(op.method, op.target(), content=content, headers=headers).status_code == 413


# ---- what is done with the content ----


def post(api, path, content, expect, coding="gzip", **headers):
    headers = {"Content-Type": "application/json", "Content-Encoding": coding, **headers}
    return api.request("POST", path, content=content, headers=headers, expect=expect)


def test_members_are_joined(api):
    content = gzip.compress(b'{"name": ') + gzip.compress(b"") + gzip.compress(b'"joined"}')
    assert post(api, "/projects", content, 201).json()["name"] == "joined"


def test_a_large_body_is_decoded(api):
    hypothesis = "A longer warm-up keeps the loss from diverging. " * 200
    content = gzip.compress(json.dumps({"name": "large", "hypothesis": hypothesis, "launch_context": {"a": "b" * 60000}}).encode())
    made = post(api, "/experiments", content, 201).json()
    assert made["hypothesis"] == hypothesis
    assert made["launch_context"] == {"a": "b" * 60000}


def test_a_chunked_body_is_decoded(api):
    content = gzip.compress(b'{"name": "in pieces"}')
    pieces = (content[at : at + 5] for at in range(0, len(content), 5))
    assert post(api, "/projects", pieces, 201).json()["name"] == "in pieces"


def test_the_gateways_own_operations_decode(api):
    made = post(api, "/account/api-keys", gzip.compress(b'{"name": "packed"}', 1), 201).json()
    assert made["name"] == "packed"


def test_identity_is_no_coding(api):
    assert post(api, "/projects", b'{"name": "as it is"}', 201, coding="Identity").json()["name"] == "as it is"


def test_telemetry_is_decoded(cluster):
    user = cluster.user()
    key = user.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "repo": "acme/ranker"}, expect=201).json()["key"]
    record = {"run_id": "packed", "repo": "acme/ranker", "status": "running", "chain": [{"phase": "x" * 1000}] * 900}
    made = post(user.api.as_key(key), "/fleet/runs", gzip.compress(json.dumps(record).encode()), 201).json()
    assert made["chain"] == record["chain"]


def test_the_same_body_packed_otherwise_is_the_same_request(api):
    body = json.dumps({"name": f"once {uuid.uuid4()}"}).encode()
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = post(api, "/projects", gzip.compress(body, 9, mtime=1), 201, **key)
    forms = [gzip.compress(body, 1, mtime=2), gzip.compress(body[:5]) + gzip.compress(body[5:])]
    for content in forms:
        again = post(api, "/projects", content, 201, **key)
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first.json()
    assert post(api, "/projects", body, 201, coding="identity", **key).json() == first.json()
    post(api, "/projects", gzip.compress(b'{"name": "another"}'), 422, **key)


def test_broken_gzip_leaves_the_idempotency_key_free(api):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    post(api, "/projects", gzip.compress(b'{"name": "cut"}')[:-1], 400, **key)
    post(api, "/projects", gzip.compress(b'{"name": "cut"}'), 201, **key)


# ---- signatures are of the content without its coding ----


def test_a_delivery_of_the_code_host_is_signed_before_it_is_packed(cluster, code_host):
    hook = Hook(cluster)
    body = json.dumps(pull_request()).encode()
    packed = gzip.compress(body)
    hook.deliver("pull_request", packed, X_Hub_Signature_256=signature(hook.secret, body), Content_Encoding="gzip")
    hook.deliver("pull_request", packed, Content_Encoding="gzip", expect=401)
    hook.deliver("pull_request", packed[:-1], Content_Encoding="gzip", expect=400)


@pytest.mark.parametrize("path", ["results", "hosted/results"])
def test_a_result_is_signed_before_it_is_packed(api, path):
    name = f"packed {uuid.uuid4()}"
    template = api.post("/eval-env/templates", {"name": name, "spec": SPEC, "webhook_secret": SECRET}, expect=201).json()
    run = api.post("/eval-env/runs", {"template_id": template["template_id"]}, expect=201).json()
    result = {"run_id": run["run_id"], "call_id": "c", "status": "succeeded", "state": "succeeded"}
    body = json.dumps(result | {"results": {"log": "x" * 100_000}}).encode()
    packed = gzip.compress(body)
    post(api, f"/eval-env/webhooks/{path}", packed, 401, **signed(packed))
    post(api, f"/eval-env/webhooks/{path}", packed, 200, **signed(body))
