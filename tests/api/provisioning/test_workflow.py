"""The workflow that provisioning has written into a repository: the very file is run, with real repositories and real shells."""

import uuid

import pytest

from lib.wait import wait_for

CHANGE = 'echo "better" >>notes.md'


@pytest.fixture(scope="module")
def team(make_team, papers):
    """A team whose agent works."""
    made = make_team()
    made.provision(auto_merge=True)
    return made


@pytest.fixture(autouse=True)
def usual(tools, runner, git_host):
    """The usual agent makes a change; no repository has variables, none is protected."""
    tools.agent(CHANGE)
    runner.variables = {}
    git_host.protected.clear()


def pull_of(team, run):
    (found,) = [pull for pull in team.pulls() if pull["head"]["ref"] == f"expops/run-{run['id']}"]
    return found


def work(team, runner, **inputs):
    """Start a run with a task in words, and run it: what came of it and what was reported."""
    row = team.dispatch(**({"lead_content": "Do better"} | inputs))
    return runner.run(team.repo, row), team.reported(row), row


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
    pull = pull_of(team, row)
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


def test_a_pinned_paper_is_tried(team, papers, runner):
    paper = papers["2604.17325"]
    row = team.trigger(pin_arxiv=paper["id"] + "v1")
    assert runner.run(team.repo, row).conclusion == "success"
    assert pull_of(team, row)["title"] == " ".join(paper["title"].split())
    told = team.reported(row)
    assert (told["arxiv_id"], "recommendation_id" in told) == (paper["id"], False)


def test_a_run_begins_where_it_is_told(team, runner, git_host):
    team.host.put_branch(team.repo, "older", {"README.md": "# Older\n", "old.txt": "old\n"})
    run, _, row = work(team, runner, start_from_ref="older")
    assert run.conclusion == "success", run.log()
    files = git_host.files(team.repo, f"expops/run-{row['id']}")
    assert files == {"README.md": "# Older\n", "old.txt": "old\n", "notes.md": "better\n"}


def test_a_scheduled_run_needs_no_inputs(make_team, papers, runner):
    team = make_team(daily_count=1)
    team.provision(auto_merge=True)
    (row,) = team.host.runs(team.repo)
    run = runner.run(team.repo, {**row, "inputs": {}}, event="schedule")
    assert run.conclusion == "success", run.log()
    assert team.reported(row)["status"] == "pr_opened" and pull_of(team, row)["base"]["ref"] == "main"


def test_a_run_that_is_repeated_opens_no_second_pull_request(team, runner):
    _, _, row = work(team, runner)
    again = runner.run(team.repo, row)
    assert again.conclusion == "success", again.log()
    assert pull_of(team, row)["html_url"] == team.reported(row)["artifact_url"]


def test_what_the_agent_has_committed_is_proposed(team, runner, tools):
    tools.agent(f"{CHANGE}; git add -A; git -c user.name=a -c user.email=a@b commit -qm Mine")
    run, told, row = work(team, runner)
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
    run, told, row = work(team, runner, **inputs)
    assert (told["status"], told["outcome_kind"]) == (status, kind), run.log()
    assert run.conclusion == ("success" if kind == "skipped" else "failure")
    assert len(team.pulls()) == before and f"expops/run-{row['id']}" not in team.host.branches(team.repo)


def test_a_refused_push_is_reported(team, runner, git_host):
    git_host.protected.add(team.repo)
    run, told, _ = work(team, runner)
    assert (run.conclusion, told["status"], told["outcome_kind"]) == ("failure", "push_failed", "failed")


def test_a_refused_pull_request_is_reported_as_a_branch(team, runner):
    team.host.fail("POST", "/pulls$", status=403, body={"message": "not allowed"})
    run, told, _ = work(team, runner)
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
    run, told, row = work(team, runner, fidelity_policy="warn")
    assert run.conclusion == "success", run.log()
    assert set(told["files_dropped_out_of_scope"]) == {".github/x/a", ".github/workflows/expops.yml"}
    files = team.host.files(team.repo, f"expops/run-{row['id']}")
    assert "notes.md" in files and ".github/workflows/expops.yml" in files and ".github/x/a" not in files


@pytest.mark.parametrize(("policy", "result"), [("warn", "failed"), ("off", "skipped")])
def test_failing_tests_stop_nothing_where_they_need_not(team, runner, policy, result):
    runner.variables = {"EXPOPS_TESTS": "false"}
    run, told, _ = work(team, runner, test_integration_policy=policy)
    assert (run.conclusion, told["status"], told["test_status"]) == ("success", "pr_opened", result)


def test_what_an_agent_says_of_its_cost_cannot_stop_the_report(team, runner, tools):
    for usage in ('{"cost_usd": "much", "input_tokens": -1, "status": "x", "num_turns": 3}', "[1", '"$(id)"'):
        tools.agent(f"{CHANGE}; printf '%s\\n' '{usage}' '{{\"cost_usd\": 1}}' >\"$USAGE\"")
        _, told, _ = work(team, runner)
        assert told["status"] == "pr_opened" and "cost_usd" not in told


# ---- who knows what ----


@pytest.mark.parametrize(
    ("agent", "provider", "variable"),
    [("agent_one", "anthropic", "ANTHROPIC_API_KEY"), ("agent_two", "openai", "MODEL_KEY"),
     ("agent_three", "openai", "OPENAI_API_KEY"), ("agent_three", "custom", "CUSTOM_API_KEY")],
)  # fmt: skip
def test_the_credential_follows_the_pair(team, runner, tools, agent, provider, variable):
    keys = {name: f"good-{name}-{uuid.uuid4()}" for name in ("anthropic", "openai", "custom")}
    for name, key in keys.items():
        team.host.put_secret(team.repo, f"EXPOPS_MODEL_KEY_{name.upper()}", key)
    team.host.put_secret(team.repo, "EXPOPS_MODEL_URL", "http://127.0.0.2:9")
    tools.agent(CHANGE, agent)
    run, told, _ = work(team, runner, agent=agent, provider=provider, model="small")
    assert told["status"] == "pr_opened", run.log()
    env = tools.env_of(run)
    assert {name: value for name, value in env.items() if value in keys.values()} == {variable: keys[provider]}
    assert env["MODEL_URL"] == ("http://127.0.0.2:9" if provider == "custom" else "") and env["MODEL"] == "small"


def test_the_job_of_the_agent_has_no_key_of_expops_and_no_token(team, runner):
    run, _, _ = work(team, runner)
    key = team.host.secret(team.repo, "EXPOPS_KEY")
    for step in run.jobs["work"].steps:
        assert not [name for name, value in step.env.items() if key in value], step.name
        assert ("TOKEN" in step.env) == (step.name == "Fetch the repository")
    for step in ("Install the agent", "Run the repository's tests"):
        assert not [name for name, value in run.step(step).env.items() if value.startswith("good-")]
    assert "good-" not in str([step.env for step in run.jobs["publish"].steps])


def test_the_token_of_the_agents_job_can_only_read(team, runner, tools):
    run, _, _ = work(team, runner)
    token = run.step("Fetch the repository").env["TOKEN"]
    answer = team.host.api("PUT", f"/repos/{team.repo}/contents/a.txt", token, json={"message": "x", "content": "eA=="})
    assert answer.status_code == 403


# ---- what others write is data ----


TOUCH = 'touch "$HOME/../../pwned"'
NASTY = f"""$({TOUCH}) `{TOUCH}` "; {TOUCH} #' ${{{{ secrets.EXPOPS_KEY }}}} \\ %s"""


def is_safe(runner):
    return not list(runner.folder.rglob("pwned"))


def test_a_task_in_words_is_data(team, runner, tools):
    tools.agent('cp "$BRIEF" brief.md')
    lead = f"{NASTY}\nEOF\nstatus=pr_opened\nbrief<<x\n::error::x"
    run, told, row = work(team, runner, lead_content=lead)
    assert told["status"] == "pr_opened", run.log()
    assert is_safe(runner) and pull_of(team, row)["title"] == NASTY
    assert team.host.files(team.repo, f"expops/run-{row['id']}")["brief.md"] == lead + "\n"


def test_a_paper_is_data(operator, team, runner, tools):
    body = {"title": NASTY, "abstract": f"{NASTY}\nstatus=pr_opened\n", "authors": ["A"], "categories": ["cs.IR"]}
    operator.api.put("/search/assets/2605.99999", body)
    wait_for(lambda: team.api.get("/search/assets/2605.99999").status_code == 200, "the paper is there")
    row = team.trigger(pin_arxiv="2605.99999")
    run = runner.run(team.repo, row)
    assert team.reported(row)["status"] == "pr_opened", run.log()
    assert is_safe(runner) and pull_of(team, row)["title"] == NASTY


@pytest.mark.parametrize(
    ("names", "status"),
    [(["agent", "interest_id"], "aborted_impossible_pair"), (["interest_id"], "choose_failed"), (["start_from_ref"], "fetch_failed"),
     (["fidelity_policy", "model", "test_integration_policy"], "pr_opened")],
)  # fmt: skip
def test_inputs_are_data(team, runner, names, status):
    run, told, _ = work(team, runner, **dict.fromkeys(names, NASTY))
    assert (told["status"], is_safe(runner)) == (status, True), run.log()


def test_a_branch_is_no_option(team, runner):
    run, told, _ = work(team, runner, start_from_ref=f"--upload-pack={TOUCH}")
    assert (told["status"], is_safe(runner)) == ("fetch_failed", True), run.log()


def test_a_paper_is_no_path(team, runner):
    _, told, _ = work(team, runner, lead_content="", pin_arxiv="../interests?x=[a-z]")
    assert told["status"] == "aborted_no_such_paper"


def test_names_of_files_are_data(team, runner, tools):
    tools.agent("echo >'$(touch pwned)'; echo >$'a\\nb'; echo >':(top)x'")
    run, told, _ = work(team, runner)
    assert told["status"] == "pr_opened", run.log()
    assert set(told["files_touched"]) == {"$(touch pwned)", "a\nb", ":(top)x"}


def test_the_fixture_refuses_what_it_does_not_know(team, runner):
    text = "on: {workflow_dispatch: {inputs: {}}}\njobs: {a: {runs-on: x, steps: [{name: a, uses: actions/checkout@v4}]}}\n"
    team.host.put_files(team.repo, {".github/workflows/other.yml": text})
    path = f"/repos/{team.repo}/actions/workflows/other.yml/dispatches"
    assert team.host.api("POST", path, team.at_host.token, json={"ref": "main"}).status_code == 204
    with pytest.raises(Exception, match="uses in a step"):
        runner.run(team.repo, team.host.runs(team.repo)[-1])
