"""Outside services that answer with hostile content: nothing is sent on to elsewhere, nothing grows without bound."""

import json
import secrets

import pytest

from lib.outside.counterparts import REDIRECT_URI, connect, consent
from lib.outside.stub_server import StubServer

MIB = 1 << 20
CALLBACK = "/integrations/tracker_b/callback"


@pytest.fixture
def elsewhere():
    """A server that no request may reach."""
    stub = StubServer(lambda request: request.reply(200, "{}"))
    yield stub
    stub.close()
    assert stub.requests == []


@pytest.fixture
def callback(api, oauth_provider):
    """callback(status, error): the call that exchanges a new code fails so."""

    def call(status, error):
        begun = api.get("/integrations/tracker_b/auth-url", expect=200).json()
        code, state = consent(begun["auth_url"], f"user-{secrets.token_hex(4)}")
        body = {"code": code, "redirect_uri": REDIRECT_URI, "state": state}
        return api.problem("POST", CALLBACK, status, error, body)

    yield call
    oauth_provider.stop_failing()


UNUSABLE = {
    "nested": "[" * 100_000,
    "huge": json.dumps({"access_token": "a" * 9 * MIB}),
    "array": "[]",
    "null": "null",
    "no JSON": "\xff",
    "empty": "",
    "with NUL": '{"access_token": "a\\u0000b", "id": "1\\u00002"}',
    "of other types": '{"access_token": ["a"], "id": "1/../2", "permissions": 5, "account": []}',
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_answers_to_a_code(callback, oauth_provider, name):
    oauth_provider.fail("POST", "^/token$", status=200, body=UNUSABLE[name])
    callback(502, "bad_gateway")


def test_a_token_cannot_add_fields_to_a_request(callback, oauth_provider):
    answer = {"access_token": "a\r\nX-Evil: 1", "token_type": "Bearer", "expires_in": 3600}
    oauth_provider.fail("POST", "^/token$", status=200, body=answer)
    before = oauth_provider.last_number()
    callback(502, "bad_gateway")
    assert all("x-evil" not in row["headers"] for row in oauth_provider.requests(before))


def test_a_code_is_not_sent_where_a_provider_redirects(callback, oauth_provider, elsewhere):
    oauth_provider.fail("POST", "^/token$", status=307, headers={"location": f"{elsewhere.url}/token"})
    callback(502, "bad_gateway")


def test_a_reason_is_shown_as_text_and_cut(callback, oauth_provider):
    reason = "<script>alert(1)</script>\r\nX-Evil: 1 " + "x" * 5000
    oauth_provider.fail("POST", "^/token$", status=400, body={"error": "invalid_grant", "error_description": reason})
    problem = callback(400, "invalid_request")
    assert all(len(fault["message"]) < 1000 for fault in problem["errors"])


# ---- the code host ----


def away(host, elsewhere):
    """Places that look like the code host's API, but are not, with their own ways to write an address."""
    port = elsewhere.url.rpartition(":")[2]
    return [
        f"{elsewhere.url}/user",
        f"{host.url}@127.0.0.1:{port}/user",
        f"//127.0.0.1:{port}/user",
        f"\\\\127.0.0.1:{port}/user",
        f"/\\127.0.0.1:{port}/user",
        f"http://127.0.0.1:{port}#{host.url}/user",
    ]


def test_a_token_is_not_sent_where_the_code_host_redirects(ada, repo, code_host, elsewhere):
    for location in away(code_host, elsewhere):
        code_host.fail("GET", f"^/repos/{repo}/installation$", status=301, headers={"location": location})
        answer = ada.api.get("/github/app/installation", params={"repo": repo})
        assert answer.status_code in (200, 502, 503), f"{location}: {answer.text}"
        code_host.stop_failing()


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_answers_of_the_code_host(new_developer, code_host, name):
    developer = new_developer()
    repo = code_host.repository(developer.login)
    code_host.install(developer.login)
    code_host.fail("GET", "/installation$", status=200, body=UNUSABLE[name])
    answer = developer.api.post("/github/installation-token", {"repo": repo})
    assert answer.status_code in (502, 503), answer.text
    code_host.stop_failing()
    assert developer.api.post("/github/installation-token", {"repo": repo}).status_code == 200


def test_an_answer_of_many_values_is_refused(new_developer, code_host):
    """Its 2 MiB would become 36 MiB when they are parsed."""
    developer = new_developer()
    repo = code_host.repository(developer.login)
    code_host.install(developer.login)
    answer = {"id": 1, "account": {"login": developer.login}, "permissions": {"contents": "write"}, "more": [0] * MIB}
    code_host.fail("GET", "/installation$", status=200, body=json.dumps(answer, separators=(",", ":")))
    problem = developer.api.problem("POST", "/github/installation-token", 502, "bad_gateway", {"repo": repo})
    code_host.stop_failing()
    assert "has more than 500000 values" in problem["detail"]


def test_an_installation_token_cannot_add_fields(ada, repo, code_host):
    answer = {"token": "ghs_a\r\nX-Evil: 1", "expires_at": "2099-01-01T00:00:00Z", "permissions": {"contents": "write"}}
    code_host.fail("POST", "/access_tokens$", status=201, body=answer)
    before = code_host.last_number()
    ada.call("runs/latest", {"repo": repo}, 503, "svc-fleet")
    assert all("x-evil" not in row["headers"] for row in code_host.requests(before))


NAMES = [
    "a/..", "../a", "a/b/c", "a/%2e%2e", "a%2Fb/c", "a/b?x=1", "a/b#x", "a/b c", "a/b\r\nX: 1", "a\\b/c", "ä/b", "a/ｂ", "a/b\u202e",
    "a/", "/b", "a", "", "a/.", "./b", "a/" + "b" * 101, "a;/b", "a/b/", "//", "a/b\0",
]  # fmt: skip


def test_no_name_of_a_repository_leads_to_another_path(ada, code_host, installation):
    before = code_host.last_number()
    for name in NAMES:
        for method, path, options in (
            ("POST", "/github/installation-token", {"body": {"repo": name}}),
            ("POST", "/github/fork", {"body": {"repo": name}}),
            ("GET", "/github/app/installation", {"params": {"repo": name}}),
        ):
            answer = ada.api.request(method, path, **options)
            assert answer.status_code == 400, f"{path} {name!r}: {answer.status_code} {answer.text}"
    assert code_host.requests(before) == []
