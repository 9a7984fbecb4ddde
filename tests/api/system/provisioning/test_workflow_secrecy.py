"""What a run of the workflow tells whom: the agent gets one key and no token, and what others write stays data."""

import uuid

import pytest

from lib.outside.tools import CHANGE
from lib.wait import wait_for

pytestmark = pytest.mark.usefixtures("usual")


@pytest.fixture(scope="module")
def team(working_team):
    return working_team


# ---- who knows what ----


@pytest.mark.parametrize(
    ("agent", "program", "provider", "variable"),
    [("agent_one", "agent_one", "anthropic", "ANTHROPIC_API_KEY"), ("agent_two", "codex", "openai", "CODEX_API_KEY"),
     ("agent_two", "codex", "custom", "CODEX_API_KEY"), ("agent_three", "opencode", "openai", "OPENAI_API_KEY")],
)  # fmt: skip
def test_the_credential_follows_the_pair(team, runner, tools, agent, program, provider, variable):
    keys = {name: f"good-{name}-{uuid.uuid4()}" for name in ("anthropic", "openai", "custom")}
    for name, key in keys.items():
        team.host.put_secret(team.repo, f"EXPOPS_MODEL_KEY_{name.upper()}", key)
    team.host.put_secret(team.repo, "EXPOPS_MODEL_URL", "http://127.0.0.2:9")
    tools.agent(f"{CHANGE}; echo '{{}}'", program)
    run, told, _ = team.work(runner, agent=agent, provider=provider, model="small")
    assert told["status"] == "pr_opened", run.log()
    env = tools.env_of(run)
    assert {name: value for name, value in env.items() if value in keys.values()} == {variable: keys[provider]}
    assert env["MODEL_URL"] == ("http://127.0.0.2:9" if provider == "custom" else "") and env["MODEL"] == "small"


def test_what_runs_an_agents_code_has_no_key_of_expops_and_no_token(team, runner, tools):
    """Neither the agent nor, in their own job, the tests of what it wrote."""
    runner.variables = {"EXPOPS_TESTS": "true"}
    tools.agent(CHANGE)
    run, _, _ = team.work(runner)
    key = team.host.secret(team.repo, "EXPOPS_KEY")
    fetches = {"Fetch the repository", "Apply the change to the repository"}
    for step in run.jobs["work"].steps + run.jobs["test"].steps:
        assert not [name for name, value in step.env.items() if key in value], step.name
        assert ("TOKEN" in step.env) == (step.name in fetches), step.name
    for step in ("Install the agent", "Run the repository's tests"):
        assert not [name for name, value in run.step(step).env.items() if value.startswith("good-")]
    assert "good-" not in str([step.env for step in run.jobs["publish"].steps])


def test_the_token_of_the_agents_job_can_only_read(team, runner, tools):
    run, _, _ = team.work(runner)
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
    run, told, row = team.work(runner, lead_content=lead)
    assert told["status"] == "pr_opened", run.log()
    assert is_safe(runner) and team.pull_of(row)["title"] == NASTY
    assert team.host.files(team.repo, f"expops/run-{row['id']}")["brief.md"] == lead + "\n"


def test_a_paper_is_data(operator, team, runner, tools):
    source = NASTY.replace("$", "\\$")  # titles and abstracts are LaTeX, where a dollar sign is written so
    body = {"title": source, "abstract": f"{source}\nstatus=pr_opened\n", "authors": ["A"], "categories": ["cs.IR"]}
    title = operator.api.put("/search/assets/2605.99999", body).json()["title"]
    assert f"$({TOUCH}) `{TOUCH}`" in title
    wait_for(lambda: team.api.get("/search/assets/2605.99999").status_code == 200, "the paper is there")
    row = team.trigger(pin_arxiv="2605.99999")
    run = runner.run(team.repo, row)
    assert team.reported(row)["status"] == "pr_opened", run.log()
    assert is_safe(runner) and team.pull_of(row)["title"] == title


@pytest.mark.parametrize(
    ("names", "status"),
    [(["agent", "interest_id"], "aborted_impossible_pair"), (["interest_id"], "choose_failed"),
     (["start_from_ref"], "fetch_failed"), (["fidelity_policy", "model", "test_integration_policy"], "pr_opened")],
)  # fmt: skip
def test_inputs_are_data(team, runner, names, status):
    run, told, _ = team.work(runner, **dict.fromkeys(names, NASTY))
    assert (told["status"], is_safe(runner)) == (status, True), run.log()


def test_a_branch_is_no_option(team, runner):
    run, told, _ = team.work(runner, start_from_ref=f"--upload-pack={TOUCH}")
    assert (told["status"], is_safe(runner)) == ("fetch_failed", True), run.log()


def test_a_paper_is_no_path(team, runner):
    _, told, _ = team.work(runner, lead_content="", pin_arxiv="../interests?x=[a-z]")
    assert told["status"] == "aborted_no_such_paper"


def test_names_of_files_are_data(team, runner, tools):
    tools.agent("echo >'$(touch pwned)'; echo >$'a\\nb'; echo >':(top)x'")
    run, told, _ = team.work(runner)
    assert told["status"] == "pr_opened", run.log()
    assert set(told["files_touched"]) == {"$(touch pwned)", "a\nb", ":(top)x"}
