"""What is tried at a log-in: by who leads another browser into it, and by a provider that lies, is slow or away."""

import threading
import time

import pytest

from lib.http.browser import Browser
from lib.http.client import Api
from lib.scenario.log_in import LogIn, session_of
from lib.scenario.team import add_member
from lib.wait import PATIENCE_SECONDS, wait_for

DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture(scope="module")
def gateway(one_issuer, start_gateway, cluster):
    user = cluster.user()
    with start_gateway(**one_issuer.settings(), OIDC_JOIN=f"{user.account}:viewer") as process:
        yield process


@pytest.fixture
def fresh_gateway(issuer, start_gateway, team):
    """One that has asked the issuer nothing yet."""
    with start_gateway(**issuer.settings(), OIDC_JOIN=f"{team.account}:viewer") as process:
        yield process


def come_back(issuer, way, **params):
    return way.come_back({"state": way.asked["state"], "code": issuer.code(way.asked), **params})


def attempt(issuer, gateway):
    return come_back(issuer, LogIn(gateway.url).begin())


def person(issuer, name):
    issuer.claims |= {"sub": name, "email": f"{name}@example.org"}


# Tokens


@pytest.mark.parametrize("signer", ["RS256", "ES256"])
def test_honest_tokens_are_taken(issuer, gateway, name, signer):
    person(issuer, name)
    issuer.signer = signer
    session_of(gateway.url, attempt(issuer, gateway))


@pytest.mark.parametrize("signer", ["none", "HS256", "foreign", "stolen kid"])
def test_other_signatures_are_refused(issuer, gateway, signer):
    issuer.signer = signer
    answer = attempt(issuer, gateway)
    assert (answer.status_code, answer.json()["error"]) == (502, "bad_gateway")
    assert "ID token" in answer.json()["detail"]


LIES = {
    "issuer": {"iss": "https://evil.example.org"},
    "audience": {"aud": "another client"},
    "several audiences": {"aud": ["us", "another client"]},
    "party": {"aud": ["us", "another client"], "azp": "another client"},
    "nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "expired": {"exp": int(time.time()) - 120},
    "old": {"iat": int(time.time()) - 3600},
    "future": {"iat": int(time.time()) + 36000},
    "no subject": {"sub": None},
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_in_signed_tokens_are_refused(issuer, gateway, lie):
    issuer.claims = LIES[lie]
    answer = attempt(issuer, gateway)
    assert (answer.status_code, answer.json()["error"]) == (502, "bad_gateway")
    assert "ID token" in answer.json()["detail"]


@pytest.mark.parametrize("value", ["true", 1, None, False])
def test_only_a_boolean_verifies_an_address(issuer, gateway, name, value):
    person(issuer, name)
    issuer.claims["email_verified"] = value
    assert attempt(issuer, gateway).status_code == 403


def test_an_unknown_key_is_looked_for_once_a_minute(issuer, fresh_gateway):
    issuer.signer = "foreign"
    before = issuer.paths().count("/jwks")
    for _ in range(3):
        assert attempt(issuer, fresh_gateway).status_code == 502
    assert issuer.paths().count("/jwks") == before + 1


def test_an_address_that_the_token_lacks_is_asked_for(issuer, gateway, name):
    person(issuer, name)
    issuer.claims["email"] = None
    issuer.userinfo = {"sub": "somebody else", "email": f"{name}@example.org", "email_verified": True}
    assert attempt(issuer, gateway).status_code == 403
    issuer.userinfo["sub"] = name
    session_of(gateway.url, attempt(issuer, gateway))


def test_a_person_who_is_known_needs_no_answer_of_userinfo(issuer, gateway, name):
    person(issuer, name)
    session_of(gateway.url, attempt(issuer, gateway))
    issuer.claims["email"] = None
    issuer.answers["/userinfo"] = lambda request: request.reply(404, "none")
    session_of(gateway.url, attempt(issuer, gateway))
    issuer.claims["sub"] = f"other {name}"
    assert attempt(issuer, gateway).status_code == 502


def test_a_removed_member_who_was_deleted_is_known_by_the_subject(issuer, fresh_gateway, cluster, team, name):
    """The address may be another one by then."""
    person(issuer, name)
    own = Api(cluster.gateway_url, cluster.create_user(email=f"{name}@example.org"))
    member = add_member(cluster, team.account, "viewer", f"{name}@example.org")
    session_of(fresh_gateway.url, attempt(issuer, fresh_gateway))
    team.api.delete(f"/team/members/{member.person}", expect=200)
    own.post("/account/delete", {"confirm": True}, expect=200)
    issuer.claims["email"] = f"other-{name}@example.org"
    answer = attempt(issuer, fresh_gateway)
    assert answer.status_code == 403 and "invited" in answer.json()["detail"]


# Browsers


def test_a_state_is_taken_once(issuer, gateway, name):
    person(issuer, name)
    way = LogIn(gateway.url).begin()
    session_of(gateway.url, come_back(issuer, way))
    answer = come_back(issuer, way)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "state")


def test_a_state_of_nobody_is_refused(issuer, gateway):
    way = LogIn(gateway.url).begin()
    for state in ("a", "A" * 43, ""):
        assert way.come_back({"state": state, "code": "c"}).status_code == 400
    assert way.come_back({"code": "c"}).status_code == 400
    assert way.come_back([("state", "a"), ("state", "b"), ("code", "c")]).status_code == 400


def test_another_browser_is_refused(issuer, gateway):
    """Otherwise who sends somebody the address of their own way back would have them work in a session of theirs."""
    for cookie in (None, "A" * 43, LogIn(gateway.url).begin().cookie):
        attacker = LogIn(gateway.url).begin()
        params = {"state": attacker.asked["state"], "code": issuer.code(attacker.asked)}
        attacker.cookie = None
        asked = len(issuer.paths())
        answer = attacker.come_back(params, cookie)
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
        assert "Set-Cookie" not in answer.headers
        assert len(issuer.paths()) == asked
        assert attacker.come_back(params, cookie).status_code == 400


@pytest.mark.parametrize(
    "return_to",
    ["https://evil.example.org/", "//evil.example.org/console/", "/console//evil.example.org", "/\\evil.example.org",
     "/console/\\evil.example.org", "/console/../api", "/", "/api/v1.0/session", "/console/\r\nSet-Cookie: a=b", "javascript:alert(1)"],
)
def test_it_leads_to_the_console_only(issuer, gateway, return_to):
    answer = LogIn(gateway.url).start(return_to=return_to)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "return_to")


# Answers of the provider


@pytest.mark.parametrize("word", ["access_denied", "<b>evil</b>"])
def test_the_provider_refuses(issuer, gateway, word):
    way = LogIn(gateway.url).begin()
    answer = way.come_back({"state": way.asked["state"], "error": word, "error_description": "call 0900-EVIL"})
    assert answer.status_code == 403
    assert ("access_denied" in answer.text) == (word == "access_denied")
    assert "evil" not in answer.text.lower()


def test_an_answer_of_another_provider_is_refused(issuer, gateway):
    answer = come_back(issuer, LogIn(gateway.url).begin(), iss="https://evil.example.org")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "iss")


def test_a_promised_issuer_must_be_there(issuer, fresh_gateway, name):
    person(issuer, name)
    issuer.metadata = {"authorization_response_iss_parameter_supported": True}
    assert attempt(issuer, fresh_gateway).status_code == 400
    session_of(fresh_gateway.url, come_back(issuer, LogIn(fresh_gateway.url).begin(), iss=issuer.url))


def test_the_client_authenticates_as_the_provider_offers(issuer, fresh_gateway, name):
    person(issuer, name)
    issuer.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    session_of(fresh_gateway.url, attempt(issuer, fresh_gateway))
    (_, _, headers, body) = [request for request in issuer.server.requests if request[1] == "/token"][-1]
    assert "Authorization" not in headers
    assert b"client_id=us&client_secret=hush" in body


def test_metadata_of_no_use_is_refused(issuer, fresh_gateway):
    for metadata in (
        {"issuer": "https://evil.example.org"},
        {"issuer": issuer.url + "/"},
        {"token_endpoint": None},
        {"token_endpoint": "file:///etc/passwd"},
        {"jwks_uri": "http://evil.example.org/jwks"},
        {"jwks_uri": "http://127.0.0.1.evil.example.org/jwks"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ):
        issuer.metadata = metadata
        answer = LogIn(fresh_gateway.url).start()
        assert (answer.status_code, answer.json()["error"]) == (502, "bad_gateway"), metadata


def test_an_endpoint_inside_is_not_called(issuer, fresh_gateway):
    """Another origin than the issuer's must be public."""
    issuer.metadata = {"token_endpoint": f"http://localhost:{issuer.url.rpartition(':')[2]}/token"}
    before = issuer.paths().count("/token")
    assert attempt(issuer, fresh_gateway).status_code == 502
    assert issuer.paths().count("/token") == before


@pytest.mark.parametrize("path", [DISCOVERY, "/jwks", "/token"])
def test_redirects_are_not_followed(issuer, fresh_gateway, path):
    target = f"{issuer.url}/secret"
    issuer.answers[path] = lambda request: request.reply(307, "", Location=target)
    answer = LogIn(fresh_gateway.url).start() if path == DISCOVERY else attempt(issuer, fresh_gateway)
    assert answer.status_code == (403 if path == "/token" else 502)
    assert "/secret" not in issuer.paths()


# What is too long counts as a failure of the provider, so it comes last. An empty set of keys is kept for a minute.
USELESS = {
    DISCOVERY: ["[]", "{", '{"issuer": 2}', " " * 300_000],
    "/token": ["[]", "{", '{"id_token": 3}', " " * 300_000],
    "/jwks": ["[]", "{", " " * 300_000],
}


@pytest.mark.parametrize("path", USELESS)
def test_answers_of_no_use_are_refused(issuer, fresh_gateway, path):
    for content in USELESS[path]:
        issuer.answers[path] = lambda request, content=content: request.reply(200, content, Content_Type="application/json")
        answer = LogIn(fresh_gateway.url).start() if path == DISCOVERY else attempt(issuer, fresh_gateway)
        assert (answer.status_code, answer.json()["error"]) == (502, "bad_gateway"), content[:30]


def test_a_refused_code_is_no_fault_of_the_provider(issuer, gateway):
    issuer.answers["/token"] = lambda request: request.reply(400, '{"error": "invalid_grant"}')
    answer = attempt(issuer, gateway)
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")


def test_a_code_at_which_the_provider_fails_stops_no_other_log_in(issuer, fresh_gateway, name):
    """The code is the client's: if it can make the provider fail, then only at its own log-in."""
    person(issuer, name)
    other = LogIn(fresh_gateway.url).begin()
    for status in (500, 503):
        issuer.answers["/token"] = lambda request, status=status: request.reply(status, "")
        answer = attempt(issuer, fresh_gateway)
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    issuer.answers = {}
    session_of(fresh_gateway.url, come_back(issuer, other))


# A provider that is away


def test_while_the_provider_is_away_keys_work(issuer, fresh_gateway, user):
    issuer.answers[DISCOVERY] = lambda request: request.reply(503, "")
    answer = LogIn(fresh_gateway.url).start()
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert Browser(fresh_gateway.url, user.key).call("GET", "/session").status_code == 200
    issuer.answers = {}
    wait_for(lambda: LogIn(fresh_gateway.url).start().status_code == 302, "the provider is asked again")


def test_a_call_has_its_time(issuer, start_gateway):
    released = threading.Event()
    issuer.answers[DISCOVERY] = lambda _: released.wait(PATIENCE_SECONDS)
    with start_gateway(**issuer.settings() | {"OIDC_TIMEOUT": "100ms"}) as process:
        assert LogIn(process.url).start().status_code == 503
        released.set()


def test_a_slow_provider_holds_up_nobody(issuer, fresh_gateway, user):
    """One worker: while log-ins wait for the provider, all else is answered."""
    reached, released = threading.Semaphore(0), threading.Event()

    def slow(request):
        reached.release()
        released.wait(PATIENCE_SECONDS)
        request.close_connection = True

    issuer.answers[DISCOVERY] = slow
    answers = []
    starts = [threading.Thread(target=lambda: answers.append(LogIn(fresh_gateway.url).start())) for _ in range(4)]
    for start in starts:
        start.start()
    try:
        for _ in starts:
            assert reached.acquire(timeout=PATIENCE_SECONDS)
        for _ in range(5):
            Api(fresh_gateway.url, user.key).get("/account/api-keys", expect=200)
        assert answers == []  # they still waited
    finally:
        released.set()
        for start in starts:
            start.join()
    assert {answer.status_code for answer in answers} == {503}
