"""-w: following work through restarts of the gateway, and its end by Ctrl-C."""

import json
import signal
import time

import pytest

from lib.outside.stub_server import StubServer
from lib.system.command_line import FAILED, NOT_FOLLOWED, NOT_FOUND, without_styles

TASK = "019c1d2f-e9f4-7d38-8f21-ddb66cad4a27"


def task(status, **members):
    return {"task_id": TASK, "kind": "recommendations_refresh", "status": status, "progress": 0, "message": None, "result": None,
            "error": None, "attempts": 1, "created_at": "2026-02-02T07:10:05.300Z", "started_at": None, "finished_at": None, **members}  # fmt: skip


class Following:
    """A service whose task takes as many questions as there are answers: a task, a status, the slug of a 503, or None for a broken
    connection."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.server = StubServer(self.answer)

    def answer(self, request):
        if request.command == "POST":
            request.reply(202, json.dumps(task("pending")), Content_Type="application/json")
            return
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            request.close_connection = True
        elif isinstance(answer, str):
            request.reply(503, json.dumps({"error": answer}), Content_Type="application/problem+json")
        elif isinstance(answer, int):
            request.reply(answer, "{}", Content_Type="application/json")
        else:
            request.reply(200, json.dumps(answer), Content_Type="application/json")


def test_it_goes_on_where_the_service_was_away(against):
    service = Following(task("pending"), None, 503, task("running"), None, task("completed", message="3 recommendations"))
    done = against(service.server.url).run("refresh", "-w")
    assert "3 recommendations" in done.stdout and done.stderr == ""  # no progress in a pipe
    service.server.close()


def test_a_service_that_says_when_is_not_asked_before(against):
    times = []

    def answer(request):
        times.append(time.monotonic())
        if len(times) == 2:
            request.reply(429, "{}", Content_Type="application/json", Retry_After="2")
        else:
            request.reply(200, json.dumps(task("completed")), Content_Type="application/json")

    server = StubServer(answer)
    against(server.url).run("refresh", "-w")
    assert len(times) == 3 and times[2] - times[1] >= 2
    server.close()


def test_a_failure_is_the_exit_status(against):
    service = Following(task("failed", error="no candidates\x1b[31m"))
    done = against(service.server.url).run("refresh", "-w", status=FAILED)
    assert "it failed: no candidates\\u001b[31m" in done.stderr
    service.server.close()


def test_a_task_that_is_gone_is_not_waited_for(against):
    service = Following(404)
    against(service.server.url).run("refresh", "-w", status=NOT_FOUND)
    service.server.close()


def test_a_terminal_shows_the_steps(against):
    steps = [{"name": "agent_key", "status": "completed", "message": "made\x1b]0;x\x07", "started_at": "x", "finished_at": "x"},
             {"name": "workflow", "status": "running", "message": None, "started_at": "x", "finished_at": None}]  # fmt: skip
    service = Following(task("running", progress=40, message="working", steps=steps), task("completed"))
    shown = against(service.server.url).screen("refresh", "-w")
    assert "completed  agent_key: made\\u001b]0;x\\u0007" in shown and "running  40 %  working" in shown and "\x1b]0" not in shown
    service.server.close()


REPO = "acme/ranker"


def run(number, status, outcome, **members):
    return {"run_id": number, "repo": REPO, "status": status, "outcome_kind": outcome, "artifact_url": None, **members}


class Runs:
    """A service that starts run 17 and then knows run 18 as the newest. `newest` and `listed` are what it answers, one after the other."""

    def __init__(self, newest, listed, number=17):
        self.answers, self.number = {"run-status": list(newest), "runs": list(listed)}, number
        self.server = StubServer(self.answer)

    def answer(self, request):
        answers = self.answers.get(request.path.partition("?")[0].rpartition("/")[2])
        answer = run(self.number, "queued", None) if request.command == "POST" else answers.pop(0) if len(answers) > 1 else answers[0]
        request.reply(200 if isinstance(answer, (dict, list)) else answer, json.dumps(answer), Content_Type="application/json")


@pytest.mark.parametrize("newest, listed, status", [
    ([run(17, "queued", "running"), run(18, "queued", "running")],
     [[run(17, "running", "running")], 503, [run(17, "pr_opened", "pull_request", artifact_url="https://example.org/17")]], 0),
    ([run(18, "completed", "other")], [[run("17", "failed", "failed", error="3 tests failed")]], FAILED),
    ([run(18, "completed", "other")], [[], [run(17, "skipped_nothing_new", "skipped")]], 0),
    ([run(18, "completed", "other")], [404], NOT_FOUND),
    ([run(17, "in_progress", "pull_request"), run(17, "completed", "pull_request")], [404], 0),
    ([run(17, "running", "running"), run(17, "pr_opened", "pull_request")], [404], 0),  # no workflow run is known
    ([run(17, "completed", "failed")], [404], FAILED),
])  # fmt: skip
def test_a_run_is_followed_to_its_own_end(against, newest, listed, status):
    """Also when a newer run is what the service tells of the repository."""
    service = Runs(newest, listed)
    done = against(service.server.url).run("run", REPO, "-w", "-o", "json", status=status)
    assert status == NOT_FOUND or str(json.loads(done.stdout)["run_id"]) == "17"
    if status == FAILED:
        assert "expops: it failed" in done.stderr
    asked = [path for method, path, *_ in service.server.requests if "/fleet/runs?" in path]
    assert all("repo=acme%2Franker" in path and "run_id=17" in path for path in asked)
    service.server.close()


def test_a_run_of_which_no_number_is_known_is_not_followed(against):
    """The newest run of the repository may be another one. The status is no failure, after which a script would start a second one."""
    service = Runs([run(16, "completed", "pull_request")], [[]], number=None)
    done = against(service.server.url).run("run", REPO, "-w", "-o", "json", status=NOT_FOLLOWED)
    assert json.loads(done.stdout) == run(None, "queued", None)
    assert "the run has started" in done.stderr and f"expops run-status {REPO} shows the newest" in done.stderr
    service.server.close()


def test_ctrl_c_ends_the_following_and_not_the_task(against):
    service = Following(task("running"))
    with against(service.server.url).terminal("refresh", "-w") as terminal:
        terminal.expect("running")
        terminal.type("\x03")
        assert terminal.wait() == 128 + signal.SIGINT
    assert f"expops task {TASK} -w follows it" in without_styles(terminal.output)
    service.server.close()


DELETION = ["api", "interest_delete", f"interest_id={TASK}"]


@pytest.mark.parametrize("before", [[None], [503, "unavailable"], [429, 502], [504], ["unavailable", None]])
def test_a_deletion_whose_answer_was_lost_is_one(against, before):
    """The attempt that is sent again finds nothing, as the one before it was done."""
    service = Following(*before, 404)
    done = json.loads(against(service.server.url).run(*DELETION).stdout)
    assert done == {"id": TASK, "deleted": True} and len(service.server.requests) == len(before) + 1
    service.server.close()


@pytest.mark.parametrize("before", [[], [429], ["unavailable"]])
def test_what_no_attempt_has_deleted_was_not_there(against, before):
    service = Following(*before, 404)
    against(service.server.url).run(*DELETION, status=NOT_FOUND)
    assert len(service.server.requests) == len(before) + 1
    service.server.close()


def test_a_write_that_is_not_repeatable_is_sent_once(against):
    """Also after a request that left a connection open, which libcurl would use, and replace where it breaks."""
    keys = json.dumps({"keys": [{"id": TASK, "name": "laptop"}]})
    service = StubServer(lambda request: request.reply(200, keys, Content_Type="application/json") if request.command == "GET"
                         else setattr(request, "close_connection", True))  # fmt: skip
    against(service.url).run("key", "revoke", "laptop", status=FAILED)
    assert [method for method, *_ in service.requests] == ["GET", "POST"]
    service.close()


def test_a_killed_gateway_is_waited_for(cli, cluster, user):
    spec = {"image": "registry.example.com/ranker:1", "command": ["evaluate"]}
    user.api.post("/eval-env/templates", {"name": "Nightly", "spec": spec}, expect=201)
    with cli.terminal("eval", "run", "Nightly", "-w") as terminal:
        terminal.expect("queued")
        cluster.kill9("gateway")
        try:
            terminal.expect("no answer, trying again")
        finally:
            cluster.recover()
        (run,) = user.api.get("/eval-env/runs", expect=200).json()
        user.api.post(f"/eval-env/runs/{run['run_id']}/cancel", expect=200)
        assert terminal.wait() == FAILED
    assert f"Run         {run['run_id']}" in without_styles(terminal.output) and "it cancelled" in terminal.output


def test_a_task_is_found_by_its_id(cli, user):
    cli.run("interest", "add", "Attention", "-c", "-", input="Attention.")
    for command in (["refresh"], ["learn", "att"]):
        started = json.loads(cli.run(*command, "-o", "json").stdout)
        assert json.loads(cli.run("task", started["task_id"], "-w", "-o", "json", status=None).stdout)["task_id"] == started["task_id"]
    cli.run("task", TASK, status=NOT_FOUND)
    cli.run("task", "..", status=2)
