"""What accounts are told of experiments, of evaluations, of interests and of their agents, and of tasks that fail."""

import pytest

from lib.check import messages
from lib.scenario.evalenv import SPEC
from lib.system.kill_points import KillPoints
from lib.tables import interests as interests_tables
from lib.wait import wait_for

PULL = "https://github.com/acme/ranker/pull/412"


@pytest.fixture
def key(api):
    """The id of the key of `api`."""
    return api.get("/account/api-keys", expect=200).json()["keys"][0]["id"]


def test_an_experiment_is_told_of_with_what_changed_and_by_whom(api, key, told):
    made = api.post("/experiments", {"name": "A kernel", "hypothesis": "faster"}, expect=201).json()
    path = f"/experiments/{made['id']}"
    api.put(path, {"outcome": "ship", "decision": "d" * 3000, "name": "A kernel"}, expect=200)
    api.put(path, {"outcome": "ship"}, expect=200)
    api.delete(path, expect=200)
    (created,), (updated,), (deleted,) = told("experiment.created"), told("experiment.updated"), told("experiment.deleted")
    for one in (created, updated, deleted):
        assert (one["experiment_id"], one["name"], one["by"]) == (made["id"], "A kernel", key)
        assert one["url"] == f"/console/experiments/{made['id']}"
    assert (created["changed"], deleted["changed"]) == ([], [])
    changed = {one["field"]: (one["from"], one["to"]) for one in updated["changed"]}
    assert changed == {"outcome": (None, "ship"), "decision": (None, None)}
    assert (deleted["outcome"], len(deleted["decision"])) == ("ship", 1000)


def test_a_project_that_is_deleted_changes_its_experiments(api, key, told):
    project = api.post("/projects", {"name": "Search"}, expect=201).json()["id"]
    made = [api.post("/experiments", {"name": name, "project_id": project}, expect=201).json()["id"] for name in "ab"]
    api.delete(f"/projects/{project}", expect=200)
    told_of = {one["experiment_id"]: (one["changed"], one["by"]) for one in told("experiment.updated")}
    assert told_of == {id: ([{"field": "project_id", "from": project, "to": None}], key) for id in made}


def test_an_implementation_is_told_of_when_it_ends(api, told):
    made = api.post("/experiments", {"name": "A kernel", "launch_context": {"task_description": "x"}}, expect=201).json()

    def report(**body):
        api.post(f"/implement/experiments/{made['id']}/report", body, expect=200)

    report(status="running")
    report(status="failed", summary="The tests fail.")
    report(status="pr_opened", pr_url=PULL)
    report(status="completed")
    report(status="completed", summary="Once more.")
    assert [(one["experiment_id"], one["pipeline_status"], one["pr_url"], one["error"]) for one in told("implementation.finished")] == [
        (made["id"], "failed", None, "The tests fail."), (made["id"], "completed", PULL, None)]


def test_a_build_and_a_run_are_told_of_when_they_end(api, told):
    template = api.post("/eval-env/templates", {"name": "bench", "spec": SPEC}, expect=201).json()["template_id"]
    build = api.post("/eval-env/builds", {"containerfile": "FROM scratch\n"}, expect=201).json()["build_id"]
    claimed = api.post("/eval-env/builds/claim", {"worker": "test"}, expect=200).json()
    body = {"attempt": claimed["attempt"], "status": "succeeded", "image": "i:1", "digest": "sha256:1"}
    api.post(f"/eval-env/builds/{build}/report", body, expect=200)
    (built,) = told("eval.build_finished")
    assert (built["build_id"], built["status"], built["image"], built["error"]) == (build, "succeeded", "i:1", None)
    runs = [api.post("/eval-env/runs", {"template_id": template}, expect=201).json()["run_id"] for _ in range(2)]
    api.post("/eval-env/webhooks/results", {"run_id": runs[0], "status": "succeeded", "metrics": {"recall": 0.5}}, expect=200)
    api.post(f"/eval-env/runs/{runs[1]}/cancel", {}, expect=200)
    first, second = told("eval.run_finished")
    assert (first["run_id"], first["status"], first["metrics"], first["template_id"]) == (runs[0], "succeeded", {"recall": 0.5}, template)
    assert (second["run_id"], second["status"], second["error"]["kind"]) == (runs[1], "cancelled", "cancelled")
    assert first["url"] == second["url"] == "/console/evaluations"


# ---- interests ----


def papers_of_message(api, one):
    """What was recommended together with the first paper that the message names, which has one time, by rank. The task that a new
    interest starts and the one of a refresh can each recommend papers for it."""
    query = {"interest_id": one["interest_id"], "period": "all", "limit": 50}
    shown = api.get("/papers/recommended", params=query, expect=200).json()
    (at,) = [row["recommended_at"] for row in shown if row["recommendation_id"] == one["top"][0]["recommendation_id"]]
    return sorted((row for row in shown if row["recommended_at"] == at), key=lambda row: row["rank"])


def test_a_refresh_tells_of_each_interest_with_new_papers(api, operator, told):
    paper = {"title": "FlashAttention", "abstract": "Exact attention with tiles in fast memory."}
    operator.api.put("/search/assets/2205.14135", paper, expect=200)
    wait_for(lambda: api.post("/search/assets", {"query": "exact attention tiles"}, expect=200).json(), "it can be found")
    made = {api.post("/interests", {"name": name, "context": "exact attention"}, expect=201).json()["id"]: name for name in ("A", "B")}
    task = api.wait_task(api.post("/papers/recommended/refresh", {}, expect=202))
    told_of = told("recommendations.refreshed")
    assert {one["interest_id"] for one in told_of} == set(made)
    assert len({(one["interest_id"], one["task_id"]) for one in told_of}) == len(told_of)
    assert sorted((one["interest_id"], one["recommended"]) for one in task["result"]["interests"] if one["recommended"]) == sorted(
        (one["interest_id"], one["count"]) for one in told_of if one["task_id"] == task["task_id"])
    for one in told_of:
        papers = papers_of_message(api, one)
        assert (one["interest_name"], one["url"]) == (made[one["interest_id"]], f"/console/?interest={one['interest_id']}")
        assert one["count"] == len(papers)
        assert [(top["recommendation_id"], top["title"]) for top in one["top"]] == [(row["recommendation_id"], row["title"]) for row in papers[:5]]
        assert set(one["top"][0]) == {"recommendation_id", "arxiv_id", "title", "url", "relevance_score", "reasoning"}


def account_of(cluster, team):
    with cluster.postgres.connect("interests") as db:
        return interests_tables.account_of(db, team.interest)


def test_a_provisioning_is_told_of_once(cluster, team):
    account = account_of(cluster, team)
    task = team.provision(auto_merge=True)
    (done,) = messages.told(cluster, account, "provisioning.completed")
    assert (done["interest_id"], done["repo"], done["task_id"], done["merged"]) == (team.interest, team.repo, task["task_id"], True)
    assert done["changed"] == task["result"]["changed"] and done["pr_url"].startswith(team.host.url)
    assert (done["error"], done["url"]) == (None, f"/console/interests/{team.interest}")


def test_a_provisioning_that_fails_is_a_failed_task_too(cluster, team):
    account = account_of(cluster, team)
    with cluster.postgres.connect("interests") as db:
        points = KillPoints(cluster, "svc-interests", db, ["provision_step"])
        points.hold("provision_step", "NEW.name = 'check_app' AND NEW.status = 'running'")
        started = team.start()
        points.wait()
        team.host.uninstall(team.app)
        points.release()
    task = team.api.wait_task(started)
    (failed,) = messages.told(cluster, account, "provisioning.failed")
    assert (failed["task_id"], failed["error"], failed["merged"]) == (task["task_id"], task["error"], False)
    (of_task,) = messages.told(cluster, account, "task.failed")
    assert (of_task["task_id"], of_task["kind"], of_task["interest_id"]) == (task["task_id"], "provision", team.interest)
    assert of_task["error"] == task["error"]
