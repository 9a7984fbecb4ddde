"""What an automation key sees and changes of keys, sessions and invitations: what its maker may at that time, who knows its text."""

import pytest

from lib.http.browser import Browser
from lib.scenario.team import add_member
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

SCOPES = ["account:read", "account:write", "team:read", "team:write"]


@pytest.fixture
def team(cluster):
    """An account of an owner."""
    return cluster.user()


def automation_of(member, scopes):
    """(its id, a client with it)"""
    made = member.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": scopes}, expect=201).json()
    return made["id"], member.api.as_key(made["key"])


def keys_seen(api):
    return {key["id"]: key["person"] and key["person"]["email"] for key in api.get("/account/api-keys?limit=100", expect=200).json()["keys"]}


def persons_of_sessions(api):
    return [session["person"] for session in api.get("/sessions", expect=200).json()]


def refuse_others(api, key, session):
    """Of a key and a session that are not theirs."""
    path = f"/account/api-keys/{key}"
    for method, target, body in [("POST", path + "/revoke", None), ("DELETE", path, None), ("PATCH", path, {"name": "mine"}),
                                 ("GET", path + "/usage", None), ("DELETE", f"/sessions/{session}", None)]:
        api.problem(method, target, 404, "not_found", body)


def end(cluster, team, member, how):
    if how == "lowered":
        team.api.patch(f"/team/members/{member.person}", {"role": "viewer"}, expect=200)
    elif how == "removed":
        team.api.delete(f"/team/members/{member.person}", expect=200)
    else:
        cluster.run("gateway", "disable-person", "--email", member.email)
        wait_for(lambda: member.api.get("/interests").status_code == 401, "the person's key is refused", 60)


@pytest.fixture
def owners(cluster, team):
    """(the id of a key, the id of a session) of the owner"""
    Browser(cluster.gateway_url, team.key)
    (session,) = team.api.get("/sessions", expect=200).json()
    return team.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"], session["id"]


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_one_of_a_member_is_shown_the_members_own(cluster, team, owners, role):
    member = add_member(cluster, team.account, role)
    Browser(cluster.gateway_url, member.api.key)
    own, key = automation_of(member, SCOPES[:2])
    assert own in keys_seen(key) and set(keys_seen(key).values()) == {member.email}
    assert persons_of_sessions(key) == [member.person]
    refuse_others(key, *owners)
    Browser(cluster.gateway_url, team.key)
    assert len(persons_of_sessions(team.api)) == 3, "none has ended"
    key.delete(f"/sessions/{key.get('/sessions').json()[0]['id']}", expect=200)
    assert key.post(f"/account/api-keys/{own}/revoke", expect=200).json()["status"] == "revoked"


def test_one_of_an_owner_or_admin_is_shown_all_and_deletes_no_account(cluster, team, owners):
    admin = add_member(cluster, team.account, "admin")
    for maker in (team, admin):
        _, key = automation_of(maker, SCOPES)
        assert set(keys_seen(key).values()) == {team.email, admin.email}
        key.problem("POST", "/account/delete", 403, "forbidden", {"confirm": True, "name": team.email})
    key.delete(f"/sessions/{owners[1]}", expect=200)
    key.post(f"/account/api-keys/{owners[0]}/revoke", expect=200)
    team.api.problem("GET", "/team", 401, "invalid_token")


@pytest.mark.parametrize("how", ["lowered", "removed", "disabled"])
def test_one_is_shown_no_more_than_its_maker_may_see_afterwards(cluster, team, owners, how):
    member = add_member(cluster, team.account, "admin")
    other, _ = automation_of(member, SCOPES[:1])
    own, key = automation_of(member, SCOPES)
    assert set(keys_seen(key)) >= {own, other, owners[0]}
    end(cluster, team, member, how)
    seen = keys_seen(key)
    if how == "lowered":
        assert {own, other} <= set(seen) and set(seen.values()) == {member.email}
    else:
        assert set(seen) == {own}
        key.problem("POST", f"/account/api-keys/{other}/revoke", 404, "not_found")
    assert persons_of_sessions(key) == []
    refuse_others(key, *owners)
    key.problem("POST", "/account/delete", 403, "forbidden", {"confirm": True, "name": team.email})
    key.get(f"/account/api-keys/{own}/usage", expect=200)
    assert key.post(f"/account/api-keys/{own}/revoke", expect=200).json()["status"] == "revoked"


def test_one_of_nobody_is_shown_itself_alone(cluster, team, owners):
    own, key = automation_of(team, SCOPES)
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_person(db, own)
    assert keys_seen(key) == {own: None} and persons_of_sessions(key) == []
    refuse_others(key, *owners)
    key.problem("PATCH", "/team", 403, "forbidden", {"name": "mine"})
    key.problem("POST", "/account/delete", 403, "forbidden", {"confirm": True})


def invite(api, email, role):
    return api.post("/team/invitations", {"email": email, "role": role}, expect=201).json()


def open_invitations(api):
    return {one["email"] for one in api.get("/team", expect=200).json()["invitations"]}


@pytest.mark.parametrize("how", ["lowered", "removed", "disabled"])
def test_the_invitations_of_one_are_its_makers(cluster, team, how):
    """A person could come back by one that they have sent to another address of theirs."""
    member, invited = add_member(cluster, team.account, "admin"), cluster.user()
    _, key = automation_of(member, SCOPES)
    invitation = invite(key, invited.email, "admin")
    invite(team.api, "of.the.owner@example.org", "member")
    end(cluster, team, member, how)
    assert open_invitations(team.api) == {"of.the.owner@example.org"}
    token = invitation["url"].partition("#")[2]
    Browser(cluster.gateway_url, invited.key).call("POST", "/team/invitations/accept", {"token": token}, expect=404)


def test_the_invitations_of_a_key_of_nobody_are_the_founders(cluster, team):
    other = add_member(cluster, team.account, "owner")
    key = team.api.post("/account/api-keys", {"name": "old"}, expect=201).json()
    founder = team.api.get("/team", expect=200).json()["you"]["person_id"]
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_person(db, key["id"])
    invite(team.api.as_key(key["key"]), "somebody@example.org", "admin")
    assert open_invitations(other.api) == {"somebody@example.org"}
    other.api.delete(f"/team/members/{founder}", expect=200)
    assert open_invitations(other.api) == set()
