"""What is sent to an endpoint leaves the account by the choice of who set it up: it ends with their place there."""

import pytest

from lib.outside.receiver import Receiver, Sender, webhook
from lib.scenario.team import ENDS, add_member, be_removed
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

WEBHOOKS = "/webhooks"
REASON = "who set it up is no member any more"


@pytest.fixture
def admin(cluster, user):
    """A member of the user's account who may set up endpoints."""
    return add_member(cluster, user.account, "admin")


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


def states(api):
    """{name: (status, why it is disabled)}"""
    return {one["name"]: (one["status"], one["disabled_reason"]) for one in api.get(WEBHOOKS, expect=200).json()}


def items(api):
    return {one["title"] for one in api.get("/fleet/agents/inbox?kind=endpoint_disabled", expect=200).json()}


@pytest.mark.parametrize("end", ENDS)
def test_endpoints_end_with_who_made_them(cluster, user, admin, receiver, end):
    webhook(user.api, receiver.url, name="of the owner")
    webhook(admin.api, receiver.url, name="active")
    paused = webhook(admin.api, receiver.url, name="paused")
    admin.api.patch(f"{WEBHOOKS}/{paused['id']}", {"status": "paused"}, expect=200)
    private = admin.api.post(WEBHOOKS, {"kind": "email", "email": "m@example.org", "events": ["*"], "name": "mail"}, expect=201).json()
    assert private["status"] == "unconfirmed"
    end(cluster, user, admin)
    gone = {name: ("disabled", REASON) for name in ("active", "paused")}  # an address that has not agreed is forgotten
    wait_for(lambda: states(user.api) == {"of the owner": ("active", None), **gone}, "they are disabled")
    wait_for(lambda: items(user.api) == {f"Nothing more is sent to {name}: {REASON}" for name in gone}, "the inbox says so")


def test_nothing_is_sent_to_one_until_somebody_sets_it_active(cluster, user, admin, receiver):
    """Then it is theirs, also when the gateway tells twice that its maker has left."""
    made, sender = webhook(admin.api, receiver.url, name="shared", events=["test.ping"]), Sender(cluster, user.account)
    key = admin.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]
    be_removed(cluster, user, admin)
    wait_for(lambda: states(user.api) == {"shared": ("disabled", REASON)}, "it is disabled")
    with Receiver() as another:
        webhook(user.api, another.url, name="another", events=["test.ping"])
        sender.send({"n": 1})
        another.wait(1)
    assert user.api.patch(f"{WEBHOOKS}/{made['id']}", {"status": "active"}, expect=200).json()["disabled_reason"] is None
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.end_maker(db, user.account, admin.person, [key])
    sender.send({"n": 2})
    (body,) = receiver.wait(1)
    assert body["data"] == {"n": 2} and states(user.api)["shared"] == ("active", None)
    wait_for(lambda: items(user.api) == set())


def test_one_is_of_who_gave_it_its_address(cluster, user, admin, receiver):
    mine, theirs, named = (webhook(api, receiver.url, name=name)
                           for api, name in ((user.api, "mine"), (admin.api, "theirs"), (user.api, "named")))
    admin.api.patch(f"{WEBHOOKS}/{mine['id']}", {"url": receiver.url + "/other"}, expect=200)
    user.api.patch(f"{WEBHOOKS}/{theirs['id']}", {"url": receiver.url + "/other"}, expect=200)
    admin.api.patch(f"{WEBHOOKS}/{named['id']}", {"name": "renamed", "url": named["url"]}, expect=200)
    be_removed(cluster, user, admin)
    wait_for(lambda: states(user.api) == {"mine": ("disabled", REASON), "theirs": ("active", None), "renamed": ("active", None)})


def test_what_an_agent_set_up_stays(cluster, user, admin, receiver):
    body = {"name": "agent", "kind": "automation", "scopes": ["webhooks:read", "webhooks:write"]}
    agent = admin.api.as_key(admin.api.post("/account/api-keys", body, expect=201).json()["key"])
    webhook(agent, receiver.url, name="of the agent")
    webhook(admin.api, receiver.url, name="own")
    be_removed(cluster, user, admin)
    wait_for(lambda: states(user.api) == {"of the agent": ("active", None), "own": ("disabled", REASON)})


def test_what_nobody_noted_is_the_founders(cluster, user, admin, receiver):
    """The release before has no members, and notes nobody."""
    owner = add_member(cluster, user.account, "owner")
    old = webhook(user.api, receiver.url, name="old")
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.forget_endpoint_maker(db, old["id"])
    webhook(admin.api, receiver.url, name="own")
    be_removed(cluster, user, admin)
    wait_for(lambda: states(owner.api) == {"old": ("active", None), "own": ("disabled", REASON)})
    founder = user.api.get("/team", expect=200).json()["you"]["person_id"]
    owner.api.delete(f"/team/members/{founder}", expect=200)
    wait_for(lambda: states(owner.api) == {name: ("disabled", REASON) for name in ("old", "own")})


def test_who_is_removed_meanwhile_sets_up_nothing(cluster, user, admin, receiver):
    """A gateway accepts a key for a second after it was revoked elsewhere."""
    made = webhook(user.api, receiver.url, name="of the owner")
    key = admin.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.end_maker(db, user.account, admin.person, [key])
    body = {"kind": "webhook", "url": receiver.url, "events": ["*"]}
    admin.api.problem("POST", WEBHOOKS, 403, "forbidden", body)
    admin.api.problem("PATCH", f"{WEBHOOKS}/{made['id']}", 403, "forbidden", {"url": receiver.url + "/other"})
    assert states(user.api) == {"of the owner": ("active", None)}
