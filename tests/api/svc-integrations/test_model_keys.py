"""Connecting to model providers by an API key, and what an Idempotency-Key means for a POST that calls outside services."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lib.http import plain_http
from lib.scenario.connections import fault_of
from lib.http.identity import identity
from lib.http.raw_http import leaving_client
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

PATHS = {
    "anthropic": "/v1/models?limit=1",
    "openai": "/v1/models",
    "google": "/v1beta/models?pageSize=1",
    "moonshot": "/v1/models",
    "zai": "/api/paas/v4/models",
}
CONNECT = "/integrations/anthropic/connect"


@pytest.fixture
def models(cluster):
    yield cluster.model_provider
    cluster.model_provider.release()
    cluster.model_provider.status, cluster.model_provider.message = 200, "invalid x-api-key"


@pytest.fixture
def key():
    return f"good-{secrets.token_hex(16)}"


@pytest.fixture
def repeat():
    return {"Idempotency-Key": secrets.token_hex(8)}


@pytest.mark.parametrize("provider", PATHS)
def test_a_key_is_tried_and_stored(api, models, db, key, provider):
    answer = api.post(f"/integrations/{provider}/connect", {"api_key": f" {key} "}, expect=200)
    made = answer.json()["connection"]
    assert (made["provider"], made["status"], made["external_account"], made["base_url"]) == (provider, "active", None, None)
    assert models.asked(key) == [("GET", PATHS[provider])]
    status = api.get(f"/integrations/{provider}/status", expect=200)
    assert key not in answer.text + status.text + api.get("/integrations/connections", expect=200).text
    assert key not in common.rows_as_text(db, "connection", id=made["id"]) and key.encode() not in integrations_tables.sealed_token(db, made["id"])
    api.delete(f"/integrations/{provider}", expect=200)
    wait_for(lambda: not integrations_tables.is_to_be_revoked(db, made["id"]), "the key is forgotten")


def test_a_refused_key_has_the_reason_of_the_provider(api, models):
    key = f"bad-{secrets.token_hex(16)}"
    models.message = f"unknown key {key}"
    field, message = fault_of(api, CONNECT, {"api_key": key})
    assert (field, message) == ("api_key", "was refused by anthropic with status 401: unknown key ***")
    assert api.get("/integrations/connections", expect=200).json() == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_provider_that_is_away_refuses_no_key(api, models, key, status):
    models.status = status
    api.problem("POST", CONNECT, 502, "bad_gateway", {"api_key": key})


@pytest.mark.parametrize("provider, body, field", [
    ("anthropic", {}, "api_key"),
    ("anthropic", {"api_key": "two words"}, "api_key"),
    ("anthropic", {"api_key": "line\r\nx-other: 1"}, "api_key"),
    ("anthropic", {"api_key": "x", "base_url": "https://example.org"}, "base_url"),
    ("custom", {"api_key": "x"}, "base_url"),
    ("custom", {"api_key": "x", "base_url": "file:///etc/passwd"}, "base_url"),
])  # fmt: skip
def test_invalid_keys_are_refused(api, provider, body, field):
    assert fault_of(api, f"/integrations/{provider}/connect", body)[0] == field


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1"])
def test_a_private_address_is_refused(api, models, key, host):
    port = models.url.rpartition(":")[2]
    body = {"api_key": key, "base_url": f"http://{host}:{port}/v1"}
    assert fault_of(api, "/integrations/custom/connect", body)[0] == "base_url"
    assert not models.asked(key)


def test_a_private_address_that_is_allowed_is_called(cluster, models, db, key, user):
    process = cluster.separate("svc-integrations", "allowed", FETCH_ALLOW="127.0.0.0/8")
    process.start()
    try:
        process.wait_ready()
        body = {"api_key": key, "base_url": models.url + "/v1/"}
        made = call(cluster, process, "/integrations/custom/connect", account_id(db, user), body)
        assert made.json()["connection"]["base_url"] == models.url + "/v1/"
        assert models.asked(key) == [("GET", "/v1/models")]
    finally:
        process.stop()


def account_id(db, user):
    """The account of a user, by a link that it makes."""
    link = {"source": "tracker_b", "external_id": secrets.token_hex(8)}
    return user.api.post("/integrations/identity/link", link, expect=201).json()["user_id"]


def call(cluster, process, path, account, body, headers=None):
    sender = identity(cluster, "svc-integrations", account=account)
    return plain_http.post(f"{process.url}/api/v1.0{path}", json=body, auth=sender, headers=headers)


@pytest.mark.parametrize("provider", ["code_host", "tracker_a"])
def test_an_oauth_provider_takes_no_key(api, provider):
    api.problem("POST", f"/integrations/{provider}/connect", 409, "wrong_auth_type", {"api_key": "x"})


# ---- Idempotency-Key ----


def test_a_repeated_request_gets_the_first_answer(api, models, key, repeat):
    first = api.post(CONNECT, {"api_key": key}, headers=repeat, expect=200)
    again = api.post(CONNECT, {"api_key": key}, headers=repeat, expect=200)
    assert again.json() == first.json() and again.headers["idempotent-replayed"] == "true"
    assert len(models.asked(key)) == 1
    api.problem("POST", CONNECT, 422, "idempotency_key_reused", {"api_key": key + "x"}, headers=repeat)


def test_a_request_that_runs_is_in_progress(api, models, key, repeat):
    models.hold()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(api.post, CONNECT, {"api_key": key}, headers=repeat)
        wait_for(lambda: models.asked(key), "the provider is asked")
        other = api.as_key(api.key)
        other.problem("POST", CONNECT, 409, "request_in_progress", {"api_key": key}, headers=repeat)
        other.problem("POST", CONNECT, 422, "idempotency_key_reused", {"api_key": "x"}, headers=repeat)
        models.release()
        assert first.result().status_code == 200
    assert other.post(CONNECT, {"api_key": key}, headers=repeat, expect=200).json() == first.result().json()


def test_a_request_that_failed_can_be_sent_again(api, models, key, repeat):
    models.status = 503
    for _ in range(2):
        api.problem("POST", CONNECT, 502, "bad_gateway", {"api_key": key}, headers=repeat)
    models.status = 200
    api.post(CONNECT, {"api_key": key}, headers=repeat, expect=200)
    assert len(models.asked(key)) == 3


def test_a_request_whose_client_has_gone_can_be_sent_again(cluster, api, models, key, repeat):
    models.hold()
    fields = {"Authorization": f"Bearer {api.key}", "Content-Type": "application/json", **repeat}
    content = httpx.Request("POST", cluster.gateway_url, json={"api_key": key}).content  # the bytes that api.post() sends
    with leaving_client(cluster.gateway_url, "POST", f"/api/v1.0{CONNECT}", fields, content):
        wait_for(lambda: models.asked(key), "the provider is asked")
    models.release()
    wait_for(lambda: api.post(CONNECT, {"api_key": key}, headers=repeat).status_code == 200, "it can be sent again")


def test_a_request_of_a_killed_process_can_be_sent_again(cluster, models, db, user, key, repeat):
    """Until its reservation ends, soon after its deadline, a repetition is told that it is in progress."""
    account, body = account_id(db, user), {"api_key": key}
    process = cluster.separate("svc-integrations", "killed", REQUEST_TIMEOUT="2s")
    process.start()
    try:
        process.wait_ready()
        models.hold()
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(call, cluster, process, CONNECT, account, body, repeat)
            wait_for(lambda: models.asked(key), "the provider is asked")
            process.kill9()
            with pytest.raises(httpx.TransportError):
                first.result()
        models.release()
        with common.longer_reservation(db, account):  # than a slow start takes
            process.start()
            process.wait_ready()
            assert call(cluster, process, CONNECT, account, body, repeat).json()["error"] == "request_in_progress"
        made = wait_for(
            lambda: (answer := call(cluster, process, CONNECT, account, body, repeat)).status_code == 200 and answer,
            "the reservation has ended",
        ).json()["connection"]
        assert integrations_tables.connections_of(db, account) == [made["id"]]
    finally:
        process.stop()
