"""The description of messages, and what is really told: neither has a type that the other lacks. Whether each body fits is checked
of all messages, at the end of every session (lib/check/messages.py)."""

import uuid
from datetime import UTC, datetime

from lib.check import messages
from lib.scenario.evalenv import SPEC
from lib.system.kill_points import KillPoints
from lib.tables import interests as interests_tables
from lib.tables import fleet as fleet_tables
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for


# What services promise to tell; a type is not taken away.
PROMISED = {
    "recommendations.refreshed", "digest.ready", "run.started", "run.finished", "pull_request.opened", "pull_request.merged", "pull_request.reverted",
    "pull_request.closed", "issue.opened", "issue.closed", "provisioning.completed", "provisioning.failed", "installation.revoked",
    "experiment.created", "experiment.updated", "experiment.deleted", "experiment.decided", "implementation.finished", "eval.build_finished",
    "eval.run_finished", "task.failed", "key.revoked", "key.expiring", "endpoint.disabled", "inbox.item", "test.ping",
    "budget.warned", "budget.reached", "cost.unusual",
}


def test_what_is_promised_is_described():
    assert PROMISED <= set(messages.described())


def account_of(cluster, team):
    with cluster.postgres.connect("interests") as db:
        return interests_tables.account_of(db, team.interest)


def experiments(api):
    made = api.post("/experiments", {"name": "A kernel", "launch_context": {"task_description": "x"}}, expect=201).json()["id"]
    api.post(f"/implement/experiments/{made}/report", {"status": "failed"}, expect=200)
    api.delete(f"/experiments/{made}", expect=200)
    api.post("/experiments", {"name": "A decided one", "outcome": "ship"}, expect=201)


def evaluations(api):
    template = api.post("/eval-env/templates", {"name": "bench", "spec": SPEC}, expect=201).json()["template_id"]
    build = api.post("/eval-env/builds", {"containerfile": f"FROM scratch\n# {uuid.uuid4()}\n"}, expect=201).json()["build_id"]
    run = api.post("/eval-env/runs", {"template_id": template}, expect=201).json()["run_id"]
    api.post(f"/eval-env/builds/{build}/cancel", {}, expect=200)
    api.post(f"/eval-env/runs/{run}/cancel", {}, expect=200)


def fails_to_provision(cluster, team):
    with cluster.postgres.connect("interests") as db:
        points = KillPoints(cluster, "svc-interests", db, ["provision_step"])
        points.hold("provision_step", "NEW.name = 'check_app' AND NEW.status = 'running'")
        started = team.start(agent="agent_three")
        points.wait()
        team.host.uninstall(team.app)
        points.release()
    assert team.api.wait_task(started)["status"] == "failed"


def budgets(api):
    api.put("/fleet/budgets", {"scope": "account", "period": "month", "usd": 10, "warn_percent": [10]}, expect=200)


def fleet(cluster, team, account):
    report = lambda id, **members: team.agent().post("/fleet/runs", {"run_id": id, "repo": team.repo, **members})  # noqa: E731
    ends = ((1, "pull_request", "pull", "merged"), (2, "pull_request", "pull", "closed"), (3, "issue", "issues", "closed"))
    with cluster.postgres.connect("fleet") as db:
        for number, kind, path, state in ends:
            report(number, status="running")
            report(number, status=f"{kind}_opened", artifact_url=f"https://github.com/{team.repo}/{path}/{number}")
            now = datetime.now(UTC)
            fleet_tables.tell_item(db, team.repo, kind, number, state, opened=now, closed=now)
        fleet_tables.revert_item(db, team.repo, 1, datetime.now(UTC))
    report(4, status="failed", error="no space", cost_usd=2)
    report(5, status="failed", cost_usd=20)
    for number in range(9):
        report(f"usual {number}", status="pr_opened", agent="agent_one", cost_usd=1 if number < 8 else 6)
    with cluster.postgres.connect("fleet") as db:
        wait_for(lambda: fleet_tables.compare_costs(db, account), "the costs are compared")


def test_every_type_that_is_described_is_told_and_no_other(cluster, team, papers_of):
    account = account_of(cluster, team)
    assert team.provision(auto_merge=True)["status"] == "completed"
    experiments(team.api)
    evaluations(team.api)
    papers_of(team)
    budgets(team.api)
    fleet(cluster, team, account)
    wait_for(lambda: "inbox.item" in messages.types(cluster, account), "an item is told")
    fails_to_provision(cluster, team)
    (key,) = team.keys()
    with cluster.postgres.connect("account") as db:
        gateway_tables.set_age(db, key["id"], created=-340, expires=25)
    wait_for(lambda: "key.expiring" in messages.types(cluster, account), "the key expires")
    installed = team.installations()[0]["id"]
    team.api.post(f"/fleet/installations/{installed}/revoke", {}, expect=200)
    described = set(messages.described()) - messages.OF_ENDPOINTS
    wait_for(lambda: messages.types(cluster, account) == described,
             f"told and described are the same: {sorted(described)}", patience=30)
    assert messages.faults(cluster) == []
