"""What services tell the audit log: the change, who made it and from where, once."""

import json
import secrets

import pytest

from lib.scenario import provisioning
from lib.tables import common
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

MARKED = {"User-Agent": "tester/1.0"}
BUDGET = {"scope": "account", "period": "month", "usd": 10}


@pytest.fixture
def api(user):
    return user.api


def entries(api, action):
    return api.get(f"/account/audit?action={action}", expect=200).json()


def wait_entries(api, action, count=1):
    return wait_for(lambda: (found := entries(api, action)) and len(found) >= count and found, f"{count} entries of {action}")


def changed(entry):
    """{field: (from, to)}"""
    return {one["field"]: (one["from"], one["to"]) for one in entry["detail"]["changed"]}


def test_an_entry_names_the_person_and_the_request(api, user):
    answer = api.post("/webhooks", {"kind": "webhook", "url": "https://hooks.example.org/secret-path", "events": ["test.*"], "name": "team"},
                      headers=MARKED, expect=201)
    (entry,) = wait_entries(api, "webhook.created")
    assert entry["target"] == {"kind": "webhook", "id": answer.json()["id"], "name": "team"}
    assert (entry["actor"]["kind"], entry["actor"]["email"]) == ("person", user.email)
    assert (entry["ip"], entry["user_agent"], entry["request_id"]) == ("127.0.0.1", "tester/1.0", answer.headers["X-Request-Id"])
    assert changed(entry)["events"] == (None, ["test.*"]) and changed(entry)["url"] == (None, None)
    assert "secret-path" not in json.dumps(entry) and answer.json()["secret"] not in json.dumps(entry)


def test_webhooks(api):
    made = api.post("/webhooks", {"kind": "webhook", "url": "https://hooks.example.org/a", "events": ["test.*"]}, expect=201).json()["id"]
    api.patch(f"/webhooks/{made}", {"status": "paused"}, expect=200)
    api.patch(f"/webhooks/{made}", {"url": "https://hooks.example.org/b"}, expect=200)
    api.post(f"/webhooks/{made}/rotate-secret", {}, headers={"Idempotency-Key": "once"}, expect=200)
    api.delete(f"/webhooks/{made}", expect=200)
    wait_entries(api, "webhook.deleted")
    assert [entry["action"] for entry in entries(api, "webhook.")] == [
        "webhook.deleted", "webhook.secret_rotated", "webhook.updated", "webhook.updated", "webhook.created"]
    assert changed(entries(api, "webhook.updated")[1]) == {"status": ("active", "paused")}


def test_connections(api):
    key = f"good-{secrets.token_hex(16)}"
    for _ in range(2):  # the second takes the place of the first
        api.post("/integrations/anthropic/connect", {"api_key": key}, expect=200)
    api.delete("/integrations/anthropic", expect=200)
    wait_entries(api, "connection.disconnected")
    found = wait_entries(api, "model_key.connected", 2)
    assert {entry["target"]["name"] for entry in found} == {"anthropic"} and key not in json.dumps(found)


def test_feeds_interests_and_budgets(api):
    feed = api.post("/papers/recommended/feeds", {}, expect=201).json()
    api.delete(f"/papers/recommended/feeds/{feed['id']}", expect=200)
    wait_entries(api, "feed.deleted")
    assert feed["url"].rpartition("/")[2] not in json.dumps(entries(api, "feed."))
    interest = api.post("/interests", {"name": "ranking", "context": "how papers are ranked"}, expect=201).json()["id"]
    api.delete(f"/interests/{interest}", expect=200)
    assert wait_entries(api, "interest.deleted")[0]["target"] == {"kind": "interest", "id": interest, "name": "ranking"}
    api.put("/fleet/budgets", BUDGET, expect=200)
    budget = api.put("/fleet/budgets", {**BUDGET, "usd": 20}, expect=200).json()["budget_id"]
    api.delete(f"/fleet/budgets/{budget}", expect=200)
    found = wait_entries(api, "budget.changed", 3)
    assert [entry["actor"]["kind"] for entry in found] == ["person"] * 3
    assert changed(found[1]) == {"usd": (10, 20)}


def test_an_agent_is_paused_and_resumed(api, user):
    interest = api.post("/interests", {"name": "ranking", "context": "how papers are ranked"}, expect=201).json()["id"]
    for action in ("pause", "pause", "resume", "resume"):  # the second of each changes nothing
        api.post(f"/interests/{interest}/{action}-agent", headers=MARKED, expect=200)
    wait_entries(api, "agent.resumed")
    found = entries(api, "agent.")
    assert [entry["action"] for entry in found] == ["agent.resumed", "agent.paused"]
    for entry in found:
        assert entry["target"] == {"kind": "interest", "id": interest, "name": "ranking"}
        assert (entry["actor"]["email"], entry["user_agent"]) == (user.email, "tester/1.0")


def test_a_project_is_deleted(api, user):
    project = api.post("/projects", {"name": "encoders"}, expect=201).json()["id"]
    api.delete(f"/projects/{project}", expect=200)
    (entry,) = wait_entries(api, "project.deleted")
    assert entry["target"] == {"kind": "project", "id": project, "name": "encoders"} and entry["actor"]["email"] == user.email


def test_experiments_and_templates(api):
    experiment = api.post("/experiments", {"name": "shorter prompts"}, expect=201).json()["id"]
    api.put(f"/experiments/{experiment}", {"hypothesis": "they are cheaper"}, expect=200)
    api.put(f"/experiments/{experiment}", {"outcome": "ship", "status": "shipped"}, expect=200)
    api.delete(f"/experiments/{experiment}", expect=200)
    wait_entries(api, "experiment.deleted")
    (decided,) = entries(api, "experiment.decided")
    assert changed(decided)["status"][1] == "shipped"
    template = api.post("/eval-env/templates", {"name": "suite", "spec": {"image": "i:1"}}, expect=201).json()["template_id"]
    for _ in range(2):
        api.post(f"/eval-env/templates/{template}/lock", expect=200)
    (entry,) = wait_entries(api, "template.locked")
    assert entry["target"] == {"kind": "template", "id": template, "name": "suite"}


@pytest.mark.parametrize("decided", [{"outcome": "ship"}, {"status": "shipped"}])
def test_an_experiment_that_is_decided_from_the_start(api, user, decided):
    answer = api.post("/experiments", {"name": "done before", **decided}, headers={**MARKED, "Idempotency-Key": "once"}, expect=201)
    (entry,) = wait_entries(api, "experiment.decided")
    assert (entry["target"]["id"], entry["actor"]["email"]) == (answer.json()["id"], user.email)
    assert (entry["user_agent"], entry["request_id"]) == ("tester/1.0", answer.headers["X-Request-Id"])


def test_an_agent_from_its_provisioning_to_its_end(cluster, code_host):
    team = provisioning.new_team(cluster, code_host)
    you = team.api.get("/team", expect=200).json()["you"]

    def only(action):
        (entry,) = wait_entries(team.api, action)
        assert (entry["actor"]["kind"], entry["actor"]["person_id"], entry["ip"]) == ("person", you["person_id"], "127.0.0.1"), action
        return entry["target"]

    team.provision(auto_merge=True)
    assert only("provisioning.started") == {"kind": "interest", "id": team.interest, "name": team.repo}
    assert only("connection.connected")["name"] == "code_host"
    token = team.api.get("/integrations/code_host/token", expect=200).json()["access_token"]
    assert only("connection.token_read")["name"] == "code_host"
    assert token not in json.dumps(entries(team.api, "connection."))
    team.api.post("/fleet/trigger", {"repo": team.repo}, expect=200)
    assert only("run.triggered") == {"kind": "repository", "id": None, "name": team.repo}
    (installation,) = team.api.get("/fleet/installations", expect=200).json()
    team.api.post(f"/fleet/installations/{installation['id']}/revoke", expect=200)
    assert only("installation.revoked") == {"kind": "installation", "id": installation["id"], "name": team.repo}
    ended = entries(team.api, "key.revoked")[0]  # which svc-fleet asks of the gateway
    you = team.api.get("/team", expect=200).json()["you"]
    assert (ended["target"]["id"], ended["actor"]["person_id"], ended["ip"]) == (installation["key_id"], you["person_id"], "127.0.0.1")


def test_a_request_that_fails_has_no_entry(api):
    absent = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
    for path in (f"/webhooks/{absent}", f"/papers/recommended/feeds/{absent}", f"/interests/{absent}", f"/experiments/{absent}"):
        api.delete(path, expect=404)
    api.post("/webhooks", {"kind": "webhook", "url": "https://hooks.example.org/a", "events": ["test.*"]}, expect=201)
    wait_entries(api, "webhook.created")
    assert [entry["action"] for entry in api.get("/account/audit?limit=100", expect=200).json() if entry["action"].endswith(".deleted")] == []


def test_an_event_that_comes_twice_makes_one_entry(cluster, api, user):
    with cluster.postgres.connect("integrations") as db, cluster.postgres.connect("account") as log:
        api.post("/webhooks", {"kind": "webhook", "url": "https://hooks.example.org/a", "events": ["test.*"]}, expect=201)
        wait_entries(api, "webhook.created")
        common.send_again(db, user.account)
        api.post("/webhooks", {"kind": "webhook", "url": "https://hooks.example.org/b", "events": ["test.*"]}, expect=201)
        wait_entries(api, "webhook.created", 2)
        assert gateway_tables.audit_actions(log, user.account).count("webhook.created") == 2
