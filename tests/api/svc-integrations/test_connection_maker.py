"""What a connection acts with are the rights of who made it at the provider: it ends with their place in the account."""

import pytest

from lib.scenario.connections import TOKEN, begin, whoami
from lib.outside.counterparts import connect
from lib.scenario.team import ENDS, add_member, be_disabled, be_removed, leave
from lib.tables import gateway as gateway_tables
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

CALLBACK = "/integrations/tracker_b/callback"


@pytest.fixture
def admin(cluster, user):
    """A member of the user's account who may connect."""
    return add_member(cluster, user.account, "admin")


@pytest.fixture
def token(admin, oauth_provider, login):
    """Of a connection that the admin made."""
    connect(admin.api, "tracker_b", login)
    made = admin.api.get(TOKEN, expect=200).json()["access_token"]
    assert whoami(oauth_provider, made) == 200
    return made


def connected(api):
    return {connection["provider"] for connection in api.get("/integrations/connections", expect=200).json()}


def items(api):
    return api.get("/fleet/agents/inbox?kind=connection_gone", expect=200).json()


def wait_ended(api, oauth_provider, token):
    wait_for(lambda: "tracker_b" not in connected(api), "the connection has ended")
    wait_for(lambda: whoami(oauth_provider, token) == 401, "the token is revoked")


@pytest.mark.parametrize("end", ENDS)
def test_connections_end_with_who_made_them(cluster, user, admin, oauth_provider, code_host, login, token, end):
    connect(user.api, "code_host", code_host.user().login)
    end(cluster, user, admin)
    wait_ended(user.api, oauth_provider, token)
    assert connected(user.api) == {"code_host"}
    (item,) = wait_for(lambda: items(user.api), "the inbox says so")
    assert (item["severity"], item["repo"], item["href"]) == ("critical", None, "/console/connect")
    assert f"tracker_b as {login} ended" in item["title"]
    status = "member" if end is be_disabled else "former"
    assert item["person"] == {"person_id": admin.person, "email": admin.email, "name": None, "status": status}
    connect(user.api, "tracker_b", f"{login}-2")
    wait_for(lambda: items(user.api) == [], "there is a connection again")


def test_who_deletes_their_own_account_has_left_no_connection(cluster, user, oauth_provider, login):
    """A deleted person is a member of nothing any more: what they made elsewhere ended when they left there."""
    own = cluster.user()
    there = add_member(cluster, user.account, "admin", own.email)
    connect(there.api, "tracker_b", login)
    connect(own.api, "tracker_b", f"{login}-2")
    tokens = [api.get(TOKEN, expect=200).json()["access_token"] for api in (there.api, own.api)]
    there.api.delete(f"/team/members/{there.person}", expect=200)
    own.api.post("/account/delete", {"confirm": True}, expect=200)
    for token in tokens:
        wait_for(lambda token=token: whoami(oauth_provider, token) == 401, "the token is revoked")
    assert connected(user.api) == set()


def test_a_connection_ends_with_its_maker_whose_key_is_long_gone(cluster, user, admin, oauth_provider, token, forget_key):
    forget_key(admin.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"])
    be_removed(cluster, user, admin)
    wait_ended(user.api, oauth_provider, token)


def test_a_connection_ends_with_the_founder_whose_key_is_of_nobody(cluster, user, oauth_provider, login):
    """Such keys are of a version without persons."""
    owner = add_member(cluster, user.account, "owner")
    connect(user.api, "tracker_b", login)
    token = user.api.get(TOKEN, expect=200).json()["access_token"]
    founder = user.api.get("/team", expect=200).json()["you"]["person_id"]
    with cluster.postgres.connect("account") as db:
        for key in user.api.get("/account/api-keys", expect=200).json()["keys"]:
            if key["person"]["email"] == user.email:
                gateway_tables.forget_person(db, key["id"])
    owner.api.delete(f"/team/members/{founder}", expect=200)
    wait_ended(owner.api, oauth_provider, token)


def test_what_others_replaced_stays(cluster, user, admin, oauth_provider, login, token, code_host):
    connect(user.api, "tracker_b", f"{login}-2")
    leave(cluster, user, admin)
    marker = add_member(cluster, user.account, "admin")
    connect(marker.api, "tracker_a", code_host.tracker_user())
    leave(cluster, user, marker)
    wait_for(lambda: "tracker_a" not in connected(user.api), "the later event is applied")
    assert connected(user.api) == {"tracker_b"}


def test_what_an_agent_connected_stays(cluster, user, admin, oauth_provider, login, code_host):
    """An agent must not stop because a person left."""
    key = admin.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": ["integrations:read", "integrations:write"]}, expect=201)
    connect(admin.api.as_key(key.json()["key"]), "tracker_b", login)
    connect(admin.api, "tracker_a", code_host.tracker_user())
    leave(cluster, user, admin)
    wait_for(lambda: "tracker_a" not in connected(user.api), "the event is applied")
    assert connected(user.api) == {"tracker_b"}


def test_what_nobody_noted_is_the_founders(cluster, user, admin, db, oauth_provider, login, code_host):
    """The release before has no members, and notes nobody."""
    owner = add_member(cluster, user.account, "owner")
    made = connect(user.api, "tracker_b", login)
    integrations_tables.forget_maker(db, made["id"])
    token = user.api.get(TOKEN, expect=200).json()["access_token"]
    connect(admin.api, "tracker_a", code_host.tracker_user())
    leave(cluster, user, admin)
    wait_for(lambda: "tracker_a" not in connected(owner.api), "the event is applied")
    assert connected(owner.api) == {"tracker_b"}
    founder = user.api.get("/team", expect=200).json()["you"]["person_id"]
    owner.api.delete(f"/team/members/{founder}", expect=200)
    wait_ended(owner.api, oauth_provider, token)


def test_who_is_removed_while_connecting_connects_nothing(user, admin, db, oauth_provider, login):
    body = begin(admin.api, login=login)
    key = admin.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]
    integrations_tables.end_maker(db, user.account, admin.person, [key])
    after = oauth_provider.last_number()
    admin.api.problem("POST", CALLBACK, 403, "forbidden", body)
    assert connected(user.api) == set()
    wait_for(lambda: oauth_provider.requests(after, "POST", "^/token/revocation"), "the tokens are revoked")


def test_it_ends_though_processes_are_killed(cluster, user, admin, db, oauth_provider, token):
    """Killed before the event arrives, and again while it is applied."""
    try:
        cluster.kill9("svc-integrations")
        be_removed(cluster, user, admin)
        with cluster.postgres.connect("integrations") as holder:
            holder.autocommit = False
            (made,) = integrations_tables.connections_of(holder, user.account)
            integrations_tables.lock_connection(holder, made)
            cluster.start("svc-integrations")
            wait_for(lambda: integrations_tables.maker_waits(db), "the event waits for the connection")
            cluster.kill9("svc-integrations")
    finally:
        cluster.recover()
    wait_ended(user.api, oauth_provider, token)
    wait_for(lambda: items(user.api), "the inbox says so")
