"""The audit log: an entry for each change, by whom, and that nobody changes one."""

import json
import secrets

import pytest

from lib.http import plain_http
from lib.http.browser import Browser
from lib.http.identity import identity
from lib.scenario.team import add_member
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

INTEREST = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"


@pytest.fixture
def team(cluster):
    """An account of an owner."""
    return cluster.user()


@pytest.fixture
def db(cluster):
    """As the owner of the database."""
    with cluster.postgres.connect("account") as connection:
        yield connection


def entries(api, **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return api.get(f"/account/audit?{text}", expect=200).json()


def newest(api, action):
    return entries(api, action=action, limit=1)[0]


def changed(entry):
    """{field: (from, to)}"""
    return {one["field"]: (one["from"], one["to"]) for one in entry["detail"]["changed"]}


def make_key(api, name="laptop", **members):
    return api.post("/account/api-keys", {"name": name, **members}, expect=201).json()


def person_of(api):
    return api.get("/team", expect=200).json()["you"]["person_id"]


# ---- what is in an entry ----


def test_an_entry_says_who_changed_what_from_where(team):
    answer = team.api.post("/account/api-keys", {"name": "laptop", "scopes": ["team:read"]}, headers={"User-Agent": "tester/1.0"}, expect=201)
    key, entry = answer.json(), newest(team.api, "key.created")
    assert entry["target"] == {"kind": "key", "id": key["id"], "name": "laptop"}
    actor = entry["actor"]
    assert (actor["kind"], actor["person_id"], actor["email"]) == ("person", person_of(team.api), team.email)
    assert (entry["ip"], entry["user_agent"], entry["outcome"]) == ("127.0.0.1", "tester/1.0", "done")
    assert entry["request_id"] == answer.headers["X-Request-Id"]
    assert changed(entry) == {"name": (None, "laptop"), "kind": (None, "personal"), "scopes": (None, ["team:read"])}
    assert key["key"] not in json.dumps(entry)


def test_every_change_of_a_key_has_an_entry(team):
    key = make_key(team.api)["id"]
    path = f"/account/api-keys/{key}"
    team.api.patch(path, {"name": "desk"}, expect=200)
    team.api.patch(path, {"name": "desk"}, expect=200)  # changes nothing
    team.api.post(f"{path}/revoke", expect=200)
    team.api.post(f"{path}/revoke", expect=200)
    team.api.delete(path, expect=200)
    found = entries(team.api, target=key)
    assert [entry["action"] for entry in found] == ["key.deleted", "key.revoked", "key.updated", "key.created"]
    assert changed(found[2]) == {"name": ("laptop", "desk")}


def test_a_key_that_a_service_makes_is_of_who_asked_for_it(cluster, team):
    auth = identity(cluster, "gateway", "service", account=team.account)
    maker = team.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]
    body = {"name": "agent on acme/ranker", "purpose": "agent", "repo": "acme/ranker", "interest_id": INTEREST, "maker_id": maker, "expires_in_seconds": 86400}
    for _ in range(2):  # the second takes the place of the first
        answer = plain_http.request("POST", cluster.gateway_url + "/internal/keys/create", json=body, auth=auth)
        assert answer.status_code == 200, answer.text
    found = entries(team.api, target=answer.json()["id"])
    assert [(entry["action"], entry["actor"]["email"]) for entry in found] == [("key.created", team.email)]
    assert changed(found[0])["repo"] == (None, "acme/ranker")
    assert changed(found[0])["expires_at"] == (None, answer.json()["expires_at"])
    assert len(entries(team.api, action="key.revoked")) == 1


def test_another_end_of_a_key_has_an_entry(team):
    key = make_key(team.api)["id"]
    ends = team.api.patch(f"/account/api-keys/{key}", {"expires_in_days": 9}, expect=200).json()["expires_at"]
    assert changed(newest(team.api, "key.updated")) == {"expires_at": (None, ends)}


def test_an_automation_key_acts_itself_and_names_its_maker(team):
    agent = make_key(team.api, "agent", kind="automation", scopes=["team:read", "team:write"])
    team.api.as_key(agent["key"]).patch("/team", {"name": "Ranking"}, expect=200)
    actor = newest(team.api, "account.renamed")["actor"]
    assert (actor["kind"], actor["key_id"], actor["key_name"], actor["person_id"]) == ("key", agent["id"], "agent", person_of(team.api))


def test_a_command_is_the_operators(cluster, team):
    member = add_member(cluster, team.account, "member")
    entry = newest(team.api, "member.added")
    assert entry["actor"] == {"kind": "operator", "person_id": None, "email": None, "key_id": None, "key_name": None}
    assert entry["target"] == {"kind": "person", "id": member.person, "name": member.email}
    cluster.run("gateway", "disable-person", "--email", member.email)
    assert newest(team.api, "person.")["action"] == "person.disabled"
    cluster.run("gateway", "revoke-keys", make_key(team.api)["id"])
    assert newest(team.api, "key.")["actor"]["kind"] == "operator"


def test_an_account_has_its_beginning(cluster, anonymous):
    email = f"{secrets.token_hex(6)}@example.org"
    api = anonymous.as_key(cluster.create_user(email=email))
    assert [entry["action"] for entry in entries(api)] == ["key.created", "member.added", "account.created"]


def test_what_the_release_before_changes_has_an_entry(team, db):
    """It says to nobody who makes a change."""
    key = make_key(team.api)["id"]
    gateway_tables.revoke_key(db, key)
    entry = newest(team.api, "key.revoked")
    assert (entry["actor"]["kind"], entry["target"]["id"]) == ("service", key)


# ---- sessions ----


def test_sessions_begin_end_and_are_refused(cluster, team):
    browser = Browser(cluster.gateway_url, team.key)
    made = newest(team.api, "session.created")
    assert (made["actor"]["email"], made["target"]["name"]) == (team.email, team.email)
    browser.call("DELETE", "/session", expect=200)
    assert newest(team.api, "session.ended")["target"]["id"] == made["target"]["id"]
    revoked = make_key(team.api)
    team.api.post(f"/account/api-keys/{revoked['id']}/revoke", expect=200)
    Browser(cluster.gateway_url).call("POST", "/session", {"key": revoked["key"]}, expect=401)
    refused = newest(team.api, "session.refused")
    assert (refused["outcome"], refused["actor"]["key_id"]) == ("refused", revoked["id"])
    assert refused["detail"] == {"changed": [], "reason": "key"}


def test_a_session_that_is_ended_by_another(cluster, team):
    Browser(cluster.gateway_url, team.key)
    session = team.api.get("/sessions", expect=200).json()[0]["id"]
    team.api.delete(f"/sessions/{session}", expect=200)
    entry = newest(team.api, "session.ended")
    assert (entry["target"]["id"], entry["actor"]["email"]) == (session, team.email)


def test_a_session_that_shows_another_account_has_ended_in_the_first(cluster, team):
    browser = Browser(cluster.gateway_url, team.key)
    session = newest(team.api, "session.created")["target"]["id"]
    other = browser.call("POST", "/accounts", {"name": "another"}, expect=201).json()["id"]
    browser.call("POST", "/session/switch", {"account_id": other}, expect=200)
    ended = newest(team.api, "session.ended")
    assert (ended["target"]["id"], ended["actor"]["email"]) == (session, team.email)
    assert browser.call("GET", "/account/audit?action=session.created", expect=200).json()[0]["target"]["id"] == session


# ---- members ----


def test_members_and_invitations(cluster, team):
    guest = cluster.user()
    invitation = team.api.post("/team/invitations", {"email": guest.email, "role": "viewer"}, expect=201).json()
    made = newest(team.api, "invitation.created")
    assert made["target"] == {"kind": "invitation", "id": invitation["id"], "name": guest.email}
    assert invitation["url"].partition("#")[2] not in json.dumps(made)
    browser = Browser(cluster.gateway_url, guest.key)
    browser.call("POST", "/team/invitations/accept", {"token": invitation["url"].partition("#")[2]}, expect=200)
    assert {newest(team.api, action)["actor"]["email"] for action in ("invitation.accepted", "member.added")} == {guest.email}
    person = person_of(guest.api)
    team.api.patch(f"/team/members/{person}", {"role": "admin"}, expect=200)
    assert changed(newest(team.api, "member.role_changed")) == {"role": ("viewer", "admin")}
    team.api.delete(f"/team/members/{person}", expect=200)
    assert newest(team.api, "member.removed")["target"]["id"] == person


def test_an_invitation_that_another_replaces_is_revoked(team):
    for role in ("viewer", "member"):
        last = team.api.post("/team/invitations", {"email": "ada@example.org", "role": role}, expect=201).json()["id"]
    team.api.delete(f"/team/invitations/{last}", expect=200)
    assert len(entries(team.api, action="invitation.revoked")) == 2


def test_who_leaves_is_not_removed(cluster, team):
    member = add_member(cluster, team.account, "viewer")
    member.api.delete(f"/team/members/{member.person}", expect=200)
    left = newest(team.api, "member.left")
    assert left["actor"]["person_id"] == member.person
    assert newest(team.api, "key.revoked")["actor"]["person_id"] == member.person  # that of the add-member command


def test_refused_changes_of_the_team_are_noted(cluster, team):
    viewer, admin = add_member(cluster, team.account, "viewer"), add_member(cluster, team.account, "admin")
    owner = person_of(team.api)
    viewer.api.patch("/team", {"name": "mine"}, expect=403, headers={"User-Agent": "tester/1.0"})
    admin.api.patch(f"/team/members/{owner}", {"role": "viewer"}, expect=403)
    admin.api.post("/team/invitations", {"email": "eve@example.org", "role": "owner"}, expect=403, headers={"Idempotency-Key": "once"})
    viewer.api.delete(f"/team/members/{admin.person}", expect=403)
    team.api.delete(f"/team/members/{owner}", expect=409)

    def refused():
        return {(entry["action"], entry["actor"]["email"], entry["target"]["id"]) for entry in entries(team.api, limit=100)
                if entry["outcome"] == "refused"}

    expected = {("account.renamed", viewer.email, None), ("member.role_changed", admin.email, owner), ("invitation.created", admin.email, None),
                ("member.removed", viewer.email, admin.person), ("member.removed", team.email, owner)}
    wait_for(lambda: refused() == expected, "the refusals are noted")
    assert newest(team.api, "account.renamed")["user_agent"] == "tester/1.0"


def test_a_key_that_is_refused_all_the_time_does_not_fill_the_log(cluster, team):
    viewer, other = (add_member(cluster, team.account, "viewer") for _ in range(2))
    for _ in range(30):
        viewer.api.patch("/team", {"name": "mine"}, expect=403)
    other.api.patch("/team", {"name": "mine"}, expect=403)

    def refused(email):
        return len([entry for entry in entries(team.api, limit=100) if entry["outcome"] == "refused" and entry["actor"]["email"] == email])

    wait_for(lambda: refused(other.email) == 1 and refused(viewer.email) >= 10, "refusals of both are noted")
    assert refused(viewer.email) <= 11  # one more after six seconds


# ---- reading ----


def test_only_owners_and_admins_read_it(cluster, team):
    for role, status in (("admin", 200), ("member", 403), ("viewer", 403)):
        add_member(cluster, team.account, role).api.get("/account/audit", expect=status)
    limited = make_key(team.api, "agent", kind="automation", repo="acme/ranker", scopes=["audit:read"])
    team.api.as_key(limited["key"]).problem("GET", "/account/audit", 403, "forbidden")


def test_another_account_has_its_own(cluster, team):
    make_key(team.api)
    assert entries(cluster.user().api, target=team.account) == []
    assert entries(cluster.user().api, person_id=person_of(team.api)) == []


def test_filters_and_pages(cluster, team, db):
    gateway_tables.add_audit(db, team.account, 5, days=2)
    admin = add_member(cluster, team.account, "admin")
    make_key(admin.api)
    assert {entry["action"] for entry in entries(team.api, person_id=admin.person)} == {"key.created"}
    filled = entries(team.api, action="test.")
    assert len(filled) == 5 and filled == sorted(filled, key=lambda entry: entry["at"], reverse=True)
    assert entries(team.api, action="est.") == []
    assert entries(team.api, since=filled[1]["at"], until=filled[0]["at"]) == [filled[1]]
    page = team.api.get("/account/audit?action=test.&limit=2&offset=2", expect=200)
    assert page.json() == filled[2:4] and page.headers["X-Total-Count"] == "5"


@pytest.mark.parametrize("query", ["since=yesterday", "until=2026-01-01", "action=", "person_id=me", "target=", "limit=0", "offset=-1", "actor=x"])
def test_bad_filters_are_named(team, query):
    problem = team.api.problem("GET", f"/account/audit?{query}", 400, "invalid_request")
    assert problem["errors"][0]["field"] == query.partition("=")[0]


def test_an_export_has_every_entry_once(team, db):
    gateway_tables.add_audit(db, team.account, 1200, days=40)
    exported = team.api.get("/account/audit?action=test.&limit=1", headers={"Accept": "application/x-ndjson"}, expect=200)
    assert exported.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert len({line["id"] for line in lines}) == len(lines) == 1200
    assert [line["at"] for line in lines] == sorted((line["at"] for line in lines), reverse=True)
    assert lines[:100] == entries(team.api, action="test.", limit=100)
    nothing = team.api.get("/account/audit?action=none.", headers={"Accept": "application/x-ndjson"}, expect=200)
    assert nothing.text == ""
    team.api.problem("GET", "/account/audit", 406, "not_acceptable", headers={"Accept": "text/csv"})


# ---- deletion ----


def test_a_deleted_account_leaves_one_entry_for_operators(cluster, team, db):
    operator = cluster.user(operator=True)
    guest = cluster.user()
    guest.api.post("/team/invitations", {"email": team.email, "role": "viewer"}, expect=201)
    make_key(team.api)
    person = person_of(team.api)
    team.api.post("/account/delete", {"confirm": True}, expect=200)
    assert gateway_tables.audit_actions(db, team.account) == []
    left = entries(operator.api, target=team.account)
    assert [entry["action"] for entry in left] == ["account.deleted"]
    assert (left[0]["actor"]["person_id"], left[0]["actor"]["email"]) == (person, "deleted")
    assert gateway_tables.audit_texts(db, team.email) == 0, "the address of a deleted person"
    assert newest(guest.api, "invitation.created")["target"]["name"] == "deleted"
    assert entries(guest.api, target=team.account) == []


def test_who_is_elsewhere_keeps_the_name(cluster, team):
    both = cluster.user()
    add_member(cluster, team.account, "owner", both.email)
    make_key(team.api)
    team.api.post("/account/delete", {"confirm": True, "name": team.email}, expect=200)
    operator = cluster.user(operator=True)
    cluster.run("gateway", "delete-accounts", both.account)
    assert [entry["actor"]["kind"] for entry in entries(operator.api, target=both.account)] == ["operator"]
