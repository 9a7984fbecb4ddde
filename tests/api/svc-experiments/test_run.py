"""Implementation runs: an agent's workflow is started in the target repository, and what becomes of it."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from lib.http.client import Api
from lib.scenario.code_host_agent import FILES
from lib.outside.counterparts import CodeHost, connect
from lib.system.kill_points import KillPoints
from lib.tables import common
from lib.tables import experiments as experiments_tables
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

STEPS = ["assemble_context", "create_branch", "dispatch", "wait"]
DONE = {**dict.fromkeys(STEPS, "completed"), "wait": "running"}


@dataclass
class Lab:
    """An account that can push to a repository with the agents' workflow, and an experiment for it."""

    host: CodeHost
    api: Api
    at_host: object
    repo: str
    experiment: dict

    def of(self, what):
        return f"/implement/experiments/{self.experiment['id']}/{what}"

    def start(self, expect=202):
        return self.api.post(self.of("run"), expect=expect).json()

    def status(self):
        return self.api.get(self.of("status"), expect=200).json()

    def steps(self):
        return {step["name"]: step["status"] for step in self.status()["steps"]}

    def get(self):
        return self.api.get(f"/experiments/{self.experiment['id']}", expect=200).json()

    def wait(self, *states):
        """Wait until the run is in one of the states; returns the status."""
        def reached():
            status = self.status()
            return status if status["pipeline_status"] in states else None

        return wait_for(reached, f"the run is {states}")

    def run(self):
        """Start a run; returns the workflow run."""
        self.start()
        assert self.wait("running", "failed")["error"] is None
        (run,) = self.host.runs(self.repo)
        return run

    def call(self, method, path, by=None, repo=None, **body):
        json = None if method == "GET" else body
        answer = self.host.api(method, f"/repos/{repo or self.repo}{path}", (by or self.at_host).token, json=json)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def open_pull_request(self, branch):
        """Do what the workflow does at its end; returns the pull request."""
        head = self.call("GET", "/git/ref/heads/main")["object"]["sha"]
        self.call("POST", "/git/refs", ref=f"refs/heads/{branch}", sha=head)
        self.call("PUT", "/contents/kernel.c", message="Change", content="eA==", branch=branch)
        return self.call("POST", "/pulls", title="Change", head=branch, base="main")

    def url_of(self, run):
        return f"{self.host.url}/{self.repo}/actions/runs/{run['id']}"

    def branches(self):
        return {row["name"] for row in self.call("GET", "/branches")}


@pytest.fixture
def new_lab(user, code_host, make):
    def build(has_app=True, files=FILES, is_connected=True, **launch):
        at_host = code_host.user()
        if is_connected:
            connect(user.api, "code_host", at_host.login)
        if has_app:
            code_host.install(at_host.login)
        repo = code_host.repository(at_host.login, files=files)
        launch = {"task_description": "Swap the kernel.", "target_repo": repo, **launch}
        return Lab(code_host, user.api, at_host, repo, make(name="Faster encoder", launch_context=launch))

    return build


@pytest.fixture
def lab(new_lab):
    return new_lab()


# ---- what is started ----


def test_a_run_puts_the_brief_on_a_branch_and_starts_the_workflow(lab):
    answer = lab.api.post(lab.of("run"), expect=202)
    task = answer.json()
    assert (task["kind"], task["status_url"]) == ("implementation", "/api/v1.0" + lab.of("status"))
    status = lab.wait("running")
    (run,) = lab.host.runs(lab.repo)
    assert (status["task_id"], status["run_url"]) == (task["task_id"], lab.url_of(run))
    assert lab.steps() == DONE and status["finished_at"] is None
    assert all(step["started_at"] and step["message"] for step in status["steps"])
    brief = run["inputs"]["lead_content"]
    assert run["inputs"] == {"lead_content": brief, "start_from_ref": status["branch_name"]}
    assert brief.startswith("# Faster encoder\n") and "Swap the kernel." in brief and "Report back" not in brief
    assert lab.host.files(lab.repo, status["branch_name"])[f".expops/{lab.experiment['id']}.md"] == brief
    assert not [path for path in lab.host.files(lab.repo) if path.startswith(".expops")]
    changes = [entry["to"] for entry in reversed(lab.get()["history"]) if entry["field"] == "pipeline_status"]
    assert changes == ["queued", "assembling_context", "dispatching", "running"]


def test_a_long_brief_is_read_from_the_branch(new_lab):
    lab = new_lab(implementation_plan="Step. " * 6000)
    lead = lab.run()["inputs"]["lead_content"]
    path = f".expops/{lab.experiment['id']}.md"
    assert lead.startswith("# Faster encoder\n") and path in lead and len(lead) < 1000
    assert "Step. Step." in lab.host.files(lab.repo, lab.status()["branch_name"])[path]


def test_the_branch_is_made_from_the_base_branch(new_lab):
    lab = new_lab(base_branch="next")
    lab.call("POST", "/git/refs", ref="refs/heads/next", sha=lab.call("GET", "/git/ref/heads/main")["object"]["sha"])
    lab.call("PUT", "/contents/next.txt", message="Next", content="eA==", branch="next")
    lab.run()
    assert "next.txt" in lab.host.files(lab.repo, lab.status()["branch_name"])


def test_a_repeated_request_starts_one_run(lab):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = lab.api.post(lab.of("run"), expect=202, headers=key).json()
    assert lab.api.post(lab.of("run"), expect=202, headers=key).json()["task_id"] == first["task_id"]
    lab.wait("running")
    problem = lab.api.problem("POST", lab.of("run"), 409, "conflict")
    assert "in flight" in problem["detail"]
    assert len(lab.host.runs(lab.repo)) == 1


def test_who_starts_a_run_is_in_the_audit_log(lab, user):
    """Also of a request that is repeated, once."""
    for _ in range(2):
        lab.api.post(lab.of("run"), expect=202, headers={"Idempotency-Key": "once"})
    (entry,) = wait_for(lambda: lab.api.get("/account/audit?action=run.triggered", expect=200).json(), "the entry is there")
    assert entry["target"] == {"kind": "repository", "id": None, "name": lab.repo}
    assert entry["detail"] == {"changed": [{"field": "experiment_id", "from": None, "to": lab.experiment["id"]}]}
    assert (entry["actor"]["kind"], entry["actor"]["email"]) == ("person", user.email)


# ---- what is refused, or fails ----


@pytest.mark.parametrize(("members", "words"), [
    ({}, "no launch context"),
    ({"launch_context": {"task_description": "x"}}, "no target_repo"),
    ({"launch_context": {"target_repo": "https://example.org/acme/ranker"}}, "owner/name"),
    ({"launch_context": {"target_repo": "a/b"}, "pr_url": "https://github.com/a/b/pull/1"}, "pull request already"),
])
def test_what_is_not_actionable_is_409(api, make, members, words):
    made = make(**members)
    assert words in api.problem("POST", f"/implement/experiments/{made['id']}/run", 409, "conflict")["detail"]
    assert api.get(f"/experiments/{made['id']}").json()["pipeline_status"] == "idle"


def test_others_start_nothing(lab, other_user):
    other_user.api.problem("POST", lab.of("run"), 404, "not_found")
    body = {"name": "a", "kind": "automation", "scopes": ["implement:write"], "repo": "acme/other"}
    key = lab.api.as_key(lab.api.post("/account/api-keys", body, expect=201).json()["key"])
    key.problem("POST", lab.of("run"), 403, "forbidden")


def test_a_key_of_an_agent_must_prove_the_repository(cluster, lab):
    def new_key(**limits):
        body = {"name": "a", "kind": "automation", "scopes": ["implement:write"], **limits}
        return lab.api.post("/account/api-keys", body, expect=201).json()

    lab.api.as_key(new_key()["key"]).problem("POST", lab.of("run"), 403, "forbidden")
    key = new_key(repo=lab.repo)
    with cluster.postgres.connect("account") as db:
        gateway_tables.set_repo_verified(db, key["id"], False)
    agent = lab.api.as_key(key["key"])
    agent.problem("POST", lab.of("run"), 403, "forbidden")
    with cluster.postgres.connect("account") as db:
        gateway_tables.set_repo_verified(db, key["id"], True)
    wait_for(lambda: agent.post(lab.of("run")).status_code == 202, "the proof is known")


def test_a_deleted_account_leaves_nothing(lab, db):
    lab.run()
    lab.api.post("/account/delete", {"confirm": True}, expect=200)
    wait_for(lambda: common.tables_with(db, ["implementation_step"], experiment_id=lab.experiment["id"]) == [], "the rows are deleted")


@pytest.mark.parametrize(("how", "words"), [
    ({"has_app": False}, "app is not installed"),
    ({"files": {}}, ".github/workflows/expops.yml"),
    ({"is_connected": False}, "repository"),
    ({"base_branch": "gone"}, "base"),
])
def test_what_is_missing_is_said_in_a_sentence(new_lab, how, words):
    lab = new_lab(**how)
    lab.start()
    status = lab.wait("failed", "running")
    assert words in status["error"], status
    assert status["finished_at"] and lab.steps() == {
        "assemble_context": "completed", "create_branch": "failed", "dispatch": "skipped", "wait": "skipped"}
    assert lab.host.runs(lab.repo) == []
    again = lab.start()
    assert again["task_id"] != status["task_id"]
    lab.wait("failed")


def test_that_a_repository_takes_no_changes_is_said(lab):
    lab.host.change_repository(lab.repo, archived=True)
    lab.start()
    status = lab.wait("failed", "running")
    assert f"{lab.repo} is archived" in status["error"] and "then run again" in status["error"]
    assert list(lab.host.branches(lab.repo)) == ["main"]


# ---- what becomes of it ----


def test_a_pull_request_of_the_workflow_and_its_end_complete_the_run(lab):
    run = lab.run()
    pull = lab.open_pull_request(f"expops/run-{run['id']}")
    opened = lab.wait("pr_opened")
    assert (opened["pr_url"], opened["pr_status"], opened["branch_name"]) == (
        pull["html_url"], "open", f"expops/run-{run['id']}")
    assert lab.steps() == dict.fromkeys(STEPS, "completed")
    lab.host.change_run(run["id"], "completed", "success")
    done = lab.wait("completed")
    assert done["finished_at"] and done["error"] is None
    lab.host.merge(lab.repo, pull["number"])
    wait_for(lambda: lab.get()["pr_status"] == "merged", "the merge is heard of")
    changes = [entry["to"] for entry in reversed(lab.get()["history"]) if entry["field"] == "pr_status"]
    assert changes == ["open", "merged"]


def test_a_closed_pull_request_is_heard_of(lab):
    run = lab.run()
    pull = lab.open_pull_request(f"expops/run-{run['id']}")
    lab.wait("pr_opened")
    lab.call("PATCH", f"/pulls/{pull['number']}", state="closed")
    wait_for(lambda: lab.get()["pr_status"] == "closed", "it is heard of")


def test_a_pull_request_of_a_fork_is_no_result(lab):
    run = lab.run()
    stranger = lab.host.user()
    fork = lab.call("POST", "/forks", by=stranger)["full_name"]
    branch = f"expops/run-{run['id']}"
    head = lab.call("GET", "/git/ref/heads/main")["object"]["sha"]
    lab.call("POST", "/git/refs", by=stranger, repo=fork, ref=f"refs/heads/{branch}", sha=head)
    lab.call("PUT", "/contents/x", by=stranger, repo=fork, message="x", content="eA==", branch=branch)
    lab.call("POST", "/pulls", by=stranger, title="x", head=f"{stranger.login}:{branch}", base="main")
    lab.host.change_run(run["id"], "completed", "success")
    failed = lab.wait("failed", "pr_opened", "completed")
    assert (failed["pipeline_status"], failed["pr_url"]) == ("failed", None)


@pytest.mark.parametrize(("conclusion", "words"), [("failure", "ended with failure"), ("success", "without a pull request")])
def test_a_workflow_that_ends_without_a_pull_request_has_failed(lab, conclusion, words):
    run = lab.run()
    lab.host.change_run(run["id"], "completed", conclusion)
    failed = lab.wait("failed")
    assert words in failed["error"] and lab.url_of(run) in failed["error"]
    assert lab.steps()["wait"] == "failed"
    lab.start()
    wait_for(lambda: len(lab.host.runs(lab.repo)) == 2, "the next run is started")


def test_a_report_ends_the_run(lab):
    lab.run()
    url = f"{lab.host.url}/{lab.repo}/pull/7"
    lab.api.post(lab.of("report"), {"status": "pr_opened", "pr_url": url}, expect=200)
    assert lab.steps() == dict.fromkeys(STEPS, "completed")
    lab.api.post(lab.of("report"), {"status": "completed", "summary": "Done."}, expect=200)
    assert (lab.status()["pipeline_status"], lab.status()["summary"]) == ("completed", "Done.")
    assert len(lab.status()["steps"]) == 4


def test_a_reported_pull_request_is_followed(lab):
    lab.run()
    pull = lab.open_pull_request("by-hand")
    lab.api.post(lab.of("report"), {"status": "completed", "pr_url": pull["html_url"]}, expect=200)
    lab.host.merge(lab.repo, pull["number"])
    wait_for(lambda: lab.get()["pr_status"] == "merged", "the merge is heard of")
    assert lab.status()["pipeline_status"] == "completed"


@pytest.fixture
def pass_time(db):
    """pass_time(lab, columns): let these times of the run be now."""
    return lambda lab, *columns: experiments_tables.pass_time(db, lab.experiment["id"], *columns)


def test_the_deadline_ends_a_run_that_nothing_is_heard_of(lab, pass_time):
    run = lab.run()
    pass_time(lab, "deadline_at", "check_at")
    assert "neither a report nor a pull request" in lab.wait("failed")["error"]
    wait_for(lambda: lab.host.runs(lab.repo)[0]["conclusion"] == "cancelled", "the workflow run is cancelled")
    assert [row["id"] for row in lab.host.runs(lab.repo)] == [run["id"]]


def test_the_code_host_is_asked_for_what_events_did_not_tell(lab, pass_time):
    run = lab.run()
    with lab.host.held_deliveries():
        pull = lab.open_pull_request(f"expops/run-{run['id']}")
        lab.host.change_run(run["id"], "completed", "success")
        pass_time(lab, "check_at")
        assert lab.wait("completed", "failed")["pr_url"] == pull["html_url"]


def test_a_run_that_ends_while_its_agent_is_started_is_cancelled(lab, points):
    """By a report that comes late, of the attempt before. The report waits for the step to begin, and the step's end for the report."""
    points.hold("implementation_step", "NEW.name = 'dispatch' AND NEW.status = 'running'")
    lab.start()
    points.wait()
    with ThreadPoolExecutor() as pool:
        report = pool.submit(lab.api.post, lab.of("report"), {"status": "completed", "summary": "Done."}, expect=200)
        wait_for(lambda: common.blocked(points.db, "experiments", "report"), "the report waits")
        points.release()
        report.result()
    wait_for(lambda: [run["conclusion"] for run in lab.host.runs(lab.repo)] == ["cancelled"], "the workflow run is cancelled")
    (run,) = lab.host.runs(lab.repo)
    assert (lab.status()["pipeline_status"], lab.status()["run_url"]) == ("completed", lab.url_of(run))


def test_a_run_that_ends_before_the_code_host_answers_is_cancelled(lab):
    before = lab.host.last_number()
    lab.host.fail("POST", "/dispatches$", hang=True)
    lab.start()
    wait_for(lambda: lab.host.requests(before, "POST", "/dispatches$"), "the dispatch is under way")
    lab.api.post(lab.of("report"), {"status": "completed", "summary": "Done."}, expect=200)
    wait_for(lambda: [run["conclusion"] for run in lab.host.runs(lab.repo)] == ["cancelled"], "the workflow run is cancelled")


# ---- deleting ----


def test_deleting_the_experiment_cancels_the_workflow_run(lab, db):
    lab.run()
    lab.api.delete(f"/experiments/{lab.experiment['id']}", expect=200)
    wait_for(lambda: lab.host.runs(lab.repo)[0]["conclusion"] == "cancelled", "the workflow run is cancelled")


def test_deleting_the_experiment_cancels_the_task(lab, db):
    """The code host does not answer the dispatch: the run that it has started is found and cancelled."""
    before = lab.host.last_number()
    lab.host.fail("POST", "/dispatches$", hang=True)
    task = lab.start()["task_id"]
    wait_for(lambda: lab.host.requests(before, "POST", "/dispatches$"), "the dispatch is under way")
    lab.api.delete(f"/experiments/{lab.experiment['id']}", expect=200)
    assert common.task_status(db, task) == "cancelled"
    wait_for(lambda: [row["conclusion"] for row in lab.host.runs(lab.repo)] == ["cancelled"], "the run is cancelled")


def test_deleting_the_experiment_starts_nothing(lab, db):
    """The code host answers nothing when the run is to be started."""
    before = lab.host.last_number()
    lab.host.fail("GET", "/workflows/[^/]+/runs", status=502, times=1000)
    task = lab.start()["task_id"]
    wait_for(lambda: lab.host.requests(before, "GET", "/workflows/[^/]+/runs"), "the run is about to be started")
    lab.api.delete(f"/experiments/{lab.experiment['id']}", expect=200)
    lab.host.stop_failing()
    cancel = wait_for(lambda: common.tasks(db, "workflow_cancel", task_id=task), "the run is to be cancelled")[0]
    common.wait_ended(db, cancel.id)
    assert common.task_status(db, cancel.id) == "completed" and lab.host.runs(lab.repo) == []


def test_a_task_that_fails_cancels_what_it_may_have_started(lab):
    """The answer of the code host was lost, and then it says that the workflow is not there."""
    runs = "/workflows/[^/]+/runs"
    lab.host.fail("GET", runs, headers={"x-before": "the dispatch"})
    lab.host.fail("GET", runs, status=404)
    lab.host.fail("POST", "/dispatches$", drop=True)
    lab.start()
    assert "no such workflow" in lab.wait("failed")["error"]
    wait_for(lambda: [run["conclusion"] for run in lab.host.runs(lab.repo)] == ["cancelled"], "the workflow run is cancelled")


# ---- budgets ----


def budget(lab, **members):
    body = {"scope": "account", "period": "month", "usd": 10, "action": "stop", **members}
    return lab.api.put("/fleet/budgets", body, expect=200).json()["state"]


def reserved(lab):
    return lab.api.get("/fleet/budgets", expect=200).json()[0]["state"]["reserved_usd"]


def test_a_budget_refuses_a_run(lab):
    budget(lab, usd=0)
    problem = lab.api.problem("POST", lab.of("run"), 409, "budget_reached")
    assert problem["budget"]["usd"] == 0 and problem["detail"].startswith("USD 0.00 of 0.00 spent this month, ")
    assert lab.get()["pipeline_status"] == "idle" and lab.host.runs(lab.repo) == []
    scopes = {"name": "starter", "scopes": ["implement:write"]}
    key = lab.api.as_key(lab.api.post("/account/api-keys", scopes, expect=201).json()["key"])
    assert key.problem("POST", lab.of("run"), 403, "insufficient_scope", {"over_budget": True})["scope"] == "budgets:write"
    lab.api.post(lab.of("run"), {"over_budget": True}, expect=202)
    assert lab.wait("running", "failed")["error"] is None and reserved(lab) == 10


def test_who_starts_a_run_over_its_budget_is_in_the_audit_log(lab):
    budget(lab, usd=0)
    lab.api.post(lab.of("run"), {"over_budget": True}, expect=202)
    find = lambda: lab.api.get("/account/audit?action=budget.overridden", expect=200).json()  # noqa: E731
    (entry,) = wait_for(find, "the entry is there")
    you = lab.api.get("/team", expect=200).json()["you"]
    assert (entry["target"]["name"], entry["ip"]) == (lab.repo, "127.0.0.1") and entry["user_agent"]
    assert (entry["actor"]["kind"], entry["actor"]["person_id"], entry["actor"]["email"]) == ("person", you["person_id"], you["email"])


def test_a_run_reserves_once(lab):
    budget(lab)
    lab.run()
    assert reserved(lab) == 10
    lab.api.problem("POST", lab.of("run"), 409, "conflict")
    assert reserved(lab) == 10


def test_a_run_that_fails_before_its_dispatch_has_nothing_reserved(new_lab):
    lab = new_lab(has_app=False)
    budget(lab)
    lab.start()
    lab.wait("failed")
    wait_for(lambda: reserved(lab) == 0, "the reservation is released")


def test_a_run_that_is_tried_again_keeps_what_is_reserved(lab):
    budget(lab)
    before = lab.host.last_number()
    lab.host.fail("GET", "/workflows/[^/]+/runs", status=502, times=1000)
    lab.start()
    wait_for(lambda: len(lab.host.requests(before, "GET", "/workflows/[^/]+/runs")) > 1, "it is tried again")
    assert reserved(lab) == 10
    lab.host.stop_failing()
    assert lab.wait("running", "failed")["error"] is None and reserved(lab) == 10


# ---- kill -9 ----

POINTS = [(step, when) for step in STEPS[:3] for when in ("running", "completed")] + [("wait", "running"), ("task", "completed")]


@pytest.fixture
def points(cluster):
    with cluster.postgres.connect("experiments") as db:
        made = KillPoints(cluster, "svc-experiments", db, ["implementation_step", "task"])
        yield made
        made.release()


def check_end(lab):
    assert lab.wait("running", "failed")["error"] is None
    assert lab.steps() == DONE
    assert len(lab.host.runs(lab.repo)) == 1
    assert len(lab.branches()) == 2
    run = lab.host.runs(lab.repo)[0]
    lab.open_pull_request(f"expops/run-{run['id']}")
    lab.wait("pr_opened")


@pytest.mark.parametrize(("point", "when"), POINTS)
def test_a_process_killed_before_a_commit_changes_nothing_of_the_end(lab, points, point, when):
    subject = "NEW.kind = 'implementation'" if point == "task" else f"NEW.name = '{point}'"
    points.hold("task" if point == "task" else "implementation_step", f"{subject} AND NEW.status = '{when}'")
    lab.start()
    points.wait()
    points.kill()
    check_end(lab)


def test_a_process_killed_before_the_code_host_answers_changes_nothing_of_the_end(lab, points):
    """The code host has started the workflow, and its answer never arrives."""
    before = lab.host.last_number()
    lab.host.fail("POST", "/dispatches$", hang=True)
    lab.start()
    wait_for(lambda: lab.host.requests(before, "POST", "/dispatches$"), "the code host was asked")
    points.kill()
    check_end(lab)
