"""Revoking an agent: its key ends at the gateway, and the installation is revoked, whatever stops in between."""

import uuid

import pytest
from lib.http import plain_http
from lib.http.client import Api
from lib.scenario.fleet import REPO
from lib.http.identity import identity
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

INTEREST = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"


@pytest.fixture
def provision(cluster, user, install):
    """provision(repo): make the key of an agent and record its installation: (installation, key)."""

    def make(repo=REPO):
        body = {"name": "agent", "purpose": f"agent:{repo}", "repo": repo, "interest_id": INTEREST, "repo_verified": True}
        auth = identity(cluster, "gateway", "service", account=user.account)
        key = plain_http.post(cluster.gateway_url + "/internal/keys/create", json=body, auth=auth).json()
        return install(repo, key["id"], interest_id=INTEREST), key

    return make


def path_of(installation):
    return f"/fleet/installations/{installation['id']}/revoke"


def test_revoking_an_agent_ends_its_key(api, provision):
    made, key = provision()
    other, other_key = provision("acme/other")
    agent = Api(api.url, key["key"])
    agent.post("/fleet/runs", {"run_id": 1, "repo": REPO}, expect=201)
    revoked = api.post(path_of(made), expect=200).json()
    assert revoked["status"] == "revoked" and revoked["revoked_at"]
    assert revoked == {**made, "status": "revoked", "revoked_at": revoked["revoked_at"], "last_run_at": revoked["last_run_at"]}
    agent.problem("POST", "/fleet/runs", 401, "invalid_token", {"run_id": 2, "repo": REPO})
    assert api.post(path_of(made), expect=200).json() == revoked
    assert {one["id"]: one["status"] for one in api.get("/fleet/installations", expect=200).json()} == {
        made["id"]: "revoked", other["id"]: "active"}
    Api(api.url, other_key["key"]).post("/fleet/runs", {"run_id": 1, "repo": "acme/other"}, expect=201)


def test_an_installation_of_others_is_unknown(api, other_user, provision):
    made, key = provision()
    for client, installation in ((other_user.api, made["id"]), (api, str(uuid.uuid4()))):
        client.problem("POST", f"/fleet/installations/{installation}/revoke", 404, "not_found")
    api.problem("POST", "/fleet/installations/7/revoke", 400, "invalid_request")
    Api(api.url, key["key"]).post("/fleet/runs", {"run_id": 1, "repo": REPO}, expect=201)


def test_a_key_of_another_repository_or_interest_revokes_nothing(api, agent, provision):
    made, _ = provision()
    for limits in ({"repo": "acme/other"}, {"interest_id": INTEREST.replace("a1b", "a1c")}):
        agent(**{"repo": None, **limits}, scopes=["fleet:write"]).problem("POST", path_of(made), 403, "forbidden")
    assert api.get("/fleet/installations").json()[0]["status"] == "active"


def test_a_key_that_the_gateway_does_not_know_is_not_called_revoked(api, install):
    made = install()
    api.problem("POST", path_of(made), 502, "bad_gateway")
    assert api.get("/fleet/installations").json()[0]["status"] == "active"


def test_an_agent_is_revoked_again_when_the_gateway_has_forgotten_its_key(api, provision, forget_key):
    made, key = provision()
    revoked = api.post(path_of(made), expect=200).json()
    forget_key(key["id"])
    assert api.post(path_of(made), expect=200).json() == revoked


def test_an_agent_whose_key_ended_long_ago_is_revoked(api, install, user, db):
    """The gateway does not know the key any more, and svc-fleet knows that it has expired."""
    made = install()
    fleet_tables.key_ends(db, user.account, made["key_id"], hours=1)
    api.problem("POST", path_of(made), 502, "bad_gateway")
    fleet_tables.key_ends(db, user.account, made["key_id"], hours=-1)
    assert api.post(path_of(made), expect=200).json()["status"] == "revoked"


def test_provisioning_again_replaces_the_key_of_the_installation(cluster, api, user, provision, db):
    """The former key is announced as replaced, which revokes nothing."""
    made, former = provision()
    body = {"name": "agent", "purpose": f"agent:{REPO}", "repo": REPO, "interest_id": INTEREST}
    auth = identity(cluster, "gateway", "service", account=user.account)
    key = plain_http.post(cluster.gateway_url + "/internal/keys/create", json=body, auth=auth).json()
    assert key["replaced"] == former["id"]

    def listed():
        (one,) = api.get("/fleet/installations", expect=200).json()
        return one["key_id"] == key["id"] and one

    assert wait_for(listed, "the installation has the new key") == {**made, "key_id": key["id"]}
    api.post(path_of(made), expect=200)
    Api(api.url, key["key"]).problem("POST", "/fleet/runs", 401, "invalid_token", {"run_id": 2, "repo": REPO})


def test_a_crash_after_the_key_was_revoked_is_healed_by_its_event(cluster, api, user, provision):
    """As if svc-fleet had ended between the two steps."""
    made, key = provision()
    auth = identity(cluster, "gateway", "service", account=user.account)
    plain_http.post(cluster.gateway_url + "/internal/keys/revoke", json={"key_id": key["id"]}, auth=auth)
    wait_for(lambda: api.get("/fleet/installations").json()[0]["status"] == "revoked", "the event revokes the installation")
    assert api.post(path_of(made), expect=200).json()["status"] == "revoked"


def test_without_the_gateway_nothing_is_revoked(cluster, api, user, provision):
    """The request reaches svc-fleet, the gateway is away then: 503, and a repetition ends it."""
    made, key = provision()
    path = f"/api/v1.0{path_of(made)}"
    auth = identity(cluster, "svc-fleet", account=user.account)
    cluster.stop("gateway")
    try:
        answer = plain_http.post(cluster.url("svc-fleet") + path, json={}, auth=auth)
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
    finally:
        cluster.start("gateway", len(cluster["gateway"]))
        cluster.wait_ready("gateway")
    assert api.get("/fleet/installations").json()[0]["status"] == "active"
    Api(api.url, key["key"]).post("/fleet/runs", {"run_id": 1, "repo": REPO}, expect=201)
    assert wait_for(lambda: plain_http.post(cluster.url("svc-fleet") + path, json={}, auth=auth).status_code == 200)
    Api(api.url, key["key"]).problem("POST", "/fleet/runs", 401, "invalid_token", {"run_id": 2, "repo": REPO})
