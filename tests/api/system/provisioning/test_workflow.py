"""The workflow that provisioning has written into a repository: the very file is run, with real repositories and real shells."""

import json
import shlex
import socket

import pytest

from lib.http import plain_http
from lib.outside.stub_server import StubServer
from lib.outside.tools import CHANGE
from lib.wait import wait_for

pytestmark = pytest.mark.usefixtures("usual")


@pytest.fixture(scope="module")
def team(working_team):
    return working_team


# ---- what works ----


def test_a_run_tries_the_best_recommendation(make_team, papers, runner, tools):
    team = make_team(daily_count=1)
    assert team.provision(auto_merge=True)["result"]["dispatched"]
    tools.agent(f"""{CHANGE}
        echo '{{"model": "large", "cost_usd": 0.25, "input_tokens": 1200, "output_tokens": 80}}' >"$USAGE" """)
    runner.variables = {"EXPOPS_TESTS": "grep -q better notes.md"}
    (row,) = team.host.runs(team.repo)
    run = runner.run(team.repo, row)
    assert run.conclusion == "success", run.log()
    (paper,) = team.api.get(f"/papers/recommended?interest_id={team.interest}", expect=200).json()
    pull = team.pull_of(row)
    assert (pull["title"], pull["base"]["ref"], pull["state"]) == (paper["title"], "main", "open")
    assert paper["url"] in pull["body"].split("\n") and paper["reasoning"] in pull["body"]
    assert team.host.files(team.repo, pull["head"]["ref"])["notes.md"] == "better\n"
    told = team.reported(row)
    expected = {
        "status": "pr_opened", "outcome_kind": "pull_request", "artifact_url": pull["html_url"], "test_status": "passed",
        "agent": "agent_one", "provider": "anthropic", "model": "large", "cost_usd": 0.25, "input_tokens": 1200,
        "interest_id": team.interest, "arxiv_id": paper["resource_id"], "recommendation_id": paper["recommendation_id"],
        "files_touched": ["notes.md"], "files_dropped_out_of_scope": [],
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected
    assert told["started_at"] <= told["finished_at"]
    again = team.dispatch()
    assert runner.run(team.repo, again).conclusion == "success"
    assert (team.reported(again)["status"], len(team.pulls())) == ("skipped_no_candidates", 2)  # this one, and the workflow's
    listed = team.api.get(f"/fleet/runs?repo={team.repo}&include=selection", expect=200).json()
    passed = {str(record["run_id"]): record.get("selection_rejected") for record in listed}
    rejected = {"arxiv_id": paper["resource_id"], "gate": "duplicate", "reason": f"already proposed in #{pull['number']}"}
    assert (passed[str(again["id"])], passed[str(row["id"])]) == ([rejected], None)


def test_a_pinned_paper_is_tried(team, papers, runner):
    paper = papers["2604.17325"]
    row = team.trigger(pin_arxiv=paper["id"] + "v1")
    assert runner.run(team.repo, row).conclusion == "success"
    assert team.pull_of(row)["title"] == " ".join(paper["title"].split())
    told = team.reported(row)
    assert (told["arxiv_id"], "recommendation_id" in told) == (paper["id"], False)


def test_a_run_begins_where_it_is_told(team, runner, git_host):
    team.host.put_branch(team.repo, "older", {"README.md": "# Older\n", "old.txt": "old\n"})
    run, _, row = team.work(runner, start_from_ref="older")
    assert run.conclusion == "success", run.log()
    files = git_host.files(team.repo, f"expops/run-{row['id']}")
    assert files == {"README.md": "# Older\n", "old.txt": "old\n", "notes.md": "better\n"}


def test_a_scheduled_run_needs_no_inputs(make_team, papers, runner):
    team = make_team(daily_count=1)
    team.provision(auto_merge=True)
    (row,) = team.host.runs(team.repo)
    run = runner.run(team.repo, {**row, "inputs": {}}, event="schedule")
    assert run.conclusion == "success", run.log()
    assert team.reported(row)["status"] == "pr_opened" and team.pull_of(row)["base"]["ref"] == "main"


def test_a_run_that_is_repeated_opens_no_second_pull_request(team, runner):
    _, _, row = team.work(runner)
    again = runner.run(team.repo, row)
    assert again.conclusion == "success", again.log()
    assert team.pull_of(row)["html_url"] == team.reported(row)["artifact_url"]


def test_what_the_agent_has_committed_is_proposed(team, runner, tools):
    tools.agent(f"{CHANGE}; git add -A; git -c user.name=a -c user.email=a@b commit -qm Mine")
    run, told, row = team.work(runner)
    assert run.conclusion == "success" and told["files_touched"] == ["notes.md"]
    assert "notes.md" in team.host.files(team.repo, f"expops/run-{row['id']}")


# ---- how runs end otherwise: every one is reported ----


ENDS = {
    "the agent fails": ("exit 3", {}, {}, "agent_failed", "failed"),
    "the agent changes nothing": ("true", {}, {}, "skipped_no_change", "skipped"),
    "the change is too large": ("head -c 200000 /dev/urandom >large", {}, {}, "rejected_too_large", "failed"),
    "a workflow is added": ("echo >.github/workflows/a.yml", {}, {}, "rejected_out_of_scope", "failed"),
    "its name is quoted": ("echo >.github/$'\\u00e9\"\\n'.yml", {}, {}, "rejected_out_of_scope", "failed"),
    "a workflow is moved away": ("git mv .github/workflows/expops.yml moved.yml", {}, {}, "rejected_out_of_scope", "failed"),
    "another folder is changed": (CHANGE, {"EXPOPS_SCOPE": "src/ docs/"}, {}, "rejected_out_of_scope", "failed"),
    "the tests fail": (CHANGE, {"EXPOPS_TESTS": "test ! -e notes.md"}, {}, "tests_failed", "failed"),
    "there is no such paper": (CHANGE, {}, {"lead_content": "", "pin_arxiv": "9912.00001"}, "aborted_no_such_paper", "failed"),
    "there is no such branch": (CHANGE, {}, {"start_from_ref": "missing"}, "fetch_failed", "failed"),
    "the provider is not the agent's": (CHANGE, {}, {"provider": "openai"}, "aborted_impossible_pair", "failed"),
    "there is no key of the provider": (CHANGE, {}, {"provider": "moonshot"}, "aborted_model_key_missing", "failed"),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_every_end_is_reported(team, runner, tools, end):
    script, runner.variables, inputs, status, kind = ENDS[end]
    tools.agent(script)
    before = len(team.pulls())
    run, told, row = team.work(runner, **inputs)
    assert (told["status"], told["outcome_kind"]) == (status, kind), run.log()
    assert run.conclusion == ("success" if kind == "skipped" else "failure")
    assert len(team.pulls()) == before and f"expops/run-{row['id']}" not in team.host.branches(team.repo)


# What the agent has printed (agent.json, or lines in agent.jsonl) and its status, and what is reported as the reason.
REASONS = {
    "the model refuses": ("json", {"is_error": True, "api_error_status": 404, "result": "No model\nx"}, 1, "its model answered 404: No model x"),
    "out of turns": ("json", {"is_error": True, "subtype": "error_max_turns"}, 0, "it ran out of turns"),
    "out of money": ("json", {"is_error": True, "subtype": "error_max_budget_usd"}, 1, "it reached the limit of its cost"),
    "a turn fails": ("jsonl", {"type": "turn.failed", "error": {"message": "status 401"}}, 1, "status 401"),
    "an error as an object": ("jsonl", {"type": "error", "error": {"data": {"message": "no key"}}}, 0, "no key"),
    "an error in words": ("jsonl", {"type": "error", "message": "disconnected"}, 1, "disconnected"),
    "nothing printed": ("json", "", 0, "it printed nothing"),
    "no reason given": ("jsonl", {"type": "thread.started"}, 2, "it gave no reason"),
    "a command in its words": ("jsonl", {"type": "error", "message": "\n::error::x"}, 1, "::error::x"),
    "a command in place of JSON": ("jsonl", "::set-output name=error::x", 1, "it gave no reason"),
}  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_of_a_failure_is_reported(team, runner, tools, reason):
    ending, printed, status, words = REASONS[reason]
    text = printed if isinstance(printed, str) else json.dumps(printed)
    tools.agent(f"{CHANGE}; printf %s {shlex.quote(text)} >\"$RUNNER_TEMP/agent.{ending}\"; exit {status}")
    run, told, row = team.work(runner)
    assert (run.conclusion, told["status"]) == ("failure", "agent_failed"), run.log()
    assert told["error"] == f"The agent failed with status {status}: {words}"
    analysis = team.api.post("/fleet/agents/runs/analyze", {"repo": team.repo, "run_id": row["id"]}, expect=200).json()
    assert words in analysis["cause"]
    log = run.step("Say why it failed").log
    assert not text or f"| {text}\n" in log
    assert run.step("Say why it failed").annotations == [("error", told["error"])]


def test_an_error_that_was_overcome_is_no_failure(team, runner, tools):
    lines = json.dumps({"type": "error", "message": "Reconnecting... 1/5"}) + "\n" + json.dumps({"type": "turn.completed"})
    tools.agent(f"{CHANGE}; printf %s {shlex.quote(lines)} >\"$RUNNER_TEMP/agent.jsonl\"")
    run, told, _ = team.work(runner)
    assert told["status"] == "pr_opened" and "error" not in told, run.log()


def test_a_long_output_is_not_copied_into_the_log(team, runner, tools):
    tools.agent(f"{CHANGE}; jq -n '{{result: (\"long\" * 20000)}}' -c >\"$RUNNER_TEMP/agent.json\"")
    run, told, _ = team.work(runner)
    assert told["status"] == "pr_opened" and "long" not in run.log()


def test_a_refused_push_is_reported(team, runner, git_host):
    git_host.protected.add(team.repo)
    run, told, _ = team.work(runner)
    assert (run.conclusion, told["status"], told["outcome_kind"]) == ("failure", "push_failed", "failed")


def test_a_refused_pull_request_is_reported_as_a_branch(team, runner):
    team.host.fail("POST", "/pulls$", status=403, body={"message": "not allowed"})
    run, told, _ = team.work(runner)
    assert (run.conclusion, told["status"], told["outcome_kind"]) == ("failure", "branch_pushed", "branch")


def test_without_a_valid_key_nothing_is_done(make_team, papers, runner):
    team = make_team()
    team.provision(auto_merge=True)
    wait_for(lambda: team.status()["state"] == "active", "the merge is heard of")
    (installation,) = team.installations()
    team.api.post(f"/fleet/installations/{installation['id']}/revoke", expect=200)
    run = runner.run(team.repo, team.host.runs(team.repo)[-1])
    assert run.conclusion == "failure" and run.jobs["work"].result == "skipped"
    assert "provision the interest again" in run.log() and len(team.pulls()) == 1


# ---- policies ----


def test_with_a_warning_the_rest_is_proposed(team, runner, tools):
    tools.agent(f"{CHANGE}; mkdir .github/x; echo >.github/x/a; git mv .github/workflows/expops.yml moved.yml")
    run, told, row = team.work(runner, fidelity_policy="warn")
    assert run.conclusion == "success", run.log()
    assert set(told["files_dropped_out_of_scope"]) == {".github/x/a", ".github/workflows/expops.yml"}
    files = team.host.files(team.repo, f"expops/run-{row['id']}")
    assert "notes.md" in files and ".github/workflows/expops.yml" in files and ".github/x/a" not in files


@pytest.mark.parametrize(("policy", "result"), [("warn", "failed"), ("off", "skipped")])
def test_failing_tests_stop_nothing_where_they_need_not(team, runner, policy, result):
    runner.variables = {"EXPOPS_TESTS": "false"}
    run, told, _ = team.work(runner, test_integration_policy=policy)
    assert (run.conclusion, told["status"], told["test_status"]) == ("success", "pr_opened", result)


def test_what_an_agent_says_of_its_cost_cannot_stop_the_report(team, runner, tools):
    for usage in ('{"cost_usd": "much", "input_tokens": -1, "status": "x", "num_turns": 3}', "[1", '"$(id)"'):
        tools.agent(f"{CHANGE}; printf '%s\\n' '{usage}' '{{\"cost_usd\": 1}}' >\"$USAGE\"")
        _, told, _ = team.work(runner)
        assert told["status"] == "pr_opened" and "cost_usd" not in told


# ---- budgets ----


@pytest.fixture
def budget(team):
    """Make a budget of the account; deleted after the test."""
    made = []

    def put(**members):
        body = {"scope": "account", "period": "month", "action": "stop", **members}
        made.append(team.api.put("/fleet/budgets", body, expect=200).json()["budget_id"])

    yield put
    for each in made:
        team.api.delete(f"/fleet/budgets/{each}", expect=200)


def test_a_run_that_a_budget_refuses_is_skipped(team, runner, budget):
    budget(usd=0)
    run, told, _ = team.work(runner)
    assert (run.conclusion, told["status"], told["spend_usd"]) == ("success", "skipped_budget", 0)
    assert "USD " not in run.step("Ask what it may cost").log  # the agent's key sees no figures of the account
    assert "The budget of the account for this month is reached." in run.step("Ask what it may cost").log


def test_an_agent_gets_what_it_may_cost(team, runner, tools, budget):
    tools.agent('echo "at most $MAX_USD" >notes.md')
    _, _, row = team.work(runner)
    assert team.host.files(team.repo, f"expops/run-{row['id']}")["notes.md"] == "at most \n"
    budget(usd=1_000_000, max_usd_per_run=7.5)
    _, told, row = team.work(runner)
    assert team.host.files(team.repo, f"expops/run-{row['id']}")["notes.md"] == "at most 7.5\n"
    assert (told["spend_basis"], told["spend_usd"]) == ("assumed", 7.5)


def test_jobs_after_the_agent_that_run_again_cost_nothing(team, runner, tools, git_host):
    tools.agent(f"""{CHANGE}; echo '{{"model": "large", "cost_usd": 0.25}}' >"$USAGE" """)
    git_host.protected.add(team.repo)
    run, told, row = team.work(runner)
    assert (told["status"], told["spend_usd"], told["run_attempt"]) == ("push_failed", 0.25, 1), run.log()
    git_host.protected.clear()
    again = runner.run(team.repo, row, attempt_of=run, jobs={"publish"})
    told = team.reported(row)
    assert (told["status"], told["spend_usd"], told["run_attempt"]) == ("pr_opened", 0.25, 1), again.log()


def test_an_agent_does_not_run_again_unless_its_attempt_is_admitted(team, runner, tools, budget):
    tools.agent("""echo '{"cost_usd": 0.25}' >"$USAGE"; exit 3""")
    run, told, row = team.work(runner)
    assert (told["status"], told["spend_usd"]) == ("agent_failed", 0.25), run.log()
    budget(usd=0)
    again = runner.run(team.repo, row, attempt_of=run, jobs={"work"})
    told = team.reported(row)
    assert (again.step("Run the agent").outcome, told["status"], told["spend_usd"]) == ("skipped", "aborted_not_admitted", 0.25)
    assert "Re-run all jobs" in again.step("Refuse another attempt that nobody has admitted").log
    whole = runner.run(team.repo, row, attempt_of=again, jobs={"choose"})
    told = team.reported(row)
    assert (whole.conclusion, told["status"], told["run_attempt"], told["spend_usd"]) == ("success", "skipped_budget", 3, 0.25)


@pytest.fixture
def answering(tools):
    """answering(script): what `curl` does that asks whether the run may start, or that asks for the end of another `path`."""
    program = tools.folder / "curl"

    def put(script, path="*/runs/admit"):
        program.write_text(f'#!/bin/bash\ncase "$*" in {path}) {script} ;; esac\nexec /usr/bin/curl "$@"\n')
        program.chmod(0o755)

    yield put
    program.unlink()


def test_a_run_ends_when_nobody_says_whether_it_may_start(team, runner, answering):
    answering("exit 7")
    run, told, _ = team.work(runner)
    assert (run.conclusion, told["status"]) == ("failure", "choose_failed"), run.log()


@pytest.mark.parametrize("code, is_of_key", [(401, True), (404, True), (400, False), (421, False)])
def test_only_what_refuses_the_key_asks_for_another(team, runner, answering, code, is_of_key):
    answering(f"printf {code}; exit", path="*/interests/*")
    run, _, _ = team.work(runner)
    log = run.step("Check the agent and the key").log
    assert run.conclusion == "failure" and ("provision the interest again" in log) == is_of_key, run.log()
    assert ("run the workflow again later" in log) != is_of_key


def test_a_report_is_repeated_until_expops_is_back(team, runner, tools, answering):
    """Its first connection ends without an answer, as while the gateway is being replaced."""
    def answer(request):
        if len(stub.requests) == 1:
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        sent = {name: request.headers[name] for name in ("Authorization", "Content-Type")}
        said = plain_http.post(request.headers["X-Target"], content=request.body, headers=sent)
        request.reply(said.status_code, said.text)

    stub = StubServer(answer)
    tools.agent(CHANGE)
    answering(f'set -- -H "X-Target: ${{*: -1}}" "${{@:1:$#-1}}" {stub.url}', path="*/fleet/runs")
    run, told, _ = team.work(runner)
    stub.close()
    assert (run.conclusion, told["status"], len(stub.requests)) == ("success", "pr_opened", 2), run.log()


def test_a_report_that_is_refused_is_said(team, runner, answering):
    answering("""while [ "$1" != -o ]; do shift; done; echo '{"detail": "not you"}' >"$2"; printf 403; exit""", path="*/fleet/runs")
    run = runner.run(team.repo, team.dispatch(lead_content="Do better"))
    assert ("error", "The run is not reported: 403 not you") in run.step("Report").annotations, run.log()


def test_what_a_refusal_says_is_one_line(team, runner, answering):
    """The code host takes a line as a command, and a refusal has words that reports of runs chose."""
    answer = json.dumps({"error": "budget_reached", "detail": "as run x\n::add-mask::y\r\n cost"})
    answering(f"""while [ "$1" != -o ]; do shift; done; echo '{answer}' >"$2"; printf 409; exit""")
    run, told, _ = team.work(runner)
    assert told["status"] == "skipped_budget" and "as run x ::add-mask::y cost" in run.step("Ask what it may cost").log


@pytest.mark.parametrize(("error", "conclusion"), [("not_found", "success"), ("gone", "failure")])
def test_a_gateway_without_budgets_stops_no_run(team, runner, tools, answering, error, conclusion):
    """As of 0.1.0, which has no such operation."""
    tools.agent(CHANGE)
    answering(f"""while [ "$1" != -o ]; do shift; done; echo '{{"error": "{error}"}}' >"$2"; printf 404; exit""")
    run, _, _ = team.work(runner)
    assert run.conclusion == conclusion, run.log()


def test_the_fixture_refuses_what_it_does_not_know(team, runner):
    text = "on: {workflow_dispatch: {inputs: {}}}\njobs: {a: {runs-on: x, steps: [{name: a, uses: actions/checkout@v4}]}}\n"
    team.host.put_files(team.repo, {".github/workflows/other.yml": text})
    path = f"/repos/{team.repo}/actions/workflows/other.yml/dispatches"
    assert team.host.api("POST", path, team.at_host.token, json={"ref": "main"}).status_code == 204
    with pytest.raises(Exception, match="uses in a step"):
        runner.run(team.repo, team.host.runs(team.repo)[-1])
