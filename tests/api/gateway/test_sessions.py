"""Sessions of browsers: log-in with a key, the cookie, which requests may use it, and its end."""

import re

import pytest

from lib.http import api_def
from lib.http.api_def import absent_target
from lib.http.browser import SAME_ORIGIN, Browser
from lib.http.client import Api
from lib.http.keys import key_changes_heard
from lib.system.servers import ROOT
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

@pytest.fixture
def browser(cluster, user):
    return Browser(cluster.gateway_url, user.key)


BY_AN_AGENT = {op.id for op in api_def.operations() if op.scope in ("fleet:report", "eval:report")}  # no browser reports
OPERATIONS = [op for op in api_def.operations() if op.scope and op.id != "account_create"]  # which a key may not


def test_a_session_is_answered_as_a_key_of_its_person(cluster):
    """Every operation, on what nobody has."""
    user = cluster.user(operator=True)
    api, browser = Api(cluster.gateway_url, user.key, checked=False), Browser(cluster.gateway_url, user.key)
    wrong = []
    for op in OPERATIONS:
        target = absent_target(op, provider_name="code_host")
        body = {} if op.method in ("POST", "PUT", "PATCH") else None
        by_key = api.request(op.method, target, body)
        path = target.removeprefix("/api/v1.0")
        by_session = browser.call(op.method, path, body, checked=False)
        expected = 403 if op.id in BY_AN_AGENT else by_key.status_code
        if by_session.status_code != expected or by_key.status_code in (401, 403, 500):
            wrong.append(f"{op.id}: {by_key.status_code} {by_session.status_code} {by_session.text[:200]}")
    assert wrong == []


def make_key(api, **body):
    return api.post("/account/api-keys", {"name": "of a browser", **body}, expect=201).json()


def test_a_session_is_that_of_its_key(cluster, user):
    key = make_key(user.api, preset="read_only")
    browser = Browser(cluster.gateway_url)
    made = browser.log_in(key["key"])
    assert made.headers["Cache-Control"] == "no-store"
    session = made.json()
    assert session["account"] == {"id": user.account, "email": user.email, "name": user.email}
    assert session["role"] == "owner"
    assert sorted(session["scopes"]) == sorted(key["scopes"])
    assert browser.call("GET", "/session").json() == session
    assert browser.call("GET", "/interests").status_code == 200
    refused = browser.call("POST", "/interests", {"name": "a", "context": "b"})
    assert (refused.status_code, refused.json()["scope"]) == (403, "interests:write")


def test_a_session_grants_no_scope_that_it_lacks(cluster, user):
    """Its key may do more since."""
    key = make_key(user.api, scopes=["account:read", "account:write"])
    browser = Browser(cluster.gateway_url)
    browser.log_in(key["key"])
    user.api.patch(f"/account/api-keys/{key['id']}", {"scopes": ["account:read", "account:write", "team:write"]}, expect=200)
    for method, path, body in (("POST", "/account/api-keys", {"name": "more", "scopes": ["team:write"]}),
                               ("PATCH", f"/account/api-keys/{key['id']}", {"expires_in_days": 7})):
        refused = browser.call(method, path, body)
        assert (refused.status_code, refused.json()["scope"]) == (403, "team:write")
    made = browser.call("POST", "/account/api-keys", {"name": "as much", "scopes": ["account:read"]}, expect=201).json()
    assert made["scopes"] == ["account:read"]


def test_a_session_ends_with_its_key_that_ends_sooner(cluster, user):
    """Also one that was made before; another end of the key lets none live longer."""
    key, other = make_key(user.api), make_key(user.api)
    browsers = [Browser(cluster.gateway_url, each["key"]) for each in (key, other)]
    ends = lambda: [browser.call("GET", "/session", expect=200).json()["expires_at"] for browser in browsers]  # noqa: E731
    before = ends()
    soon = user.api.patch(f"/account/api-keys/{key['id']}", {"expires_in_days": 1}, expect=200).json()["expires_at"]
    assert soon < before[0] and ends() == [soon, before[1]]
    user.api.patch(f"/account/api-keys/{key['id']}", {"expires_in_days": 30}, expect=200)
    assert ends() == [soon, before[1]]


@pytest.mark.parametrize("key", ["usr_wrong", "usr_" + "0" * 38, "x"])
def test_a_key_that_is_not_valid_makes_no_session(cluster, key):
    answer = Browser(cluster.gateway_url).call("POST", "/session", {"key": key})
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
    assert "Set-Cookie" not in answer.headers


def test_an_automation_key_cannot_log_in(cluster, user):
    key = make_key(user.api, kind="automation")["key"]
    assert Browser(cluster.gateway_url).call("POST", "/session", {"key": key}).status_code == 401


def test_a_token_is_no_key_and_a_key_is_no_token(cluster, browser, user):
    as_key = browser.http.get("/api/v1.0/interests", headers={"Authorization": f"Bearer {browser.token}"})
    assert as_key.status_code == 401
    browser.token = user.key
    assert browser.call("GET", "/interests").status_code == 401
    assert browser.call("GET", "/session").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({}, 403),
        ({"Origin": "https://evil.example.org"}, 403),
        ({"Origin": "@OWN@"}, 200),
        ({"Origin": "@OWN@", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Referer": "@OWN@/console/"}, 200),
        ({"Referer": "@OWN@/console/", "Origin": "https://evil.example.org"}, 403),
        ({"Referer": "@OWN@/console/", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Referer": "@OWN@.evil.example.org/console/"}, 403),
        ({"Referer": "@OWN@"}, 403),
        ({"Referer": "https://evil.example.org/@OWN@/"}, 403),
    ],
)
def test_only_pages_of_this_address_use_the_cookie(start_gateway, user, headers, status):
    own = "http://expops.example.org"
    with start_gateway(PUBLIC_URL=own) as gateway:
        browser = Browser(gateway.url, user.key)
        sent = {name: value.replace("@OWN@", own) for name, value in headers.items()}
        for path in ("/interests", "/session"):
            answer = browser.call("GET", path, headers=sent)
            assert answer.status_code == status, answer.text
            assert status == 200 or answer.json()["error"] == "cross_site"


def test_a_secure_address_has_a_secure_cookie(start_gateway, user):
    with start_gateway(PUBLIC_URL="https://expops.example.org/") as gateway:
        answer = Browser(gateway.url).call("POST", "/session", {"key": user.key})
        assert re.fullmatch(
            r"__Host-expops=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; Secure; SameSite=Strict", answer.headers["Set-Cookie"]
        )


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_what_a_form_can_send_is_refused(browser, content_type):
    headers = SAME_ORIGIN | ({"Content-Type": content_type} if content_type else {})
    cookie = {"Cookie": f"expops={browser.token}"}
    for path in ("/interests", "/papers/recommended/refresh"):
        answer = browser.http.post(f"/api/v1.0{path}", headers=headers | cookie, content=b"")
        assert answer.status_code == 415, answer.text


def test_an_authorization_wins_over_the_cookie(browser, other_user):
    headers = {"Authorization": f"Bearer {other_user.key}"}
    assert browser.call("GET", "/account/api-keys", headers=headers).json() == other_user.api.get("/account/api-keys").json()
    assert browser.call("GET", "/interests", headers={"Authorization": "Bearer usr_wrong"} | SAME_ORIGIN).status_code == 401


def test_agents_do_not_use_browsers(browser):
    answer = browser.call("POST", "/fleet/runs", {"run_id": 1, "repo": "a/b"})
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
    mcp = browser.http.post(
        "/mcp", headers=SAME_ORIGIN | {"Cookie": f"expops={browser.token}"}, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    )
    assert mcp.status_code == 401


def test_the_service_sees_no_cookie(edge):
    sent = (
        b"GET /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer @KEY@\r\nCookie: expops=secret\r\n\r\n"
    )
    edge.exchange(sent)
    (request,) = edge.service.requests
    assert not request.values("cookie")


def test_log_out_ends_the_session(browser):
    answer = browser.call("DELETE", "/session")
    assert answer.status_code == 200
    assert answer.headers["Set-Cookie"] == "expops=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    assert answer.headers["Clear-Site-Data"] == '"cache", "storage"'
    for method, path in (("GET", "/session"), ("GET", "/interests"), ("DELETE", "/session")):
        assert browser.call(method, path).status_code == 401


def browsers_of_one_session(pair, key):
    """A browser at each replica of the gateway, with the session that was made at the first."""
    browsers = [Browser(gateway.url) for gateway in pair["gateway"]]
    browsers[0].log_in(key)
    browsers[1].token = browsers[0].token
    return browsers


def test_a_session_ends_with_its_key_everywhere(pair):
    user = pair.user()
    key = make_key(user.api)
    replicas = browsers_of_one_session(pair, key["key"])
    for browser in replicas:
        assert browser.call("GET", "/interests").status_code == 200
    user.api.post(f"/account/api-keys/{key['id']}/revoke", expect=200)
    for browser in replicas:
        wait_for(lambda browser=browser: browser.call("GET", "/interests").status_code == 401, "the session has ended", 1)
        assert browser.call("GET", "/session").status_code == 401


@pytest.mark.parametrize("at", [0, 1])
def test_a_session_is_known_and_ended_everywhere(pair, at):
    browsers = browsers_of_one_session(pair, pair.user().key)
    for browser in browsers:  # both have it in their cache
        assert browser.call("GET", "/interests").status_code == 200
    assert browsers[at].call("DELETE", "/session").status_code == 200
    assert browsers[at].call("GET", "/interests").status_code == 401
    other = browsers[1 - at]
    wait_for(lambda: other.call("GET", "/interests").status_code == 401, "the session has ended", 1)
    assert other.call("GET", "/session").status_code == 401


def test_only_the_end_of_a_session_is_heard_of(pair):
    first, second = browsers_of_one_session(pair, pair.user().key)
    other = pair.user()
    before = key_changes_heard(pair["gateway"][0])
    first.call("DELETE", "/session", expect=200)
    for _ in range(3):
        second.call("DELETE", "/session", expect=401)
    Browser(pair["gateway"][1].url, other.key)
    assert key_changes_heard(pair["gateway"][0]) == before + 1


def test_sessions_outlive_a_killed_replica(pair):
    user = pair.user()
    first, second = browsers_of_one_session(pair, user.key)
    killed = pair["gateway"][0]
    ended = Browser(killed.url, user.key)
    killed.kill9()
    try:
        assert second.call("GET", "/interests").status_code == 200
        (row,) = [each for each in second.call("GET", "/sessions").json() if not each["current"]]
        assert second.call("DELETE", f"/sessions/{row['id']}").status_code == 200
    finally:
        killed.start()
        killed.wait_ready()
    assert first.call("GET", "/interests").status_code == 200
    assert ended.call("GET", "/interests").status_code == 401


def test_a_session_loses_the_scopes_that_its_key_loses(cluster, user):
    key = make_key(user.api, scopes=["interests:read", "search:read"])
    browser = Browser(cluster.gateway_url, key["key"])
    assert browser.call("GET", "/interests").status_code == 200
    user.api.patch(f"/account/api-keys/{key['id']}", {"scopes": ["search:read", "experiments:read"]}, expect=200)
    assert browser.call("GET", "/interests").status_code == 403
    assert browser.call("GET", "/session").json()["scopes"] == ["search:read"]


def test_sessions_are_listed_and_ended(cluster, user, other_user):
    first, second = Browser(cluster.gateway_url, user.key), Browser(cluster.gateway_url, user.key)
    listed = second.call("GET", "/sessions").json()
    assert [row["current"] for row in listed] == [True, False]
    assert listed[0]["ip"] == "127.0.0.1"
    assert [row["current"] for row in user.api.get("/sessions", expect=200).json()] == [False, False]
    other_user.api.delete(f"/sessions/{listed[1]['id']}", expect=404)
    assert second.call("DELETE", f"/sessions/{listed[1]['id']}").json() == {"id": listed[1]["id"], "deleted": True}
    assert first.call("GET", "/interests").status_code == 401
    assert second.call("GET", "/interests").status_code == 200


def test_the_oldest_of_21_sessions_ends(cluster, user):
    browsers = [Browser(cluster.gateway_url, user.key) for _ in range(21)]
    assert [browser.call("GET", "/session").status_code for browser in browsers] == [401] + [200] * 20
    assert len(user.api.get("/sessions").json()) == 20


@pytest.mark.parametrize(
    ("column", "age"), [("last_seen_at", "12 hours 1 second"), ("expires_at", "1 second")], ids=["unused", "old"]
)
def test_a_session_ends_by_itself(cluster, user, column, age):
    browser = Browser(cluster.gateway_url, user.key)
    with cluster.postgres.connect("account") as db:
        gateway_tables.age_session(db, user.account, column, age)
    assert browser.call("GET", "/session").status_code == 401
    assert browser.call("GET", "/interests").status_code == 401
    assert user.api.get("/sessions").json() == []


def test_all_sessions_are_ended_as_after_a_restore(cluster, browser):
    """By the statement of deploy/OPERATIONS.md, as an administrator of the database, whose search_path is not the gateway's."""
    (statement,) = re.findall(r"psql -d expops -c '([^']+ account\.session)'", (ROOT / "deploy" / "OPERATIONS.md").read_text())
    assert browser.call("GET", "/session").status_code == 200
    gateway_tables.run_as_administrator(cluster, statement)
    wait_for(lambda: browser.call("GET", "/session").status_code == 401, "the session has ended")


def test_attempts_count_as_look_ups_of_keys(start_gateway):
    with start_gateway(KEY_LOOKUP_LIMIT="5") as gateway:
        browser = Browser(gateway.url)
        statuses = [browser.call("POST", "/session", {"key": "usr_wrong"}).status_code for _ in range(40)]
    assert statuses[0] == 401
    assert 429 in statuses


def test_a_deleted_account_has_no_sessions(cluster):
    user = cluster.user()
    browser = Browser(cluster.gateway_url, user.key)
    user.api.post("/account/delete", {"confirm": True}, expect=200)
    assert browser.call("GET", "/session").status_code == 401
    assert browser.call("GET", "/interests").status_code == 401


def test_a_page_that_shows_another_account_than_the_session_does_nothing(cluster, user, browser):
    """One of two windows has switched it. The field of a request says what its page shows; without it, and with a key, nothing is compared."""
    other = browser.call("POST", "/accounts", {"name": "Other"}, expect=201).json()["id"]
    showing = lambda account: {**SAME_ORIGIN, "X-Expops-Account": account}  # noqa: E731
    invite, make = {"email": "bob@example.org", "role": "admin"}, {"name": "Attention"}
    browser.call("POST", "/team/invitations", invite, headers=showing(user.account), expect=201)
    browser.call("POST", "/session/switch", {"account_id": other}, headers=showing(user.account), expect=200)
    calls = [("POST", "/team/invitations", invite), ("POST", "/experiments", make), ("GET", "/experiments", None), ("GET", "/team", None)]
    for method, path, body in calls:
        for account in (user.account, "nonsense", ""):
            refused = browser.call(method, path, body, headers=showing(account), checked=False, expect=409).json()
            assert refused["error"] == "account_changed"
    assert browser.call("GET", "/team", expect=200).json()["invitations"] == []
    assert browser.call("GET", "/experiments", headers=showing(other), expect=200).json() == []
    assert browser.call("GET", "/session", headers=showing(user.account), expect=200).json()["account"]["id"] == other
    browser.call("POST", "/team/invitations", invite, headers=showing(other.upper()), expect=201)
    assert user.api.get("/experiments", headers={"X-Expops-Account": other}, expect=200).json() == []
