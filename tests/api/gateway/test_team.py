"""Teams: members, invitations, the accounts of a person, and what a removed member loses."""

import json
import secrets
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.http.browser import SAME_ORIGIN, Browser
from lib.http.client import Api
from lib.scenario.team import add_member, members
from lib.tables import common
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for


@pytest.fixture
def team(cluster):
    """An account of an owner."""
    return cluster.user()


def person_of(api):
    return api.get("/team", expect=200).json()["you"]["person_id"]


def invite(api, email, role="member"):
    return api.post("/team/invitations", {"email": email, "role": role}, expect=201).json()


def token_of(invitation):
    return invitation["url"].partition("#")[2]


def accept(browser, invitation, expect=200):
    return browser.call("POST", "/team/invitations/accept", {"token": token_of(invitation)}, expect=expect)


# ---- persons ----


def test_an_account_of_one_person_has_it_as_its_owner(team):
    shown = team.api.get("/team", expect=200).json()
    assert shown["account"]["id"] == team.account and shown["account"]["name"] == team.email
    assert (shown["you"]["email"], shown["you"]["role"]) == (team.email, "owner")
    assert [member["person_id"] for member in shown["members"]] == [shown["you"]["person_id"]]
    assert shown["members"][0]["last_seen_at"] and shown["invitations"] == []


def test_a_key_is_its_makers(team):
    made = team.api.post("/account/api-keys", {"name": "second"}, expect=201).json()
    assert made["person"] == {"id": person_of(team.api), "email": team.email, "name": None}
    automation = team.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": ["team:read"]}, expect=201).json()
    assert automation["person"] == made["person"]
    assert team.api.as_key(automation["key"]).get("/team", expect=200).json()["you"] is None


def test_create_user_twice_makes_one_person(cluster, anonymous):
    email = f"Ada.{secrets.token_hex(6)}@example.org"
    keys = [cluster.create_user(email=address) for address in (email, email.lower())]
    assert len({person_of(anonymous.as_key(key)) for key in keys}) == 1


def test_a_deleted_account_takes_its_persons_but_those_with_another(cluster, team):
    both = cluster.user()
    alone = add_member(cluster, team.account, "member")
    add_member(cluster, team.account, "admin", both.email)
    team.api.post("/account/delete", {"confirm": True, "name": team.email}, expect=200)
    with cluster.postgres.connect("account") as db:
        assert [gateway_tables.persons(db, one) for one in (team.email, alone.email, both.email)] == [0, 0, 1]
    assert members(both.api) == {both.email: "owner"}


def test_a_key_of_an_account_that_was_just_deleted_sees_no_team(cluster, anonymous):
    """The gateway knows the key for some tenths of a second more."""
    for _ in range(3):
        user = cluster.user()
        user.api.get("/team", expect=200)
        with cluster.postgres.connect("account") as db:
            gateway_tables.drop_account(db, user.account)
        for method, path, body in (("GET", "/team", None), ("PATCH", "/team", {"name": "x"})):
            assert user.api.request(method, path, body, checked=False).status_code in (401, 403, 404)
    anonymous.get("/openapi.json", expect=200)


def test_a_founder_who_was_removed_gets_no_key_by_create_user(cluster):
    founder = cluster.user()
    other = add_member(cluster, founder.account, "owner")
    other.api.delete(f"/team/members/{person_of(founder.api)}", expect=200)
    with pytest.raises(RuntimeError, match="add-member"):
        cluster.create_user(email=founder.email)
    assert set(members(other.api)) == {other.email}


# ---- members ----


def test_the_team_is_renamed(team):
    assert team.api.patch("/team", {"name": " Ranking "}, expect=200).json()["account"]["name"] == "Ranking"
    assert [account["name"] for account in team.api.get("/accounts", expect=200).json()] == ["Ranking"]
    team.api.problem("PATCH", "/team", 400, "invalid_request", {"name": ""})


def test_a_role_is_changed_and_acts_at_once(cluster, team):
    member = add_member(cluster, team.account, "admin")
    member.api.get("/webhooks", expect=200)
    changed = team.api.patch(f"/team/members/{member.person}", {"role": "viewer"}, expect=200).json()
    assert (changed["email"], changed["role"]) == (member.email, "viewer")
    assert member.api.problem("GET", "/webhooks", 403, "insufficient_scope")["scope"] == "webhooks:read"
    member.api.get("/interests", expect=200)
    team.api.problem("PATCH", f"/team/members/{member.person}", 400, "invalid_request", {"role": "none"})
    team.api.problem("PATCH", f"/team/members/{uuid.uuid4()}", 404, "not_found", {"role": "viewer"})


def test_only_an_owner_touches_owners(cluster, team):
    admin, other = (add_member(cluster, team.account, role) for role in ("admin", "member"))
    owner = person_of(team.api)
    admin.api.problem("PATCH", f"/team/members/{other.person}", 403, "forbidden", {"role": "owner"})
    admin.api.problem("PATCH", f"/team/members/{owner}", 403, "forbidden", {"role": "viewer"})
    admin.api.problem("DELETE", f"/team/members/{owner}", 403, "forbidden")
    admin.api.problem("POST", "/team/invitations", 403, "forbidden", {"email": "a@example.org", "role": "owner"})
    admin.api.patch(f"/team/members/{other.person}", {"role": "viewer"}, expect=200)
    team.api.patch(f"/team/members/{other.person}", {"role": "owner"}, expect=200)


def test_the_last_owner_stays(cluster, team):
    admin = add_member(cluster, team.account, "admin")
    owner = person_of(team.api)
    for method, body in (("PATCH", {"role": "admin"}), ("DELETE", None)):
        team.api.problem(method, f"/team/members/{owner}", 409, "last_owner", body)
    team.api.patch(f"/team/members/{admin.person}", {"role": "owner"}, expect=200)
    team.api.delete(f"/team/members/{owner}", expect=200)
    assert members(admin.api) == {admin.email: "owner"}


def test_two_owners_cannot_remove_each_other(cluster, team):
    other = add_member(cluster, team.account, "owner")
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda pair: pair[0].delete(f"/team/members/{pair[1]}").status_code,
                                [(team.api, other.person), (other.api, person_of(team.api))]))
    assert answers.count(200) == 1
    left = team.api if answers[0] == 200 else other.api
    assert list(members(left).values()) == ["owner"]


def test_everybody_may_leave_and_nobody_else_is_removed_without_the_scope(cluster, team):
    viewer, member = (add_member(cluster, team.account, role) for role in ("viewer", "member"))
    problem = viewer.api.problem("DELETE", f"/team/members/{member.person}", 403, "insufficient_scope")
    assert problem["scope"] == "team:write"
    assert viewer.api.delete(f"/team/members/{viewer.person}", expect=200).json() == {"id": viewer.person, "deleted": True}
    viewer.api.problem("GET", "/team", 401, "invalid_token")
    assert set(members(team.api)) == {team.email, member.email}


def test_a_removed_member_loses_keys_and_sessions_of_the_account_only(cluster, team):
    person = cluster.user()
    member = add_member(cluster, team.account, "admin", person.email)
    automation = member.api.post("/account/api-keys", {"name": "agent", "kind": "automation"}, expect=201).json()
    browser = Browser(cluster.gateway_url, member.api.key)
    switched = Browser(cluster.gateway_url, person.key)
    switched.call("POST", "/session/switch", {"account_id": team.account}, expect=200)
    invitation = invite(member.api, "somebody@example.org")
    team.api.delete(f"/team/members/{member.person}", expect=200)
    member.api.problem("GET", "/interests", 401, "invalid_token")
    for one in (browser, switched):
        assert one.call("GET", "/interests").status_code == 401
        assert one.call("GET", "/session").status_code == 401
    team.api.as_key(automation["key"]).get("/interests", expect=200)
    person.api.get("/interests", expect=200)
    assert invitation["id"] not in [one["id"] for one in team.api.get("/team").json()["invitations"]]
    shown = [key for key in team.api.get("/account/api-keys?limit=100").json()["keys"] if (key["person"] or {}).get("email") == person.email]
    assert {key["kind"]: key["status"] for key in shown} == {"personal": "revoked", "automation": "active"}
    with cluster.postgres.connect("account") as db:
        assert "member.removed" in [event.type for event in common.outbox(db, person_id=member.person)]


def test_a_removed_member_is_refused_by_every_replica_under_load(cluster, start_gateway, team):
    """As soon as the other replica has refused one request, it accepts none."""
    member = add_member(cluster, team.account, "member")
    with start_gateway() as second:
        apis = [Api(url, member.api.key) for url in (cluster.gateway_url, second.url) for _ in range(4)]
        with ThreadPoolExecutor(len(apis)) as pool:
            ended = [pool.submit(wait_for, lambda api=api: api.get("/account/api-keys").status_code == 401, "it is refused")
                     for api in apis]
            for api in apis:
                assert api.get("/search/stats").status_code in (200, 401)
            team.api.delete(f"/team/members/{member.person}", expect=200)
            first = Api(second.url, member.api.key)
            wait_for(lambda: first.get("/account/api-keys").status_code == 401, "the other replica has heard of it")
            after = [Api(api.url, member.api.key).get("/account/api-keys").status_code for api in apis]
            for one in ended:
                one.result()
    assert set(after) == {401}


def test_a_disabled_person_is_refused_until_that_is_undone(cluster, team):
    person = cluster.user()
    member = add_member(cluster, team.account, "admin", person.email)
    browser = Browser(cluster.gateway_url, person.key)
    assert cluster.run("gateway", "disable-person", "--email", person.email) == f"{person.email} disabled\n"
    for api in (person.api, member.api):
        wait_for(lambda api=api: api.get("/interests").status_code == 401, "the key is refused")
    cluster.run("gateway", "disable-person", "--email", person.email, "--undo")
    person.api.get("/interests", expect=200)
    assert browser.call("GET", "/session").status_code == 401, "a session from before"
    assert Browser(cluster.gateway_url, person.key).call("GET", "/session").status_code == 200


def test_a_person_who_is_being_disabled_leaves_no_invitation(cluster, team):
    """Gateways know the key for a moment longer."""
    member = add_member(cluster, team.account, "admin")

    def invite_on():
        for number in range(1000):
            status = member.api.post("/team/invitations", {"email": f"other-{number}@example.org", "role": "admin"}).status_code
            if status == 401:
                return number
        raise AssertionError("the key is not refused")

    with ThreadPoolExecutor(1) as pool:
        last = pool.submit(invite_on)
        wait_for(lambda: team.api.get("/team", expect=200).json()["invitations"], "there are invitations")
        cluster.run("gateway", "disable-person", "--email", member.email)
        assert last.result() > 0
    assert team.api.get("/team", expect=200).json()["invitations"] == []


def test_commands_log_who_was_changed(cluster, team):
    """What has to be repeated after a restore is in the log with these ids."""
    member = add_member(cluster, team.account, "admin")
    arguments = ["--account", team.account, "--email", member.email, "--role", "viewer"]
    changed = {"message": "role changed", "account_id": team.account, "person_id": member.person, "role": "viewer"}
    assert cluster.run_logged("gateway", "add-member", *arguments, LOG_LEVEL="error") == [changed]
    for options, message in (([], "person disabled"), (["--undo"], "person enabled")):
        assert cluster.run_logged("gateway", "disable-person", "--email", member.email, *options, LOG_LEVEL="error") == [
            {"message": message, "person_id": member.person}
        ]


def test_invitations_that_are_revoked_are_logged(cluster, team):
    """A restore opens them again."""
    made = invite(team.api, "somebody@example.org")["id"]
    team.api.delete(f"/team/invitations/{made}", expect=200)
    team.api.problem("DELETE", f"/team/invitations/{made}", 404, "not_found")
    logged = [json.loads(line) for line in cluster["gateway"][0].log().splitlines() if f'"invitation_id":"{made}"' in line]
    assert [one["message"] for one in logged] == ["invitation revoked"]


def test_members_who_are_changed_are_logged_with_their_account(cluster, team):
    member = add_member(cluster, team.account, "admin")
    team.api.patch(f"/team/members/{member.person}", {"role": "viewer"}, expect=200)
    team.api.delete(f"/team/members/{member.person}", expect=200)
    logged = [json.loads(line) for line in cluster["gateway"][0].log().splitlines() if f'"person_id":"{member.person}"' in line]
    assert [(one["message"], one["account_id"]) for one in logged] == [("role changed", team.account), ("member removed", team.account)]


def test_a_key_of_nobody_in_the_own_account_of_a_disabled_person_is_refused(cluster):
    """A version without persons made it."""
    person = cluster.user()
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_person(db, person.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"])
    browser = Browser(cluster.gateway_url, person.key)
    cluster.run("gateway", "disable-person", "--email", person.email)
    wait_for(lambda: person.api.get("/interests").status_code == 401, "the key is refused")
    cluster.run("gateway", "disable-person", "--email", person.email, "--undo")
    assert browser.call("GET", "/session").status_code == 401


COMMANDS = {
    "disable-person": lambda team, member, key: ["--email", member.email],
    "add-member": lambda team, member, key: ["--account", team.account, "--email", member.email, "--role", "viewer"],
    "revoke-keys": lambda team, member, key: [key],
    "delete-accounts": lambda team, member, key: [team.account],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_replicas_hear_of_a_command(cluster, start_gateway, team, command):
    """They would use what they have looked up for a minute else."""
    member = add_member(cluster, team.account, "admin")
    key = member.api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]
    with start_gateway() as second:
        api = Api(second.url, member.api.key)
        api.get("/account/audit", expect=200)
        cluster.run("gateway", command, *COMMANDS[command](team, member, key))
        refused = 403 if command == "add-member" else 401
        wait_for(lambda: api.get("/account/audit").status_code == refused, "the replica has heard of it", 60)


def test_a_command_needs_no_redis(cluster):
    person = cluster.user()
    person.api.get("/interests", expect=200)
    with pytest.raises(RuntimeError, match="nobody has"):
        cluster.run("gateway", "disable-person", "--email", "nobody@example.org", REDIS_URL="redis://127.0.0.1:1")
    assert "disabled" in cluster.run("gateway", "disable-person", "--email", person.email, REDIS_URL="redis://127.0.0.1:1")
    wait_for(lambda: person.api.get("/interests").status_code == 401, "the key is refused", 60)


@pytest.mark.parametrize("end", ["lowered", "removed", "disabled"])
def test_an_automation_key_changes_the_team_no_longer_than_its_maker_may(cluster, team, end):
    """Whoever leaves knows its text, and could let themselves in again."""
    maker, other = add_member(cluster, team.account, "admin"), add_member(cluster, team.account, "member")
    body = {"name": "directory", "kind": "automation", "scopes": ["team:read", "team:write", "account:write"]}
    key = team.api.as_key(maker.api.post("/account/api-keys", body, expect=201).json()["key"])
    open_invitation = invite(key, "first@example.org")
    key.patch(f"/team/members/{other.person}", {"role": "viewer"}, expect=200)
    if end == "lowered":
        team.api.patch(f"/team/members/{maker.person}", {"role": "member"}, expect=200)
    elif end == "removed":
        team.api.delete(f"/team/members/{maker.person}", expect=200)
    else:
        cluster.run("gateway", "disable-person", "--email", maker.email)
    for method, path, change in [
        ("POST", "/team/invitations", {"email": maker.email, "role": "admin"}),
        ("DELETE", f"/team/invitations/{open_invitation['id']}", None),
        ("PATCH", f"/team/members/{other.person}", {"role": "admin"}),
        ("DELETE", f"/team/members/{other.person}", None),
        ("PATCH", "/team", {"name": "mine"}),
    ]:
        key.problem(method, path, 403, "forbidden", change)
    assert key.get("/team", expect=200).json()["invitations"] == []
    assert members(team.api)[other.email] == "viewer"
    refused = lambda: [one for one in team.api.get("/account/audit", expect=200).json() if one["outcome"] == "refused"]  # noqa: E731
    wait_for(lambda: len(refused()) == 5, "the refusals are in the audit log")


def test_the_automation_keys_of_a_lowered_and_removed_member_keep_their_own_scopes(cluster, team):
    """An agent must not stop because a person left; who made its key stays known, and the account revokes it."""
    member = add_member(cluster, team.account, "admin")
    made = member.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": ["webhooks:read"]}, expect=201).json()
    agent = team.api.as_key(made["key"])

    def has_its_scopes():
        agent.get("/webhooks", expect=200)
        assert agent.problem("GET", "/account/audit", 403, "insufficient_scope")["scope"] == "audit:read"

    has_its_scopes()
    team.api.patch(f"/team/members/{member.person}", {"role": "viewer"}, expect=200)
    member.api.problem("GET", "/webhooks", 403, "insufficient_scope")
    has_its_scopes()
    team.api.delete(f"/team/members/{member.person}", expect=200)
    member.api.problem("GET", "/webhooks", 401, "invalid_token")
    has_its_scopes()
    (entry,) = team.api.get(f"/account/audit?target={made['id']}", expect=200).json()
    assert (entry["action"], entry["actor"]["person_id"]) == ("key.created", member.person)
    team.api.post(f"/account/api-keys/{made['id']}/revoke", expect=200)
    agent.problem("GET", "/webhooks", 401, "invalid_token")


def load(api, path, ended):
    """Ask without a pause until `ended` of the times and statuses so far: [(when it began, status)]."""
    asked = []
    while not ended(asked):
        began = time.monotonic()
        asked.append((began, api.get(path).status_code))
    return asked


@pytest.mark.parametrize("change", ["removed", "lowered"])
def test_no_request_that_begins_a_second_after_the_answer_is_accepted(cluster, start_gateway, team, change):
    member = add_member(cluster, team.account, "admin")
    path, answered = f"/team/members/{member.person}", []

    def ended(asked):
        return answered and len([began for began, _ in asked if began > answered[0] + 1]) >= 5

    with start_gateway() as second, ThreadPoolExecutor(6) as pool:
        urls = [cluster.gateway_url, second.url] * 3
        running = [pool.submit(load, Api(url, member.api.key), "/webhooks", ended) for url in urls]
        try:
            for url in urls[:2]:
                Api(url, member.api.key).get("/webhooks", expect=200)
            if change == "removed":
                team.api.delete(path, expect=200)
            else:
                team.api.patch(path, {"role": "viewer"}, expect=200)
        finally:
            answered.append(time.monotonic())
        asked = [each for one in running for each in one.result()]
    assert 200 in {status for began, status in asked if began < answered[0]}
    late = {status for began, status in asked if began > answered[0] + 1}
    assert late == {401 if change == "removed" else 403}


# ---- invitations ----


def test_an_invitation_makes_a_member(cluster, team):
    invited = cluster.user()
    invitation = invite(team.api, invited.email.upper(), "viewer")
    assert invitation["url"].startswith("/console/join#")
    shown = team.api.get("/team").json()["invitations"]
    assert [(one["id"], one["role"]) for one in shown] == [(invitation["id"], "viewer")] and "url" not in shown[0]
    browser = Browser(cluster.gateway_url, invited.key)
    assert accept(browser, invitation).json()["id"] == team.account
    assert members(team.api)[invited.email] == "viewer" and team.api.get("/team").json()["invitations"] == []
    accept(browser, invitation, expect=404)
    team.api.problem("POST", "/team/invitations", 409, "conflict", {"email": invited.email, "role": "admin"})


def test_an_invitation_is_for_one_address_that_is_known_to_be_theirs(cluster, team, other_user):
    invited = cluster.user()
    invitation = invite(team.api, invited.email)
    refused = accept(Browser(cluster.gateway_url, other_user.key), invitation, expect=403)
    assert refused.json()["error"] == "other_email"
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_proof(db, invited.email)
    accept(Browser(cluster.gateway_url, invited.key), invitation, expect=403)
    assert members(team.api) == {team.email: "owner"}


def test_only_an_open_invitation_is_accepted(cluster, team):
    invited = cluster.user()
    browser = Browser(cluster.gateway_url, invited.key)
    first = invite(team.api, invited.email)
    second = invite(team.api, invited.email, "admin")
    accept(browser, first, expect=404)
    team.api.delete(f"/team/invitations/{second['id']}", expect=200)
    team.api.problem("DELETE", f"/team/invitations/{second['id']}", 404, "not_found")
    accept(browser, second, expect=404)
    expired = invite(team.api, invited.email)
    with cluster.postgres.connect("account") as db:
        gateway_tables.expire_invitation(db, expired["id"])
    accept(browser, expired, expect=404)
    assert members(team.api) == {team.email: "owner"}


def test_only_a_page_of_this_address_accepts(cluster, team):
    invited = cluster.user()
    invitation = invite(team.api, invited.email)
    browser = Browser(cluster.gateway_url, invited.key)
    body, path = {"token": token_of(invitation)}, "/team/invitations/accept"
    assert browser.call("POST", path, body, headers={"Sec-Fetch-Site": "cross-site"}).json()["error"] == "cross_site"
    assert Browser(cluster.gateway_url).call("POST", path, body).status_code == 401
    assert browser.call("POST", path, body, headers=SAME_ORIGIN | {"Authorization": f"Bearer {invited.key}"}).status_code == 401


def test_at_most_50_invitations_are_open(team):
    made = [invite(team.api, f"somebody.{number}@example.org") for number in range(50)]
    team.api.problem("POST", "/team/invitations", 409, "too_many_invitations", {"email": "one@example.org", "role": "viewer"})
    invite(team.api, "somebody.7@example.org", "viewer")
    team.api.delete(f"/team/invitations/{made[0]['id']}", expect=200)
    invite(team.api, "one@example.org")


@pytest.mark.parametrize("email", ["nobody", "@example.org", "a@", "a b@example.org", "a@b@c", "a\n@example.org", "a@" + "b" * 260])
def test_what_is_no_address_is_not_invited(team, email):
    document = team.api.problem("POST", "/team/invitations", 400, "invalid_request", {"email": email, "role": "viewer"})
    assert document["errors"][0]["field"] == "email"


def open_invitations(api):
    return {one["email"] for one in api.get("/team", expect=200).json()["invitations"]}


def test_a_lowered_members_invitations_end_that_they_could_not_make_now(cluster, team):
    other = add_member(cluster, team.account, "owner")
    invite(other.api, "owner@example.org", "owner")
    invite(other.api, "member@example.org", "member")
    team.api.patch(f"/team/members/{other.person}", {"role": "admin"}, expect=200)
    assert open_invitations(team.api) == {"member@example.org"}
    team.api.patch(f"/team/members/{other.person}", {"role": "member"}, expect=200)
    assert open_invitations(team.api) == set()


def test_they_end_too_when_a_command_lowers_the_member(cluster, team):
    admin = add_member(cluster, team.account, "admin")
    invite(admin.api, "member@example.org", "member")
    cluster.run("gateway", "add-member", "--account", team.account, "--email", admin.email, "--role", "viewer")
    assert open_invitations(team.api) == set()


def test_a_disabled_persons_invitations_end(cluster, team):
    admin = add_member(cluster, team.account, "admin")
    invite(admin.api, "somebody@example.org")
    cluster.run("gateway", "disable-person", "--email", admin.email)
    assert open_invitations(team.api) == set()


def test_a_removed_member_has_no_invitation_left(cluster, team):
    email = f"{secrets.token_hex(6)}@example.org"
    invite(team.api, email, "admin")
    member = add_member(cluster, team.account, "viewer", email)
    team.api.delete(f"/team/members/{member.person}", expect=200)
    assert open_invitations(team.api) == set()


def test_of_a_deleted_persons_invitations_only_an_open_one_stays(cluster, team):
    person = cluster.user()
    team.api.delete(f"/team/invitations/{invite(team.api, person.email)['id']}", expect=200)
    accept(Browser(cluster.gateway_url, person.key), invite(team.api, person.email))
    members = team.api.get("/team", expect=200).json()["members"]
    (member,) = [one["person_id"] for one in members if one["email"] == person.email]
    team.api.delete(f"/team/members/{member}", expect=200)
    still_open = invite(team.api, person.email)["id"]
    with cluster.postgres.connect("account") as db:
        assert len(gateway_tables.invitations_of(db, person.email)) == 3
        person.api.post("/account/delete", {"confirm": True}, expect=200)
        assert gateway_tables.invitations_of(db, person.email) == [still_open]


def test_a_disabled_person_stays_so_without_an_account(cluster, team):
    """Who would be forgotten could log in at a provider as somebody new."""
    other = add_member(cluster, team.account, "owner")
    cluster.run("gateway", "disable-person", "--email", team.email)
    other.api.post("/account/delete", {"confirm": True, "name": team.email}, expect=200)
    with cluster.postgres.connect("account") as db:
        assert [gateway_tables.persons(db, one) for one in (team.email, other.email)] == [1, 0]


# ---- accounts of a person ----


def test_a_session_makes_an_account_and_shows_it(cluster, user):
    browser = Browser(cluster.gateway_url, user.key)
    made = browser.call("POST", "/accounts", {"name": "Ranking"}, expect=201).json()
    assert (made["name"], made["email"], made["role"]) == ("Ranking", user.email, "owner")
    assert [one["id"] for one in user.api.get("/accounts", expect=200).json()] == [user.account, made["id"]]
    user.api.problem("POST", "/accounts", 403, "forbidden", {"name": "By a key"})
    browser.call("POST", "/interests", {"name": "Own", "context": "Of the person's own account."}, expect=201)
    session = browser.call("POST", "/session/switch", {"account_id": made["id"]}, expect=200).json()
    assert session["account"] == {"id": made["id"], "name": "Ranking", "email": user.email}
    assert browser.call("GET", "/session").json() == session
    assert browser.call("GET", "/interests").json() == []
    browser.call("POST", "/session/switch", {"account_id": user.account}, expect=200)
    assert len(browser.call("GET", "/interests").json()) == 1


def test_a_session_makes_keys_of_the_account_that_it_shows(cluster, team):
    person = cluster.user()
    add_member(cluster, team.account, "member", person.email)
    browser = Browser(cluster.gateway_url, person.key)
    assert browser.call("POST", "/session/switch", {"account_id": team.account}, expect=200).json()["role"] == "member"
    made = browser.call("POST", "/account/api-keys", {"name": "of the team"}, expect=201).json()
    api = team.api.as_key(made["key"])
    assert api.get("/team", expect=200).json()["account"]["id"] == team.account
    api.problem("GET", "/webhooks", 403, "insufficient_scope")


def test_a_session_shows_no_account_of_others(cluster, user, other_user):
    browser = Browser(cluster.gateway_url, user.key)
    for account in (other_user.account, str(uuid.uuid4())):
        browser.call("POST", "/session/switch", {"account_id": account}, expect=404)
    assert browser.call("GET", "/session").json()["account"]["id"] == user.account


def test_a_command_makes_an_account(cluster, user):
    key = cluster.run("gateway", "create-account", "--name", "Ranking", "--owner", user.email).strip()
    shown = user.api.as_key(key).get("/team", expect=200).json()
    assert shown["account"]["name"] == "Ranking" and shown["you"]["email"] == user.email
    assert shown["account"]["id"] != user.account


@pytest.mark.parametrize("arguments", [
    ["create-account"], ["create-account", "--name", "a"], ["create-account", "--name", "", "--owner", "a@b"],
    ["create-account", "--name", "a", "--owner", "nobody"], ["add-member", "--account", "x", "--email", "a@b", "--role", "viewer"],
    ["add-member", "--account", str(uuid.uuid4()), "--email", "a@b", "--role", "king"], ["disable-person"],
    ["disable-person", "--email", "a@b", "more"]])
def test_commands_refuse_invalid_arguments(cluster, arguments):
    with pytest.raises(RuntimeError, match=f"usage: gateway {arguments[0]}"):
        cluster.run("gateway", *arguments)


def test_commands_name_what_is_unknown(cluster, team):
    unknown = f"{secrets.token_hex(6)}@example.org"
    for arguments in (["create-account", "--name", "a", "--owner", unknown], ["disable-person", "--email", unknown],
                      ["add-member", "--account", str(uuid.uuid4()), "--email", unknown, "--role", "viewer"],
                      ["add-member", "--account", team.account, "--email", team.email, "--role", "viewer"]):
        with pytest.raises(RuntimeError, match="nobody has|no account|only owner"):
            cluster.run("gateway", *arguments)
