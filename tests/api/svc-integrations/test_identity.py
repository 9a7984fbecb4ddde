"""Identity links: who a user is on other platforms, and what proves it."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lib.outside.counterparts import connect
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

LINK, LINKS, RESOLVE = "/integrations/identity/link", "/integrations/identity/links", "/integrations/identity/resolve"
LINKS_MAX = 50  # the default
BOTH = ["external_id", "external_email"]


@pytest.fixture
def identity():
    """The body of a link that no other test makes, and that nobody proves."""
    name = secrets.token_hex(6)
    return {"source": "code_host", "external_id": name, "external_email": f"Ada.{name}@Example.org", "external_login": name}


@pytest.fixture
def ada(code_host):
    """A user of the code host."""
    return code_host.user()


@pytest.fixture
def of_ada(ada):
    """The body of the link that a connection as ada proves."""
    return {"source": "code_host", "external_id": str(ada.id), "external_email": ada.email.upper()}


def by_id(body):
    return {"source": body["source"], "external_id": body["external_id"]}


def by_email(body):
    return {"source": body["source"], "external_email": body["external_email"].swapcase()}


def links(api):
    return api.get(LINKS, expect=200).json()


def test_an_identity_is_linked_and_listed(api, identity):
    made = api.post(LINK, identity, expect=201).json()
    assert {name: made[name] for name in identity} == identity
    second = api.post(LINK, {"source": "tracker_a", "external_id": identity["external_id"]}, expect=201).json()
    answer = api.get(LINKS, expect=200)
    assert answer.json() == [second, made] and answer.headers["x-total-count"] == "2"


def test_a_request_is_repeated(api, identity):
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    made = api.post(LINK, identity, headers=headers, expect=201).json()
    assert api.post(LINK, identity, headers=headers, expect=201).json() == made
    assert links(api) == [made]


def test_linking_again_changes_nothing(api, identity):
    made = api.post(LINK, identity, expect=201).json()
    assert api.post(LINK, {**identity, "external_login": "other"}, expect=200).json() == made
    assert api.get(LINKS, expect=200).json() == [made]


def test_an_identity_without_proof_is_seen_by_its_account_alone(api, other_user, operator, identity):
    made = api.post(LINK, identity, expect=201).json()
    other = other_user.api.post(LINK, identity, expect=201).json()
    assert (made["status"], made["verified"]) == (other["status"], other["verified"]) == ("unverified", [])
    for query in (by_id(identity), by_email(identity)):
        assert api.get(RESOLVE, params=query, expect=200).json() == made
        assert other_user.api.get(RESOLVE, params=query, expect=200).json() == other
        operator.api.problem("GET", RESOLVE, 404, "not_found", params=query)
    assert links(api) == [made] and links(other_user.api) == [other]


def test_a_connection_proves_an_id_and_an_email(api, other_user, operator, ada, of_ada):
    connect(api, "code_host", ada.login)
    made = api.post(LINK, of_ada, expect=201).json()
    assert made["status"] == "verified" and made["verified"] == BOTH
    for query in (by_id(of_ada), by_email(of_ada), {**by_id(of_ada), **by_email(of_ada)}):
        assert operator.api.get(RESOLVE, params=query, expect=200).json() == made
        other_user.api.problem("GET", RESOLVE, 404, "not_found", params=query)


def test_what_another_accounts_connection_proves_is_a_conflict(api, other_user, ada, of_ada):
    """Before and after that account links it; linking one's own again is none."""
    connect(api, "code_host", ada.login)
    for number in range(2):
        other_user.api.problem("POST", LINK, 409, "conflict", {**by_id(of_ada)})
        document = other_user.api.problem("POST", LINK, 409, "conflict", {**of_ada, "external_id": "another"})
        assert "external_email" in document["detail"]
        api.post(LINK, of_ada, expect=[201, 200][number])
    assert links(other_user.api) == []


def test_a_claim_without_proof_gives_way(api, other_user, operator, ada, of_ada):
    """Whoever has linked an identity first without proof does not keep its owner from it."""
    other_user.api.post(LINK, by_id(of_ada), expect=201)
    other_user.api.post(LINK, {**of_ada, "external_id": "another"}, expect=201)
    kept = other_user.api.post(LINK, {**of_ada, "source": "tracker_b"}, expect=201).json()
    connect(api, "code_host", ada.login)
    made = api.post(LINK, of_ada, expect=201).json()
    assert links(other_user.api) == [kept]
    other_user.api.problem("GET", RESOLVE, 404, "not_found", params=by_id(of_ada))
    assert operator.api.get(RESOLVE, params=by_id(of_ada), expect=200).json() == made


def test_connecting_verifies_the_links_that_are_there(api, other_user, ada, of_ada):
    other_user.api.post(LINK, of_ada, expect=201)
    api.post(LINK, of_ada, expect=201)
    unproven = api.post(LINK, {"source": "code_host", "external_id": "another"}, expect=201).json()
    connect(api, "code_host", ada.login)
    newest, verified = links(api)
    assert newest == unproven and verified["verified"] == BOTH
    assert links(other_user.api) == []


def test_a_proof_ends_with_the_connection(api, other_user, operator, code_host, ada, of_ada):
    """When the account disconnects, or connects as somebody else; then another one may prove the identity."""
    connect(api, "code_host", ada.login)
    api.post(LINK, of_ada, expect=201)
    connect(api, "code_host", code_host.user().login)
    assert links(api)[0]["verified"] == []
    connect(api, "code_host", ada.login)
    assert links(api)[0]["verified"] == BOTH
    api.delete("/integrations/code_host", expect=200)
    assert links(api)[0]["status"] == "unverified"
    operator.api.problem("GET", RESOLVE, 404, "not_found", params=by_id(of_ada))
    connect(other_user.api, "code_host", ada.login)
    other_user.api.post(LINK, of_ada, expect=201)
    assert links(api) == []


def test_a_proof_ends_when_the_connection_expires(api, expired, oauth_provider, operator, db, login):
    body = {"source": "tracker_b", "external_id": login}
    made = expired(api, login)
    assert api.post(LINK, body, expect=201).json()["verified"] == ["external_id"]
    integrations_tables.refuse_connection(db, made["id"])
    operator.api.problem("GET", RESOLVE, 404, "not_found", params=body)
    connect(api, "tracker_b", login)
    assert operator.api.get(RESOLVE, params=body, expect=200).json()["verified"] == ["external_id"]


def test_an_id_and_an_email_are_proven_apart(api, operator, ada, of_ada, identity):
    """Neither makes the other one believed."""
    connect(api, "code_host", ada.login)
    id_alone = {**by_id(of_ada), "external_email": identity["external_email"]}
    email_alone = {**by_id(identity), "external_email": of_ada["external_email"]}
    for body, proven, asked in ((id_alone, "external_id", by_id), (email_alone, "external_email", by_email)):
        made = api.post(LINK, body, expect=201).json()
        assert made["status"] == "verified" and made["verified"] == [proven]
        assert operator.api.get(RESOLVE, params=asked(body), expect=200).json() == made
        operator.api.problem("GET", RESOLVE, 404, "not_found", params={**by_id(body), **by_email(body)})
        other_way = {by_id: by_email, by_email: by_id}[asked]
        operator.api.problem("GET", RESOLVE, 404, "not_found", params=other_way(body))


def test_a_verified_link_loses_only_the_email_that_another_account_proves(api, other_user, code_host, ada, of_ada):
    grace = code_host.user()
    connect(other_user.api, "code_host", grace.login)
    body = {"source": "code_host", "external_id": str(grace.id), "external_email": of_ada["external_email"]}
    made = other_user.api.post(LINK, body, expect=201).json()
    connect(api, "code_host", ada.login)
    api.post(LINK, of_ada, expect=201)
    assert links(other_user.api) == [{**made, "external_email": None}]


@pytest.mark.parametrize("answer", [
    {"status": 403, "body": {"message": "Resource not accessible by integration"}},
    {"status": 200, "body": [{"email": "x@example.org", "primary": True, "verified": False, "visibility": None}]},
])  # fmt: skip
def test_an_email_that_the_code_host_does_not_call_verified_proves_nothing(api, code_host, ada, of_ada, answer):
    code_host.fail("GET", "^/user/emails", **answer)
    connect(api, "code_host", ada.login)
    assert api.post(LINK, of_ada, expect=201).json()["verified"] == ["external_id"]


def test_an_email_of_a_tracker_that_is_not_called_verified_proves_nothing(api, oauth_provider, login):
    connected = connect(api, "tracker_b", login)
    body = {"source": "tracker_b", "external_id": login, "external_email": connected["external_account"]["email"]}
    assert api.post(LINK, body, expect=201).json()["verified"] == ["external_id"]


@pytest.fixture
def held(db):
    """With held(2): whoever verifies identities waits, until two of them do."""

    @contextmanager
    def run(number):
        with db.transaction():
            integrations_tables.hold_proofs(db)
            yield
            wait_for(lambda: integrations_tables.waiting_proofs(db) == number, f"{number} wait")

    return run


def test_one_of_two_accounts_that_prove_an_identity_at_once_has_it(api, other_user, operator, held, ada, of_ada):
    apis = [api, other_user.api]
    for each in apis:
        connect(each, "code_host", ada.login)
    with ThreadPoolExecutor(2) as pool, held(2):
        answers = [pool.submit(each.post, LINK, of_ada) for each in apis]
    assert sorted(answer.result().status_code for answer in answers) == [201, 409]
    (verified,) = links(api) + links(other_user.api)
    assert operator.api.get(RESOLVE, params=by_id(of_ada), expect=200).json() == verified


def test_two_accounts_connect_at_once_whose_links_claim_one_identity(api, other_user, held, ada, of_ada):
    """Both are connected, and one of them has the link."""
    apis = [api, other_user.api]
    for each in apis:
        each.post(LINK, of_ada, expect=201)
    with ThreadPoolExecutor(2) as pool, held(2):
        answers = [pool.submit(connect, each, "code_host", ada.login) for each in apis]
    assert all(answer.result()["status"] == "active" for answer in answers)
    assert [link["verified"] for link in links(api) + links(other_user.api)] == [BOTH]


def test_a_claim_that_is_made_while_another_account_proves_it_does_not_stay(api, other_user, held, ada, of_ada):
    """Whichever of them comes first."""
    api.post(LINK, of_ada, expect=201)
    with ThreadPoolExecutor(2) as pool, held(2):
        connected = pool.submit(connect, api, "code_host", ada.login)
        claimed = pool.submit(other_user.api.post, LINK, of_ada)
    assert connected.result()["status"] == "active" and claimed.result().status_code in (201, 409)
    assert links(api)[0]["verified"] == BOTH and links(other_user.api) == []


def test_links_are_removed(api, other_user, identity):
    made = api.post(LINK, identity, expect=201).json()
    path = f"{LINKS}/{made['id']}"
    other_user.api.problem("DELETE", path, 404, "not_found")
    assert api.delete(path, expect=200).json() == {"id": made["id"], "deleted": True}
    api.problem("DELETE", path, 404, "not_found")
    assert links(api) == []
    api.problem("DELETE", f"{LINKS}/x", 400, "invalid_request")


def test_links_are_bounded(api):
    """Also when several are made at once. Linking again what is linked is none more."""
    bodies = [{"source": "tracker_a", "external_id": f"filler-{number}"} for number in range(LINKS_MAX + 4)]
    for body in bodies[:LINKS_MAX - 2]:
        api.post(LINK, body, expect=201)
    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(lambda body: api.post(LINK, body).status_code, bodies[LINKS_MAX - 2:]))
    assert statuses == [201] * 2 + [409] * 4
    document = api.problem("POST", LINK, 409, "conflict", {"source": "tracker_b", "external_id": "1"})
    assert f"may have {LINKS_MAX} identity links" in document["detail"]
    api.post(LINK, bodies[0], expect=200)
    api.delete(f"{LINKS}/{links(api)[0]['id']}", expect=200)
    api.post(LINK, {"source": "tracker_b", "external_id": "1"}, expect=201)


def test_an_email_is_linked_once_by_an_account(api, identity):
    api.post(LINK, identity, expect=201)
    document = api.problem("POST", LINK, 409, "conflict", {**identity, "external_id": "another"})
    assert "another identity of yours" in document["detail"]


def test_an_identity_is_resolved_by_id_or_email(api, identity):
    made = api.post(LINK, identity, expect=201).json()
    for query in (by_id(identity), by_email(identity), {**by_id(identity), **by_email(identity)}):
        assert api.get(RESOLVE, params=query, expect=200).json() == made
    for query in ({**by_id(identity), "source": "tracker_a"}, {**by_id(identity), "external_email": "x@example.org"}):
        assert api.get(RESOLVE, params=query, expect=404).json()["error"] == "not_found"


@pytest.mark.parametrize("query, field", [
    ({"source": "code_host"}, "external_id"),
    ({"external_id": "1"}, "source"),
    ({"source": "tracker_c", "external_id": "1"}, "source"),
])  # fmt: skip
def test_resolving_needs_a_source_and_an_id(api, query, field):
    answer = api.get(RESOLVE, params=query, expect=400).json()
    assert [fault["field"] for fault in answer["errors"]] == [field]


@pytest.mark.parametrize("change, field", [
    ({"source": "github"}, "source"),
    ({"external_id": ""}, "external_id"),
    ({"external_id": "x" * 251}, "external_id"),
    ({"external_email": "x" * 321}, "external_email"),
])  # fmt: skip
def test_invalid_identities_are_refused(api, identity, change, field):
    document = api.problem("POST", LINK, 400, "invalid_request", {**identity, **change})
    assert [fault["field"] for fault in document["errors"]] == [field]
