"""Connecting by OAuth: the authorization address, the callback, and what becomes of the connection."""

import json

import pytest

from lib.scenario.connections import TOKEN, begin, fault_of, whoami
from lib.outside.counterparts import REDIRECT_URI, connect
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

OAUTH = ["code_host", "tracker_a", "tracker_b"]
MODELS = ["anthropic", "openai", "google", "moonshot", "zai", "custom"]
CALLBACK = "/integrations/tracker_b/callback"


@pytest.fixture
def logins(code_host, oauth_provider, login):
    """{provider: a user of it}"""
    return {"code_host": code_host.user().login, "tracker_a": code_host.tracker_user(), "tracker_b": login}


def test_all_providers_are_listed(api):
    rows = api.get("/integrations/providers", expect=200).json()
    assert [row["name"] for row in rows] == OAUTH + MODELS
    assert {row["kind"] for row in rows[1:3]} == {"tracker"} and rows[0]["kind"] == "code_host"
    assert {(row["kind"], row["auth_type"], row["configured"]) for row in rows[3:]} == {("model", "api_key", True)}
    assert all(row["configured"] and row["auth_type"] == "oauth2" and row["scopes"] for row in rows[:3])
    assert not any(row["connected"] for row in rows)


def test_providers_come_in_pages(api):
    names = OAUTH + MODELS
    pages = [api.get("/integrations/providers", params={"limit": 4, "offset": offset}, expect=200) for offset in (0, 4, 8, 12)]
    assert [[row["name"] for row in page.json()] for page in pages] == [names[:4], names[4:8], names[8:], []]
    assert {page.headers["X-Total-Count"] for page in pages} == {str(len(names))}
    assert [page.links.keys() for page in pages] == [{"next"}, {"next", "prev"}, {"prev"}, {"prev"}]


@pytest.mark.parametrize("provider", OAUTH)
def test_a_provider_is_connected_and_disconnected(api, logins, provider):
    status = f"/integrations/{provider}/status"
    assert api.get(status, expect=200).json() == {
        "provider": provider, "configured": True, "connected": False, "connection": None,
    }  # fmt: skip
    made = connect(api, provider, logins[provider])
    assert made["status"] == "active" and made["external_account"]["id"] and not made["last_refreshed_at"]
    assert api.get(status, expect=200).json()["connection"] == made
    assert api.get("/integrations/connections", expect=200).json() == [made]
    token = api.get(f"/integrations/{provider}/token", expect=200)
    assert token.headers["cache-control"] == "no-store" and "etag" not in token.headers
    assert token.json()["provider"] == provider and token.json()["token_type"] == "Bearer"
    assert api.delete(f"/integrations/{provider}", expect=200).json() == {"id": made["id"], "deleted": True}
    api.problem("DELETE", f"/integrations/{provider}", 404, "not_found")
    api.problem("GET", f"/integrations/{provider}/token", 404, "not_found")
    assert api.get("/integrations/connections", expect=200).json() == []


def test_what_is_secret_is_never_unchanged(api, login):
    connect(api, "tracker_b", login)
    fields = {"If-None-Match": "*"}
    api.get("/integrations/tracker_b/status", headers=fields, expect=304)
    for path in (TOKEN, "/integrations/tracker_a/auth-url"):
        answer = api.get(path, headers=fields, expect=200)
        assert answer.headers["cache-control"] == "no-store" and "etag" not in answer.headers


def test_the_token_is_of_the_user_and_is_revoked_when_disconnected(api, oauth_provider, db, login):
    made = connect(api, "tracker_b", login)
    assert made["external_account"] == {"id": login, "login": login, "email": f"{login}@example.org"}
    token = api.get(TOKEN, expect=200).json()["access_token"]
    assert whoami(oauth_provider, token) == 200
    api.delete("/integrations/tracker_b", expect=200)
    wait_for(lambda: whoami(oauth_provider, token) == 401, "the token is revoked")
    wait_for(lambda: not integrations_tables.is_to_be_revoked(db, made["id"]), "it is forgotten")


def test_one_of_two_connections_of_a_user_is_revoked_alone(api, other_user, code_host):
    """The code host forgets the whole grant of a user when it is asked to; the other account must not notice."""
    ada = code_host.user()
    connect(api, "code_host", ada.login)
    connect(other_user.api, "code_host", ada.login)
    after = code_host.last_number()
    api.delete("/integrations/code_host", expect=200)
    deleted = wait_for(lambda: code_host.requests(after, "DELETE", "^/applications/"), "the token is revoked")
    assert [row["target"].rpartition("/")[2] for row in deleted] == ["token"]
    after = code_host.last_number()
    other_user.api.delete("/integrations/code_host", expect=200)
    deleted = wait_for(lambda: code_host.requests(after, "DELETE", "^/applications/"), "the grant is revoked")
    assert [row["target"].rpartition("/")[2] for row in deleted] == ["grant"]


REFUSED = {"status": 422, "body": {"message": "Validation Failed"}}  # the code host does not know the token, such as one that has expired


@pytest.fixture
def refreshable(api, code_host):
    """The id of a connection to the code host whose tokens can be refreshed."""
    code_host.set_token_lifetime(3600)
    try:
        yield connect(api, "code_host", code_host.user().login)["id"]
    finally:
        code_host.set_token_lifetime(None)


@pytest.mark.parametrize("failure", [{"status": 500}, {"drop": True, "before": True}, {"status": 403, "body": "<h1>Blocked</h1>"}, {"status": 400}],
                         ids=["fault", "connection lost", "gateway", "odd"])  # fmt: skip
def test_a_grant_whose_token_has_expired_is_revoked_with_a_fresh_one(api, code_host, db, refreshable, failure):
    """The fresh token is kept until the code host has forgotten it: it is the only one that reaches the grant."""
    token = api.get("/integrations/code_host/token", expect=200).json()["access_token"]
    after = code_host.last_number()
    code_host.fail("DELETE", "^/applications/", **REFUSED)
    code_host.fail("DELETE", "^/applications/", **failure)
    api.delete("/integrations/code_host", expect=200)
    wait_for(lambda: not integrations_tables.is_to_be_revoked(db, refreshable), "it is forgotten")
    bodies = [json.loads(row["body"]) for row in code_host.requests(after, "DELETE", "^/applications/")]
    first, second, third = [body["access_token"] for body in bodies]
    assert first == token != second == third
    assert len(code_host.requests(after, "POST", "^/login/oauth/access_token")) == 1
    assert code_host.api("GET", "/user", third).status_code == 401


def test_a_refusal_of_a_gateway_is_no_end_of_a_grant(api, code_host, db, refreshable):
    after = code_host.last_number()
    code_host.fail("DELETE", "^/applications/", **REFUSED)
    code_host.fail("POST", "^/login/oauth/access_token", status=403, body="<h1>Blocked</h1>")
    api.delete("/integrations/code_host", expect=200)
    wait_for(lambda: not integrations_tables.is_to_be_revoked(db, refreshable), "it is forgotten")
    assert code_host.requests(after, "DELETE", "^/applications/")[-1]["status"] == 204


@pytest.mark.parametrize("answer", [
    {"status": 403, "body": "<h1>Blocked</h1>"}, {"status": 401, "body": "<h1>Log in</h1>"}, {"status": 200, "body": "<!doctype html><h1>Log in</h1>"},
    {"status": 302, "body": "", "headers": {"location": "https://login.example.org/"}}, {"status": 404, "body": {"error": "Not Found"}},
    {"status": 405, "body": ""}, {"status": 400, "body": "<h1>Bad request</h1>"}, {"status": 400, "body": {"error": "unsupported_token_type"}},
    {"status": 401, "body": {"status": 401, "error": "Unauthorized"}}, {"status": 400, "body": {"error": "Bad Request"}},
    {"status": 200, "body": {"error": "blocked"}}],
    ids=["blocked", "log-in", "page", "redirect", "no endpoint", "no method", "bad request", "type", "gateway", "form", "error"])  # fmt: skip
def test_what_is_no_answer_of_the_endpoint_revokes_no_token(api, oauth_provider, login, answer):
    connect(api, "tracker_b", login)
    token = api.get(TOKEN, expect=200).json()["access_token"]
    oauth_provider.fail("POST", "^/token/revocation", **answer, times=2)
    api.delete("/integrations/tracker_b", expect=200)
    wait_for(lambda: whoami(oauth_provider, token) == 401, "the token is revoked")


def test_a_token_that_the_provider_does_not_know_is_not_revoked_again(api, oauth_provider, db, login):
    made = connect(api, "tracker_b", login)
    before = oauth_provider.last_number()
    oauth_provider.fail("POST", "^/token/revocation", status=400, body={"error": "invalid_token"}, before=True, times=2)
    api.delete("/integrations/tracker_b", expect=200)
    wait_for(lambda: not integrations_tables.is_to_be_revoked(db, made["id"]), "it is forgotten")
    assert len(oauth_provider.requests(before, "POST", "^/token/revocation")) <= 2


def test_connecting_again_replaces_the_connection(api, oauth_provider, login):
    first = connect(api, "tracker_b", login)
    second = connect(api, "tracker_b", login + "-2")
    assert first["id"] != second["id"]
    assert api.get("/integrations/connections", expect=200).json() == [second]


@pytest.mark.parametrize("provider, is_same", [("code_host", False), ("tracker_b", False), ("tracker_b", True)])
def test_the_tokens_of_a_connection_that_is_replaced_are_revoked(api, code_host, oauth_provider, db, logins, provider, is_same):
    def connect_as(login):
        made = connect(api, provider, login)
        return made["id"], api.get(f"/integrations/{provider}/token", expect=200).json()["access_token"]

    def status(token):
        return code_host.api("GET", "/user", token).status_code if provider == "code_host" else whoami(oauth_provider, token)

    other = code_host.user().login if provider == "code_host" else logins[provider] + "-2"
    former, former_token = connect_as(logins[provider])
    _, token = connect_as(logins[provider] if is_same else other)
    wait_for(lambda: not integrations_tables.is_to_be_revoked(db, former), "it is forgotten")
    assert (status(former_token), status(token)) == (401, 200)


def test_connecting_again_as_the_same_user_of_the_code_host_ends_nothing(api, code_host, db, logins):
    former = connect(api, "code_host", logins["code_host"])
    after = code_host.last_number()
    connect(api, "code_host", logins["code_host"])
    assert not integrations_tables.is_to_be_revoked(db, former["id"]) and not code_host.requests(after, "DELETE", "^/applications/")


def test_the_state_works_once(api, oauth_provider, login):
    body = begin(api, login=login)
    api.post(CALLBACK, body, expect=200)
    assert fault_of(api, CALLBACK, body)[0] == "state"


def test_the_state_is_bound_to_its_caller(api, other_user, oauth_provider, login):
    body = begin(api, login=login)
    assert fault_of(other_user.api, CALLBACK, body)[0] == "state"
    assert fault_of(other_user.api, CALLBACK, {**body, "state": None})[0] == "state"
    api.post(CALLBACK, body, expect=200)


def test_the_state_is_bound_to_its_provider(api, code_host, oauth_provider, login):
    body = begin(api, login=login)
    assert fault_of(api, "/integrations/tracker_a/callback", body)[0] == "state"


def test_the_state_expires(api, oauth_provider, db, login):
    body = begin(api, login=login)
    integrations_tables.expire_attempts(db, REDIRECT_URI)
    assert fault_of(api, CALLBACK, body)[0] == "state"


def test_the_state_is_stored_as_a_hash(api, oauth_provider, db, login):
    body = begin(api, login=login)
    stored = common.rows_as_text(db, "authorization_attempt")
    assert stored and body["state"] not in stored


def test_without_a_state_the_newest_attempt_is_meant(api, oauth_provider, login):
    begin(api, login="somebody")
    body = begin(api, login=login)
    del body["state"]
    assert api.post(CALLBACK, body, expect=200).json()["connection"]["external_account"]["id"] == login


def test_a_refused_code_has_the_reason_of_the_provider(api, oauth_provider, code_host, login):
    body = begin(api, login=login)
    field, message = fault_of(api, CALLBACK, {**body, "code": "wrong"})
    assert field == "code" and "invalid_grant" in message
    body = begin(api, "code_host", code_host.user().login)
    field, message = fault_of(api, "/integrations/code_host/callback", {**body, "code": "wrong"})
    assert field == "code" and "bad_verification_code" in message
    assert api.get("/integrations/connections", expect=200).json() == []


def test_what_a_provider_quotes_of_a_secret_is_masked(api, oauth_provider, cluster, login):
    body = begin(api, login=login)
    secret = cluster.oauth_provider.client["client_secret"]
    told = {"error": "invalid_grant", "error_description": f"no code {body['code']} for {secret}\u0007!"}
    oauth_provider.fail("POST", "^/token$", status=400, body=told)
    assert fault_of(api, CALLBACK, body)[1].endswith("invalid_grant: no code *** for *** !")


def test_a_client_that_the_provider_refuses_is_no_fault_of_the_code(api, oauth_provider, login):
    oauth_provider.fail("POST", "^/token$", status=401, body={"error": "invalid_client"})
    assert "invalid_client" in api.problem("POST", CALLBACK, 502, "bad_gateway", begin(api, login=login))["detail"]


def test_tokens_of_nobody_are_revoked(api, oauth_provider, login):
    """The provider does not tell whose the tokens are: nothing is connected, and nothing is left at the provider."""
    body = begin(api, login=login)
    oauth_provider.fail("GET", "^/me$", status=500)
    oauth_provider.fail("POST", "^/token/revocation", status=503)
    after = oauth_provider.last_number()
    api.problem("POST", CALLBACK, 502, "bad_gateway", body)
    revoked = lambda: [row["status"] for row in oauth_provider.requests(after, "POST", "/token/revocation")]  # noqa: E731
    wait_for(lambda: revoked() == [503, 200, 200], "both tokens are revoked, the second time that the provider is asked")


@pytest.mark.parametrize("uri", ["https://example.org/", REDIRECT_URI + "/", REDIRECT_URI + "?x"])
def test_only_configured_redirect_addresses_are_taken(api, oauth_provider, login, uri):
    answer = api.get("/integrations/tracker_b/auth-url", params={"redirect_uri": uri}, expect=400).json()
    assert [fault["field"] for fault in answer["errors"]] == ["redirect_uri"]
    assert fault_of(api, CALLBACK, {**begin(api, login=login), "redirect_uri": uri})[0] == "redirect_uri"
    api.get("/integrations/tracker_b/auth-url", params={"redirect_uri": REDIRECT_URI}, expect=200)


@pytest.mark.parametrize("provider", MODELS)
def test_a_model_provider_has_no_oauth(api, provider):
    api.problem("GET", f"/integrations/{provider}/auth-url", 409, "wrong_auth_type")
    api.problem("GET", f"/integrations/{provider}/token", 409, "wrong_auth_type")
    body = {"code": "x", "redirect_uri": REDIRECT_URI}
    api.problem("POST", f"/integrations/{provider}/callback", 409, "wrong_auth_type", body)


@pytest.mark.parametrize("method, path, body", [
    ("GET", "auth-url", None),
    ("GET", "status", None),
    ("GET", "token", None),
    ("POST", "callback", {"code": "x", "redirect_uri": REDIRECT_URI}),
    ("POST", "connect", {"api_key": "x"}),
    ("DELETE", "", None),
])  # fmt: skip
def test_another_name_is_404(api, method, path, body):
    api.problem(method, f"/integrations/tracker_c/{path}".rstrip("/"), 404, "not_found", body)


def test_a_connection_of_another_account_is_not_seen(api, other_user, oauth_provider, login):
    connect(other_user.api, "tracker_b", login)
    assert api.get("/integrations/connections", expect=200).json() == []
    api.problem("GET", TOKEN, 404, "not_found")
    api.problem("DELETE", "/integrations/tracker_b", 404, "not_found")


def test_a_token_of_another_account_needs_a_scope(api, other_user, operator, oauth_provider, login):
    connect(other_user.api, "tracker_b", login)
    account = other_user.account
    answer = api.problem("GET", TOKEN, 403, "insufficient_scope", params={"user_id": account})
    assert answer["scope"] == "service:any_user"
    token = operator.api.get(TOKEN, params={"user_id": account}, expect=200).json()
    assert token == other_user.api.get(TOKEN, params={"user_id": account}, expect=200).json()


def test_a_row_that_was_copied_to_another_account_does_not_open(api, other_user, oauth_provider, cluster, db, login):
    connect(api, "tracker_b", login)
    made = connect(other_user.api, "tracker_b", login + "-2")
    integrations_tables.copy_token(db, login, made["id"])
    assert "cannot be read" in other_user.api.problem("GET", TOKEN, 409, "conflict")["detail"]
    assert "does not open" in cluster.logs()["svc-integrations-0"]
    integrations_tables.drop_connection(db, made["id"])
