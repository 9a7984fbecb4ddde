"""Identity links: who a user is on other platforms."""

import secrets

import pytest

LINK, LINKS, RESOLVE = "/integrations/identity/link", "/integrations/identity/links", "/integrations/identity/resolve"


@pytest.fixture
def identity():
    """The body of a link that no other test makes."""
    name = secrets.token_hex(6)
    return {"source": "code_host", "external_id": name, "external_email": f"Ada.{name}@Example.org", "external_login": name}


def test_an_identity_is_linked_and_listed(api, identity):
    made = api.post(LINK, identity, expect=201).json()
    assert {name: made[name] for name in identity} == identity
    second = api.post(LINK, {"source": "tracker_a", "external_id": identity["external_id"]}, expect=201).json()
    answer = api.get(LINKS, expect=200)
    assert answer.json() == [second, made] and answer.headers["x-total-count"] == "2"


def test_linking_again_changes_nothing(api, identity):
    made = api.post(LINK, identity, expect=201).json()
    assert api.post(LINK, {**identity, "external_login": "other"}, expect=200).json() == made
    assert api.get(LINKS, expect=200).json() == [made]


def test_an_identity_belongs_to_one_account(api, other_user, identity):
    api.post(LINK, identity, expect=201)
    other_user.api.problem("POST", LINK, 409, "conflict", identity)
    email = {**identity, "external_id": "another", "external_email": identity["external_email"].upper()}
    other_user.api.problem("POST", LINK, 409, "conflict", email)
    assert other_user.api.get(LINKS, expect=200).json() == []
    elsewhere = {**identity, "source": "tracker_b"}
    other_user.api.post(LINK, elsewhere, expect=201)


def test_an_identity_is_resolved_by_id_or_email(api, identity):
    made = api.post(LINK, identity, expect=201).json()
    by_id = {"source": "code_host", "external_id": identity["external_id"]}
    by_email = {"source": "code_host", "external_email": identity["external_email"].swapcase()}
    for query in (by_id, by_email, {**by_id, **by_email}):
        assert api.get(RESOLVE, params=query, expect=200).json() == made
    for query in ({**by_id, "source": "tracker_a"}, {**by_id, "external_email": "x@example.org"}):
        assert api.get(RESOLVE, params=query, expect=404).json()["error"] == "not_found"


def test_another_accounts_identity_is_for_operators(api, other_user, operator, identity):
    made = api.post(LINK, identity, expect=201).json()
    query = {"source": "code_host", "external_id": identity["external_id"]}
    other_user.api.problem("GET", RESOLVE, 404, "not_found", params=query)
    assert operator.api.get(RESOLVE, params=query, expect=200).json() == made


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
