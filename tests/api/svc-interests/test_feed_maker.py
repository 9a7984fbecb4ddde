"""Who made a feed knows its address, which needs no key: it ends with their place in the account."""

import pytest

from lib.http import plain_http
from lib.scenario.team import ENDS, add_member, be_removed
from lib.tables import interests as interests_tables
from lib.wait import wait_for

FEEDS = "/papers/recommended/feeds"


@pytest.fixture
def member(cluster, user):
    return add_member(cluster, user.account, "member")


def make(api):
    return api.post(FEEDS, {}, expect=201).json()


def listed(api):
    return {feed["id"] for feed in api.get(FEEDS, expect=200).json()}


@pytest.mark.parametrize("end", ENDS)
def test_feeds_end_with_who_made_them(cluster, user, member, end):
    of_owner, of_member, another = make(user.api), make(member.api), make(member.api)
    assert plain_http.get(of_member["url"]).status_code == 200
    end(cluster, user, member)
    wait_for(lambda: listed(user.api) == {of_owner["id"]}, "those of the member are deleted")
    assert [plain_http.get(feed["url"]).status_code for feed in (of_owner, of_member, another)] == [200, 404, 404]


def test_what_an_agent_made_stays(cluster, user, member):
    body = {"name": "agent", "kind": "automation", "scopes": ["recommendations:read", "recommendations:write"]}
    agent = member.api.as_key(member.api.post("/account/api-keys", body, expect=201).json()["key"])
    of_agent, own = make(agent), make(member.api)
    assert listed(user.api) == {of_agent["id"], own["id"]}
    be_removed(cluster, user, member)
    wait_for(lambda: listed(user.api) == {of_agent["id"]})


def test_what_nobody_noted_is_the_founders(cluster, user, member):
    """Of a version that does not note who makes a feed."""
    owner = add_member(cluster, user.account, "owner")
    old, own = make(user.api), make(member.api)
    with cluster.postgres.connect("interests") as db:
        interests_tables.forget_feed_maker(db, old["id"])
    be_removed(cluster, user, member)
    wait_for(lambda: listed(owner.api) == {old["id"]})
    assert plain_http.get(own["url"]).status_code == 404
    founder = user.api.get("/team", expect=200).json()["you"]["person_id"]
    owner.api.delete(f"/team/members/{founder}", expect=200)
    wait_for(lambda: listed(owner.api) == set())


def test_who_is_removed_meanwhile_makes_none(cluster, user, member):
    """A gateway accepts a key for a second after it was revoked elsewhere."""
    key = member.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]
    with cluster.postgres.connect("interests") as db:
        interests_tables.end_feed_maker(db, user.account, member.person, [key])
    member.api.problem("POST", FEEDS, 403, "forbidden", {})
    assert listed(user.api) == set()
    assert make(user.api)["id"] in listed(user.api)
