"""What the role of a person allows: of every operation, and of keys."""

import pytest

from lib.http import api_def
from lib.http.api_def import absent_target
from lib.http.browser import Browser
from lib.http.client import PREFIX, Api
from lib.scenario.team import ROLES, add_member
from lib.system.servers import free_port
from lib.tables import gateway as gateway_tables

READ_BY_ALL = {"experiments", "implement", "interests", "recommendations", "search", "integrations", "fleet", "code_host", "eval",
               "account", "team"}
WRITTEN_BY_MEMBERS = {"experiments", "implement", "interests", "recommendations", "fleet", "eval", "provisioning", "code_host"}
REPORTED_BY_AGENTS = {"fleet:report", "eval:report"}


def may(role, scope):
    """As the description of the API says it."""
    subject, right = scope.split(":")
    if role in ("owner", "admin"):
        return scope not in api_def.OPERATOR_SCOPES
    if scope == "account:write" or (right == "read" and subject in READ_BY_ALL):
        return True
    return role == "member" and (scope == "fleet:trigger" or (right == "write" and subject in WRITTEN_BY_MEMBERS))


OPERATIONS = [op for op in api_def.operations() if op.scope]


@pytest.fixture(scope="module")
def team(cluster):
    """{role: a member whose key has every scope, as if the role had been higher when it was made}"""
    owner = cluster.user()
    made = {role: add_member(cluster, owner.account, role) for role in ROLES}
    with cluster.postgres.connect("account") as db:
        for member in made.values():
            gateway_tables.set_scopes(db, member.api.key, api_def.scopes())
    return made


@pytest.fixture(scope="module")
def bare_gateway(cluster, start_gateway):
    """A gateway whose services do not answer: what it refuses, it refuses by itself."""
    nowhere = f"http://127.0.0.1:{free_port()}"
    with start_gateway(**{setting: nowhere for name, _, setting in cluster.rows if name != "gateway"}) as process:
        yield process


def by_key(gateway, key):
    api = Api(gateway.url, key, checked=False)
    return api.request


def by_session(gateway, key):
    browser = Browser(gateway.url, key)

    def request(method, path, body):
        is_writing = method in ("POST", "PUT", "PATCH")  # of JSON, also without content
        return browser.call(method, path.removeprefix(PREFIX), {} if is_writing else body, checked=False)

    return request


@pytest.mark.parametrize("send", [by_key, by_session])
@pytest.mark.parametrize("role", ROLES)
def test_every_operation_is_allowed_by_the_role_or_refused(bare_gateway, team, role, send):
    """A session may do what its key may, but for what agents report."""
    request = send(bare_gateway, team[role].api.key)
    wrong = []
    for op in OPERATIONS:
        answer = request(op.method, absent_target(op, provider_name="code_host"), {} if op.body != "NONE" else None)
        is_for_agents = send is by_session and op.scope in REPORTED_BY_AGENTS
        is_refused = answer.status_code == 403 and (is_for_agents or answer.json().get("scope") == op.scope)
        if is_refused == (may(role, op.scope) and not is_for_agents):
            wrong.append(f"{op.id} ({op.scope}): {answer.status_code} {answer.text}")
    assert wrong == []


# ---- keys of a role ----


def test_a_preset_has_what_the_role_allows(team):
    for role in ("member", "viewer"):
        for kind in ("personal", "automation"):
            made = team[role].api.post("/account/api-keys", {"name": "default", "kind": kind}, expect=201).json()
            beyond = {scope for scope in made["scopes"] if not may(role, scope)}
            assert beyond == ({"fleet:report", "eval:report"} if (role, kind) == ("member", "automation") else set())


def test_no_key_is_made_beyond_the_role(team):
    """An automation key keeps its scopes when its maker's role is lowered, so it never gets more than the role has."""
    for kind in ("personal", "automation"):
        document = team["member"].api.problem("POST", "/account/api-keys", 403, "insufficient_scope",
                                              {"name": "more", "kind": kind, "scopes": ["integrations:write", "search:read"]})
        assert document["scope"] == "integrations:write"
    own = team["member"].api.post("/account/api-keys", {"name": "own", "preset": "read_only"}, expect=201).json()
    path = f"/account/api-keys/{own['id']}"
    team["member"].api.problem("PATCH", path, 403, "insufficient_scope", {"scopes": ["budgets:write"]})


def test_members_see_their_own_keys_and_owners_and_admins_all(team):
    made = {role: member.api.post("/account/api-keys", {"name": f"of the {role}"}, expect=201).json() for role, member in team.items()}
    for role, member in team.items():
        listed = {key["id"]: key["person"]["id"] for key in member.api.get("/account/api-keys?limit=100", expect=200).json()["keys"]}
        if role in ("owner", "admin"):
            assert {key["id"] for key in made.values()} <= set(listed)
        else:
            assert set(listed.values()) == {member.person} and made[role]["id"] in listed


def test_a_key_is_changed_by_its_person_and_revoked_by_admins_too(team):
    key = team["member"].api.post("/account/api-keys", {"name": "mine"}, expect=201).json()
    path = f"/account/api-keys/{key['id']}"
    team["viewer"].api.problem("PATCH", path, 404, "not_found", {"name": "theirs"})
    team["viewer"].api.problem("POST", path + "/revoke", 404, "not_found")
    team["viewer"].api.problem("DELETE", path, 404, "not_found")
    for body in ({"name": "theirs"}, {"expires_in_days": 1}):
        team["admin"].api.problem("PATCH", path, 403, "forbidden", body)
    assert team["member"].api.patch(path, {"name": "still mine"}, expect=200).json()["name"] == "still mine"
    assert team["admin"].api.post(path + "/revoke", expect=200).json()["status"] == "revoked"


def test_only_an_owner_deletes_the_account_and_names_it(team):
    for role in ("admin", "member", "viewer"):
        team[role].api.problem("POST", "/account/delete", 403, "forbidden", {"confirm": True})
    document = team["owner"].api.problem("POST", "/account/delete", 400, "invalid_request", {"confirm": True})
    assert document["errors"][0]["field"] == "name"


def test_an_operator_has_the_scopes_of_operators_in_every_account(cluster, team):
    """Whether a person is an operator is of the person, not of the account."""
    account = team["owner"].api.get("/team").json()["account"]["id"]
    operator = cluster.user(operator=True)
    add_member(cluster, account, "viewer", operator.email)
    browser = Browser(cluster.gateway_url, operator.key)
    session = browser.call("POST", "/session/switch", {"account_id": account}, expect=200).json()
    assert session["role"] == "viewer" and "service:any_user" in session["scopes"] and "webhooks:read" not in session["scopes"]
    browser.call("GET", "/tasks/summary", expect=200)
    browser.call("GET", "/webhooks", expect=403)
    assert Api(cluster.gateway_url, team["owner"].api.key, checked=False).get("/tasks/summary").status_code == 403
