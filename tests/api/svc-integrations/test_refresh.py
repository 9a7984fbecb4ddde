"""Refreshing a token: once over all replicas, whatever happens to the one that does it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lib.scenario.connections import TOKEN, begin, ask_replica, connect_expired, refreshes, whoami
from lib.outside.counterparts import connect
from lib.http.raw_http import leaving_client
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

CLIENTS = 50


def status(api):
    return api.get("/integrations/tracker_b/status", expect=200).json()["connection"]


def test_an_expired_token_is_refreshed_first(api, oauth_provider, expired, login):
    made = expired(api, login)
    after = oauth_provider.last_number()
    first = api.get(TOKEN, expect=200).json()
    assert first["expires_at"] > made["expires_at"] and status(api)["last_refreshed_at"]
    assert api.get(TOKEN, expect=200).json() == first
    assert refreshes(oauth_provider, after) == 1
    assert whoami(oauth_provider, first["access_token"]) == 200


def test_the_code_host_refreshes_too(api, code_host):
    """Its answers have status 200 whether they are good or not, and its refresh tokens work once."""
    path = "/integrations/code_host/token"
    code_host.set_token_lifetime(30)
    try:
        connect(api, "code_host", code_host.user().login)
        code_host.set_token_lifetime(3600)
        token = api.get(path, expect=200).json()["access_token"]
    finally:
        code_host.set_token_lifetime(None)
    assert code_host.api("GET", "/user", token).status_code == 200


def test_a_refused_refresh_token_ends_the_connection(api, oauth_provider, expired, login):
    expired(api, login)
    told = {"error": "invalid_grant", "error_description": "the grant was revoked"}
    oauth_provider.fail("POST", "^/token$", status=400, body=told)
    detail = api.problem("GET", TOKEN, 409, "conflict")["detail"]
    assert detail.endswith("tracker_b refused: invalid_grant: the grant was revoked")
    assert (status(api)["status"], status(api)["status_reason"]) == ("expired", detail.partition(": ")[2])
    assert api.get("/integrations/connections", expect=200).json() == []


@pytest.mark.parametrize("failure", [
    {"status": 503},
    {"drop": True, "before": True},
    {"status": 401, "body": {"error": "invalid_client"}},
    {"status": 200, "body": {"access_token": "two words"}},
], ids=["away", "connection lost", "client refused", "not a token"])  # fmt: skip
def test_a_provider_without_an_answer_does_not_end_the_connection(api, oauth_provider, expired, login, failure):
    expired(api, login)
    oauth_provider.fail("POST", "^/token$", **failure)
    assert "tracker_b" in api.problem("GET", TOKEN, 503, "unavailable")["detail"]
    assert status(api)["status"] == "active"
    api.get(TOKEN, expect=200)


UNCLEAR = {
    "a page": ({"status": 400, "body": "<html><h1>Session ended</h1></html>"}, "400: Session ended"),
    "a nested error": ({"status": 401, "body": {"error": {"code": "gone", "message": "log in"}}}, "401: gone: log in"),
    "a list of errors": ({"status": 403, "body": {"errors": [{"message": "log in"}]}}, "403: log in"),
    "no words": ({"status": 400, "body": ""}, "400"),
    "a number": ({"status": 400, "body": {"error": 7, "message": "log\x00 in"}}, "400: log\ufffd in"),
    "an error of status 200": ({"status": 200, "body": {"error": {"message": "log in"}}}, "200: log in"),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_an_hour_of_refusals_in_another_form_ends_the_connection(api, oauth_provider, expired, db, login, name):
    made = expired(api, login)
    failure, words = UNCLEAR[name]
    for _ in range(2):
        oauth_provider.fail("POST", "^/token$", **failure)
        assert api.problem("GET", TOKEN, 503, "unavailable")["detail"].endswith(words)
        assert status(api)["status"] == "active"
        integrations_tables.age_refusals(db, made["id"], 30)
    oauth_provider.fail("POST", "^/token$", **failure)
    assert api.problem("GET", TOKEN, 409, "conflict")["detail"].endswith(words)
    assert status(api)["status"] == "expired" and status(api)["status_reason"].endswith(words)


@pytest.mark.parametrize("minutes", [(0, 0, 0, 0, 0), (11, 11, 11, 11, 0), (0, 0, 60, 0, 0)], ids=["of a minute", "of 44 minutes", "that are two"])
def test_fewer_refusals_in_another_form_do_not_end_the_connection(api, oauth_provider, expired, db, login, minutes):
    """A gateway in front of a provider that is away answers each request so."""
    made = expired(api, login)
    for age in minutes:
        oauth_provider.fail("POST", "^/token$", status=403, body="<html><h1>Blocked</h1></html>")
        assert api.problem("GET", TOKEN, 503, "unavailable")["detail"].endswith("403: Blocked")
        integrations_tables.age_refusals(db, made["id"], age)
    api.get(TOKEN, expect=200)
    assert status(api)["status"] == "active"


@pytest.mark.parametrize("between", [{"status": 503}, {"status": 429}, {"status": 401, "body": {"error": "invalid_client"}}],
                         ids=["away", "limited", "client refused"])  # fmt: skip
def test_only_refusals_in_a_row_end_the_connection(api, oauth_provider, expired, db, login, between):
    made = expired(api, login)
    for failure in [{"status": 400}, {"status": 400}, between, {"status": 400}, {"status": 400}]:
        oauth_provider.fail("POST", "^/token$", **failure)
        api.problem("GET", TOKEN, 503, "unavailable")
        integrations_tables.age_refusals(db, made["id"], 60)
    api.get(TOKEN, expect=200)
    assert status(api)["status"] == "active"


@pytest.mark.parametrize("odd", [
    {"refresh_token": ""}, {"refresh_token": None}, {"refresh_token": 7}, {"refresh_token": {}}, {"refresh_token": "a b"},
    {"token_type": "BEARER"}, {"token_type": None}, {"token_type": ["Bearer"]}, {"scope": ["read", "write"]}, {"scope": 1},
    {"expires_in": "3600"}, {"expires_in": None}, {"expires_in": "soon"}, {"more": {"a": [None]}},
], ids=str)  # fmt: skip
def test_optional_members_in_another_form_do_not_lose_the_token(api, oauth_provider, expired, login, odd):
    expired(api, login)
    answer = {"access_token": "fresh", "token_type": "Bearer", "expires_in": 3600} | odd
    oauth_provider.fail("POST", "^/token$", status=200, body=answer)
    token = api.get(TOKEN, expect=200).json()
    assert (token["access_token"], token["token_type"]) == ("fresh", "Bearer")
    assert api.get(TOKEN, expect=200).json() == token


@pytest.mark.parametrize("expires_in", [0, -1, "0", -0.5])
def test_a_token_that_expires_at_once_is_refreshed_at_each_use(api, oauth_provider, expired, login, expires_in):
    expired(api, login)
    after = oauth_provider.last_number()
    for number in (1, 2):
        answer = {"access_token": f"fresh-{number}", "refresh_token": f"next-{number}", "expires_in": expires_in}
        oauth_provider.fail("POST", "^/token$", status=200, body=answer)
        token = api.get(TOKEN, expect=200).json()
        assert token["access_token"] == f"fresh-{number}" and token["expires_at"] is None
    assert refreshes(oauth_provider, after) == 2
    assert "refresh_token=next-1" in oauth_provider.requests(after, "POST", "^/token$")[1]["body"]


@pytest.mark.parametrize("answer, uses_refresh", [({"refresh_token": "r"}, True), ({}, False)], ids=["refreshed", "kept"])
def test_a_first_token_that_expires_at_once(api, oauth_provider, login, answer, uses_refresh):
    """With a refresh token it is refreshed at its first use; without one it is used until it is refused."""
    body = begin(api, login=login)
    oauth_provider.fail("POST", "^/token$", status=200, body={"access_token": "first", "expires_in": 0} | answer)
    oauth_provider.fail("GET", "^/me$", status=200, body={"sub": login})
    api.post("/integrations/tracker_b/callback", body, expect=200)
    if uses_refresh:
        oauth_provider.fail("POST", "^/token$", status=200, body={"access_token": "second", "expires_in": 3600})
    assert api.get(TOKEN, expect=200).json()["access_token"] == ("second" if uses_refresh else "first")


def test_tokens_that_live_too_short_are_refused(api, oauth_provider, login):
    connect_expired(oauth_provider, api, login)
    oauth_provider.set_lifetime(50)
    after = oauth_provider.last_number()
    api.problem("GET", TOKEN, 502, "bad_gateway")
    oauth_provider.set_lifetime(3600)
    assert refreshes(oauth_provider, after) == 1
    api.get(TOKEN, expect=200)


def test_a_refresh_goes_on_without_its_client(cluster, api, oauth_provider, expired, db, login):
    """The client goes away while the provider's answer is on its way; the answer is the only one there will be."""
    expired(api, login)
    after = oauth_provider.last_number()
    fields = {"Authorization": f"Bearer {api.key}"}
    with integrations_tables.refreshed_token_waits(db, login), cluster.postgres.connect() as seen:
        with leaving_client(cluster.gateway_url, "GET", f"/api/v1.0{TOKEN}", fields):
            common.wait_blocked(seen, "integrations")
    wait_for(lambda: status(api)["last_refreshed_at"], "the token is stored")
    api.get(TOKEN, expect=200)
    assert refreshes(oauth_provider, after) == 1


def test_what_a_refresh_brings_too_late_is_revoked(api, oauth_provider, expired, db, login):
    """The account disconnects while the provider's answer is on its way, and the first revocations fail."""
    made = expired(api, login)
    after = oauth_provider.last_number()
    oauth_provider.fail("POST", "^/token/revocation", status=503, times=4)
    with ThreadPoolExecutor(1) as pool:
        with oauth_provider.paused():
            asked = pool.submit(api.get, TOKEN)
            wait_for(lambda: integrations_tables.is_refreshing(db, made["id"]), "the refresh has begun")
            api.delete("/integrations/tracker_b", expect=200)
        assert asked.result().status_code == 404
    revoked = lambda: {row["body"] for row in oauth_provider.requests(after, "POST", "/token/revocation") if row["status"] == 200}  # noqa: E731
    wait_for(lambda: len(revoked()) == 4, "the former and the fresh tokens are revoked")


# ---- two replicas ----


@pytest.fixture
def pair_db(pair):
    with pair.postgres.connect("integrations") as connection:
        yield connection


@pytest.fixture
def pair_api(pair):
    return pair.user().api


@pytest.fixture
def clients(pair_api):
    """Fifty clients of the account."""
    return [pair_api.as_key(pair_api.key) for _ in range(CLIENTS)]


def ask_all(clients):
    """Ask for the token from all clients at once; the answers."""
    barrier = threading.Barrier(len(clients))

    def ask(client):
        barrier.wait()
        return client.get(TOKEN)

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(ask, clients))


def test_fifty_clients_cause_one_refresh(clients, pair_api, pair_oauth_provider, login):
    connect_expired(pair_oauth_provider, pair_api, login)
    after = pair_oauth_provider.last_number()
    answers = ask_all(clients)
    assert [answer.status_code for answer in answers] == [200] * CLIENTS
    assert len({answer.json()["access_token"] for answer in answers}) == 1
    assert refreshes(pair_oauth_provider, after) == 1
    assert whoami(pair_oauth_provider, answers[0].json()["access_token"]) == 200
    assert status(pair_api)["status"] == "active"


def begin_refresh(pair, account, pool):
    """Ask the first replica for the token, which begins the refresh."""

    def ask():
        with pytest.raises(httpx.TransportError):
            ask_replica(pair, 0, "GET", TOKEN, account)

    return pool.submit(ask)


def kill_refreshing(pair, db, made, until):
    """Kill the first replica when `until` is true of the refresh that it makes."""
    with ThreadPoolExecutor(1) as pool:
        sent = begin_refresh(pair, integrations_tables.account_of(db, made["id"]), pool)
        wait_for(until, "the refresh has come so far")
        pair["svc-integrations"][0].kill9()
        sent.result()


@pytest.fixture
def recovered(pair):
    """The cluster is whole again after the test."""
    yield
    pair.recover()


def is_asked(provider, after):
    return lambda: refreshes(provider, after) > 0


def check_alive(clients, provider, after, asked):
    """Fifty clients get one good token, by one more refresh that reached the provider."""
    answers = ask_all(clients)
    assert [answer.status_code for answer in answers] == [200] * CLIENTS
    assert len({answer.json()["access_token"] for answer in answers}) == 1
    assert refreshes(provider, after) == asked
    assert whoami(provider, answers[0].json()["access_token"]) == 200


def check_expired(pair_api, clients):
    """The new token is lost with the process, and the provider takes the old one once: all clients are told."""
    answers = ask_all(clients)
    assert {answer.status_code for answer in answers} == {409}
    assert all("invalid_grant" in answer.json()["detail"] for answer in answers)
    assert (status(pair_api)["status"], "invalid_grant" in status(pair_api)["status_reason"]) == ("expired", True)


def test_killed_while_the_lease_is_taken(pair, pair_api, clients, pair_oauth_provider, pair_db, login, recovered):
    made = connect_expired(pair_oauth_provider, pair_api, login)
    after = pair_oauth_provider.last_number()
    with pair.postgres.connect("integrations") as holder, holder.transaction():
        integrations_tables.lock_connection(holder, made["id"])
        with ThreadPoolExecutor(1) as pool:
            sent = begin_refresh(pair, integrations_tables.account_of(pair_db, made["id"]), pool)
            common.wait_blocked(pair_db, "integrations")
            pair["svc-integrations"][0].kill9()
            sent.result()
            common.wait_unblocked(pair_db, "integrations")
    check_alive(clients, pair_oauth_provider, after, 1)


def test_killed_before_the_provider_has_the_request(pair, pair_api, clients, pair_oauth_provider, pair_db, login, recovered):
    made = connect_expired(pair_oauth_provider, pair_api, login)
    after = pair_oauth_provider.last_number()
    pair_oauth_provider.fail("POST", "^/token$", hang=True, before=True)
    kill_refreshing(pair, pair_db, made, is_asked(pair_oauth_provider, after))
    assert integrations_tables.is_refreshing(pair_db, made["id"])
    check_alive(clients, pair_oauth_provider, after, 2)


def test_killed_before_the_answer_arrives(pair, pair_api, clients, pair_oauth_provider, pair_db, login, recovered):
    made = connect_expired(pair_oauth_provider, pair_api, login)
    after = pair_oauth_provider.last_number()
    pair_oauth_provider.fail("POST", "^/token$", hang=True)
    kill_refreshing(pair, pair_db, made, is_asked(pair_oauth_provider, after))
    assert integrations_tables.is_refreshing(pair_db, made["id"])
    check_expired(pair_api, clients)


def test_killed_before_the_answer_is_stored(pair, pair_api, clients, pair_oauth_provider, pair_db, login, recovered):
    made = connect_expired(pair_oauth_provider, pair_api, login)
    with pair.postgres.connect("integrations") as holder, integrations_tables.refreshed_token_waits(holder, login):
        with ThreadPoolExecutor(1) as pool:
            sent = begin_refresh(pair, integrations_tables.account_of(pair_db, made["id"]), pool)
            common.wait_blocked(pair_db, "integrations")
            pair["svc-integrations"][0].kill9()
            sent.result()
            common.wait_unblocked(pair_db, "integrations")
    check_expired(pair_api, clients)


def test_killed_after_the_answer_is_stored(pair, pair_api, clients, pair_oauth_provider, pair_db, login, recovered):
    made = connect_expired(pair_oauth_provider, pair_api, login)
    after = pair_oauth_provider.last_number()
    assert ask_replica(pair, 0, "GET", TOKEN, integrations_tables.account_of(pair_db, made["id"])).status_code == 200
    pair["svc-integrations"][0].kill9()
    check_alive(clients, pair_oauth_provider, after, 1)


def test_a_stopped_process_does_not_store_what_came_late(pair, pair_api, pair_oauth_provider, pair_db, login, recovered):
    """It sleeps past its lease; another one refreshes; what the first one has got is of a former fence."""
    made = connect_expired(pair_oauth_provider, pair_api, login)
    account, after = integrations_tables.account_of(pair_db, made["id"]), pair_oauth_provider.last_number()
    pair_oauth_provider.fail("POST", "^/token$", hang=True, before=True)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(ask_replica, pair, 0, "GET", TOKEN, account)
        wait_for(is_asked(pair_oauth_provider, after), "the refresh is asked for")
        pair["svc-integrations"][0].pause()
        token = wait_for(lambda: good(ask_replica(pair, 1, "GET", TOKEN, account)), "the other one refreshes")
        pair["svc-integrations"][0].resume()
        assert sent.result().status_code in (200, 503, 504)
    assert ask_replica(pair, 0, "GET", TOKEN, account).json()["access_token"] == token
    assert whoami(pair_oauth_provider, token) == 200


def good(answer):
    return answer.status_code == 200 and answer.json()["access_token"]
