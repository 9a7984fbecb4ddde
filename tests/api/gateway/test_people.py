"""Who has done something: persons by their id, or by the key with which they acted, also after they have left."""

import uuid

import pytest

from lib.http.client import Api
from lib.scenario.team import add_member
from lib.tables import gateway as gateway_tables


@pytest.fixture
def member(cluster, user):
    return add_member(cluster, user.account, "member")


def named(api, *ids):
    """{id: what is said of it without the id}"""
    people = api.get(f"/team/people?ids={','.join(ids)}", expect=200).json()
    assert [one["id"] for one in people] == sorted(one["id"] for one in people)
    return {one.pop("id"): one for one in people}


def key_of(member):
    return member.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]


def test_a_change_of_an_experiment_leads_to_who_made_it(user, member):
    made = member.api.post("/experiments", {"name": "e"}, expect=201).json()
    member.api.put(f"/experiments/{made['id']}", {"status": "running"}, expect=200)
    user.api.delete(f"/team/members/{member.person}", expect=200)
    (change,) = user.api.get(f"/experiments/{made['id']}", expect=200).json()["history"]
    former = {"person_id": member.person, "email": member.email, "name": None, "status": "former"}
    assert named(user.api, change["by"]) == {change["by"]: former}


def test_members_and_former_ones_are_named(cluster, user, member):
    key = key_of(member)
    here = {"person_id": member.person, "email": member.email, "name": None, "status": "member"}
    assert named(user.api, key, member.person) == {key: here, member.person: here}
    assert named(member.api, key) == {key: here}
    user.api.delete(f"/team/members/{member.person}", expect=200)
    assert named(user.api, key, member.person) == {key: {**here, "status": "former"}, member.person: {**here, "status": "former"}}
    add_member(cluster, user.account, "viewer", member.email)
    assert named(user.api, member.person) == {member.person: here}


def test_a_key_that_was_deleted_leads_to_whose_it_was(cluster, user, member, forget_key):
    key = key_of(member)
    forget_key(key)
    assert named(user.api, key)[key]["person_id"] == member.person
    own = user.api.post("/account/api-keys", {"name": "old"}, expect=201).json()["id"]
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_person(db, own)
    forget_key(own)
    assert named(user.api, own)[own]["email"] == user.email


def test_of_a_deleted_person_nothing_is_said(cluster, user):
    own = cluster.user()
    there = add_member(cluster, user.account, "member", own.email)
    key = key_of(there)
    user.api.delete(f"/team/members/{there.person}", expect=200)
    own.api.post("/account/delete", {"confirm": True}, expect=200)
    gone = {"person_id": there.person, "email": None, "name": None, "status": "deleted"}
    assert named(user.api, key, there.person) == {key: gone, there.person: gone}


def test_others_and_agents_are_left_out(user, other_user, member):
    agent = member.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": ["search:read"]}, expect=201).json()["id"]
    stranger = other_user.api.get("/team", expect=200).json()["you"]["person_id"]
    assert named(user.api, stranger, agent, user.account, str(uuid.uuid4())) == {}
    assert named(other_user.api, member.person, key_of(member)) == {}


def test_a_key_of_nobody_is_that_of_whose_account_it_is(cluster, user):
    """As the release before makes them."""
    key = user.api.post("/account/api-keys", {"name": "old"}, expect=201).json()["id"]
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_person(db, key)
    assert named(user.api, key)[key]["email"] == user.email


def test_ids_may_be_repeated(user, member):
    answer = user.api.get(f"/team/people?ids={member.person}&ids={key_of(member)},{member.person}", expect=200).json()
    assert {one["person_id"] for one in answer} == {member.person} and len(answer) == 2


NIL = str(uuid.UUID(int=0))


@pytest.mark.parametrize("ids", ["", "a", f"{NIL},", f"{NIL} ", ",".join([NIL] * 101)], ids=["empty", "no id", "a comma", "a space", "101"])
def test_what_are_no_ids_is_refused(user, ids):
    problem = user.api.problem("GET", f"/team/people?ids={ids}", 400, "invalid_request")
    assert [each["field"] for each in problem["errors"]] == ["ids"]


def test_a_key_without_the_scope_is_refused(user):
    key = user.api.post("/account/api-keys", {"name": "k", "scopes": ["search:read"]}, expect=201).json()["key"]
    Api(user.api.url, key).problem("GET", f"/team/people?ids={uuid.uuid4()}", 403, "insufficient_scope")
