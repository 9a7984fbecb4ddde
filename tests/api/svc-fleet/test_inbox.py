"""The inbox: items that follow from the state, and archiving them."""

import uuid

import pytest
from lib.scenario.fleet import REPO
from lib.tables import fleet as fleet_tables

PULL = "https://github.com/acme/ranker/pull/3"


def kinds(api, archived=False):
    return sorted(item["kind"] for item in api.get(f"/fleet/agents/inbox?archived={str(archived).lower()}", expect=200).json())


def item_of(api, kind):
    return next(item for item in api.get("/fleet/agents/inbox", expect=200).json() if item["kind"] == kind)


def test_an_item_goes_when_its_reason_does(api, report, tell):
    report(1, status="pr_opened", artifact_url=PULL)
    assert kinds(api) == ["pull_request_waiting"]
    assert item_of(api, "pull_request_waiting")["href"] == PULL
    report(2, status="failed", error="no space")
    assert kinds(api) == ["pull_request_waiting", "run_failed"]
    failed = item_of(api, "run_failed")
    assert (failed["title"], failed["href"]) == ("The last run on acme/ranker failed: no space", "/console/runs/2")
    tell(REPO, 3, "merged", "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z")
    assert kinds(api) == ["run_failed"]
    report(3, status="skipped_old")
    assert kinds(api) == []


def test_archiving_is_of_the_account_and_can_be_undone(api, report, other_user):
    report(1, status="pr_opened", artifact_url=PULL)
    item = item_of(api, "pull_request_waiting")

    def dismiss(client, **body):
        return client.post("/fleet/agents/inbox/dismiss", body, expect=200).json()["updated"]

    assert dismiss(other_user.api, id=item["id"]) == 0
    assert dismiss(api, ids=[item["id"], str(uuid.uuid4())]) == 1
    assert dismiss(api, id=item["id"]) == 0
    assert kinds(api) == [] and kinds(api, archived=True) == ["pull_request_waiting"]
    report(1, status="pr_opened", num_turns=3)
    assert kinds(api) == []
    assert dismiss(api, id=item["id"], undo=True) == 1
    assert item_of(api, "pull_request_waiting") == item


def test_the_list_has_one_kind(api, report):
    report(1, status="pr_opened", artifact_url=PULL)
    report(2, status="failed")
    listed = api.get("/fleet/agents/inbox?kind=run_failed", expect=200)
    assert ([item["kind"] for item in listed.json()], listed.headers["X-Total-Count"]) == (["run_failed"], "1")
    described = api.get("/openapi.json", expect=200).json()["components"]["schemas"]["InboxItem"]["properties"]["kind"]["enum"]
    assert sum(len(api.get(f"/fleet/agents/inbox?kind={kind}", expect=200).json()) for kind in described) == 2
    assert api.problem("GET", "/fleet/agents/inbox?kind=none", 400, "invalid_request")["errors"][0]["field"] == "kind"


@pytest.mark.parametrize("body, field", [
    ({}, "ids"), ({"id": str(uuid.uuid4()), "ids": []}, "ids"), ({"ids": ["x"]}, "ids[0]"), ({"id": "x"}, "id"),
])
def test_a_fault_names_its_field(api, body, field):
    problem = api.problem("POST", "/fleet/agents/inbox/dismiss", 400, "invalid_request", body)
    assert [fault["field"] for fault in problem["errors"]] == [field]


def test_agents_that_are_silent_or_revoked(api, user, db, install):
    made = install()
    assert kinds(api) == []
    fleet_tables.age_installation(db, made["id"], 8)
    assert kinds(api) == ["agent_silent"] and item_of(api, "agent_silent")["href"] == f"/console/agents/{REPO}"
    fleet_tables.revoke_installations(db, user.account)
    assert kinds(api) == ["agent_revoked"]


def test_what_a_provisioned_agent_lacks(api, db, install, tell):
    install(setup_url=PULL + "1", model_key_missing=True)
    assert kinds(api) == ["model_key_missing", "setup_waiting"]
    assert item_of(api, "setup_waiting")["href"] == PULL + "1"
    tell(REPO, 31, "merged", "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z")
    assert kinds(api) == ["model_key_missing"]
    install()
    assert kinds(api) == []


def test_a_digest_is_made_once_for_a_state(api, report, tell, other_user):
    report(1, status="pr_opened", artifact_url=PULL + "0", agent="agent_one", arxiv_id="2205.14135", files_touched=["a", "b"],
           test_status="passed")

    def digest():
        return api.post("/fleet/agents/inbox/digest", {"href": PULL + "0"}, expect=200).json()

    first = digest()
    assert first["title"] == "Pull request of acme/ranker" and not first["cached"]
    assert first["digest"].startswith("Made by agent_one from arXiv 2205.14135, touching 2 files. Of its gates 1 passed")
    assert digest() == first | {"cached": True}
    tell(REPO, 30, "merged", "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z")
    assert "was merged" in digest()["digest"]
    other_user.api.problem("POST", "/fleet/agents/inbox/digest", 404, "not_found", {"href": PULL + "0"})


def test_a_digest_of_the_pull_request_that_sets_up_an_agent(api, user, db, install, tell, other_user, agent):
    install(setup_url=PULL + "9")

    def digest(of=api):
        return of.post("/fleet/agents/inbox/digest", {"href": item_of(api, "setup_waiting")["href"]}, expect=200).json()

    first = digest()
    assert (first["title"], first["model"], first["cached"]) == (f"Setup of agent_one on {REPO}", None, False)
    assert "waits to be merged" in first["digest"]
    assert digest() == first | {"cached": True} == digest(agent(REPO, scopes=["fleet:read"]))
    body = {"href": PULL + "9"}
    other_user.api.problem("POST", "/fleet/agents/inbox/digest", 404, "not_found", body)
    agent("acme/other", scopes=["fleet:read"]).problem("POST", "/fleet/agents/inbox/digest", 404, "not_found", body)
    tell(REPO, 39, "merged", "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z")
    merged = api.post("/fleet/agents/inbox/digest", body, expect=200).json()
    assert "was merged" in merged["digest"] and not merged["cached"]
    fleet_tables.revoke_installations(db, user.account)
    assert "was revoked" in api.post("/fleet/agents/inbox/digest", body, expect=200).json()["digest"]
