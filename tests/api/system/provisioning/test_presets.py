"""The presets of agents (svc-interests/provision/preset): their commands are run as the workflow runs them, with programs in the
agents' place that print what the real ones were seen to print, and what they note of their cost is what telemetry stores."""

import json
import shutil
import subprocess

import pytest

from lib.outside.agents import PRESETS, noted_usage, run_preset
from lib.outside.tools import CHANGE

PROGRAMS = {"claude_code": "claude", "codex": "codex", "opencode": "opencode"}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def claude_tokens(usd, fresh, written, read, out):
    return {"inputTokens": fresh, "outputTokens": out, "cacheReadInputTokens": read, "cacheCreationInputTokens": written, "costUSD": usd}


CLAUDE = lines({
    "type": "result", "subtype": "success", "is_error": False, "result": "Done", "num_turns": 7, "total_cost_usd": 0.31,
    "usage": {"input_tokens": 1, "output_tokens": 1}, "permission_denials": [],
    "modelUsage": {"small": claude_tokens(0.01, 10, 0, 5, 2), "large": claude_tokens(0.3, 1000, 200, 5000, 80)},
})  # fmt: skip
CODEX = lines(
    {"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "Done"}},
    {"type": "turn.completed", "usage": {"input_tokens": 900, "cached_input_tokens": 400, "cache_write_input_tokens": 100,
                                         "output_tokens": 60, "reasoning_output_tokens": 20}},
)  # fmt: skip


def opencode_step(usd, fresh, written, read, out, reasoning):
    tokens = {"total": 0, "input": fresh, "output": out, "reasoning": reasoning, "cache": {"read": read, "write": written}}
    return {"type": "step_finish", "part": {"type": "step-finish", "tokens": tokens, "cost": usd}}


OPENCODE = lines({"type": "step_start", "part": {}}, {"type": "text", "part": {"text": "Done"}},
                 opencode_step(0.02, 100, 30, 0, 10, 5), opencode_step(0.03, 50, 0, 130, 20, 0))  # fmt: skip

CLAUDE_USAGE = {"model": "large", "num_turns": 7, "input_tokens": 1210, "output_tokens": 82, "cache_read_input_tokens": 5005,
                "cache_write_input_tokens": 200}
CODEX_USAGE = {"input_tokens": 500, "cache_read_input_tokens": 400, "cache_write_input_tokens": 100, "output_tokens": 60}
OPENCODE_USAGE = {"num_turns": 2, "cost_usd": 0.05, "input_tokens": 180, "output_tokens": 35, "cache_read_input_tokens": 130,
                  "cache_write_input_tokens": 30}

# Preset, provider, what its program prints, and what is noted.
OUTPUTS = [
    ("claude_code", "anthropic", CLAUDE, {**CLAUDE_USAGE, "cost_usd": 0.31}),
    ("claude_code", "moonshot", CLAUDE, CLAUDE_USAGE),  # its price list is not that provider's
    ("claude_code", "custom", CLAUDE, CLAUDE_USAGE),
    ("codex", "openai", CODEX, CODEX_USAGE),
    ("codex", "custom", CODEX, CODEX_USAGE),
    ("opencode", "moonshot", OPENCODE, OPENCODE_USAGE),
]

# What each is started with: arguments and variables, by provider.
STARTS = {
    ("claude_code", "anthropic"): (["--bare", "--max-budget-usd", "10", "--model", "m"], {"ANTHROPIC_BASE_URL": None}),
    ("claude_code", "zai"): (["--bare"], {"ANTHROPIC_BASE_URL": "https://api.z.ai/api/anthropic"}),
    ("claude_code", "custom"): (["--bare"], {"ANTHROPIC_BASE_URL": "https://models.example/v1"}),
    ("codex", "openai"): (["exec", "--json", "-m", "m", "-"], {}),
    ("codex", "custom"): (["-c", 'openai_base_url="https://models.example/v1"'], {}),
    ("opencode", "moonshot"): (["run", "--pure", "-m", "moonshotai/m", "--"], {"OPENCODE_DISABLE_PROJECT_CONFIG": "1"}),
    ("opencode", "zai"): (["-m", "zai/m"], {}),
}


class Agent:
    """Runs the commands of a preset with a program that prints `output` and ends with `status`."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, name, provider, output="", status=0, **env):
        program = self.folder / PROGRAMS[name]
        (self.folder / "output").write_text(output)
        program.write_text(f'#!/bin/bash\nprintf "%s\\0" "$@" >"$HOME/args"\nenv -0 >"$HOME/env"\ncat "$HOME/output"\nexit {status}\n')
        program.chmod(0o755)
        (self.folder / "brief.md").write_text("Do better\n")
        variables = {"PROVIDER": provider, "MODEL": "m", "MODEL_URL": "https://models.example/v1"}
        return run_preset(name, self.folder, self.folder, **{**variables, **env})

    def usage(self):
        return noted_usage(self.folder)

    def zeroed(self, file):
        return (self.folder / file).read_text().split("\0")[:-1]


@pytest.fixture
def agent(tmp_path):
    return Agent(tmp_path)


def test_every_preset_is_known_here():
    assert set(PRESETS) == set(PROGRAMS) and shutil.which("jq")


@pytest.mark.parametrize("name", PRESETS)
def test_versions_are_pinned_and_commands_pass_shellcheck(name):
    entry = PRESETS[name]
    assert entry["install"].startswith("npm install -g ") and entry["install"].rpartition("@")[2].count(".") == 2
    for script in (entry["install"], entry["run"]):
        text = f"set -euo pipefail\n{script}\n"
        done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("name", "provider"), STARTS)
def test_a_program_is_started_for_its_provider(agent, name, provider):
    arguments, variables = STARTS[name, provider]
    assert agent.run(name, provider, "{}").returncode == 0
    told, env = agent.zeroed("args"), dict(pair.split("=", 1) for pair in agent.zeroed("env"))
    at = told.index(arguments[0])
    assert [one for one in told[at:] if one in arguments] == arguments
    assert {key: env.get(key) for key in variables} == variables


@pytest.mark.parametrize("name", PRESETS)
def test_without_a_model_the_agent_chooses(agent, name):
    agent.run(name, next(iter(PRESETS[name]["credential"])), "{}", MODEL="")
    assert not {"-m", "--model"} & set(agent.zeroed("args"))


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize(("name", "provider", "output", "usage"), OUTPUTS)
def test_what_it_has_cost_is_noted_also_when_it_fails(agent, name, provider, output, usage, status):
    assert agent.run(name, provider, output, status).returncode == status
    assert agent.usage() == pytest.approx(usage)


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("output", ["", "not JSON\n", "{}\n"])
@pytest.mark.parametrize("name", PRESETS)
def test_an_output_that_says_nothing_costs_nothing_known(agent, name, output, status):
    assert agent.run(name, next(iter(PRESETS[name]["credential"])), output, status).returncode == status
    assert not set(agent.usage()) - {"num_turns"}


def test_a_cost_of_nothing_is_none_that_is_known(agent):
    """A program that has no price of the model says 0."""
    agent.run("opencode", "zai", lines(opencode_step(0, 100, 30, 0, 10, 5)))
    assert agent.usage() == {"num_turns": 1, "input_tokens": 130, "output_tokens": 15, "cache_read_input_tokens": 0, "cache_write_input_tokens": 30}


def add_codex_session(folder, thread, model):
    """Codex's record of a thread, where its version 0.169.0 leaves it."""
    folder.mkdir(parents=True)
    text = lines({"timestamp": "2026-11-27T09:30:00.000Z", "ordinal": 0, "type": "session_meta", "payload": {"id": thread}},
                     {"timestamp": "2026-11-27T09:30:01.000Z", "ordinal": 1, "type": "turn_context",
                      "payload": {"turn_id": "1", "model": model, "summary": "none"}})  # fmt: skip
    (folder / f"rollout-2026-11-27T09-30-00-{thread}.jsonl").write_text(text)


@pytest.mark.parametrize("home", [None, "elsewhere"])
def test_the_model_that_codex_chose_is_noted(agent, home):
    """And not that of another run on the same machine."""
    sessions = agent.folder / (home or ".codex") / "sessions" / "2026" / "11"
    add_codex_session(sessions / "27", "t", "chosen")
    for day in ("26", "28"):
        add_codex_session(sessions / day, "other", "another")
    variables = {"CODEX_HOME": str(agent.folder / home)} if home else {}
    agent.run("codex", "openai", CODEX, MODEL="", **variables)
    assert agent.usage() == {**CODEX_USAGE, "model": "chosen"}


def test_telemetry_stores_what_is_noted(agent, make_team):
    team = make_team()
    team.provision()
    for number, (name, provider, output, usage) in enumerate(OUTPUTS):
        agent.run(name, provider, output)
        noted = json.loads((agent.folder / "usage.json").read_text())
        told = team.agent().post("/fleet/runs", {"run_id": f"preset-{number}", "repo": team.repo, **noted}, expect=201).json()
        assert {key: told[key] for key in usage} == pytest.approx(usage) and not told.get("ignored")


@pytest.mark.usefixtures("usual")
def test_a_run_with_a_preset(working_team, runner, tools):
    """The whole workflow, with the commands as they are shipped."""
    team = working_team
    team.host.put_secret(team.repo, "EXPOPS_MODEL_KEY_OPENAI", "good-openai")
    tools.agent(f"{CHANGE}; cat <<'END'\n{CODEX}END", "codex")
    run, told, row = team.work(runner, agent="agent_two", provider="openai", model="m")
    assert (run.conclusion, told["status"]) == ("success", "pr_opened"), run.log()
    assert {key: told[key] for key in CODEX_USAGE} == CODEX_USAGE and "cost_usd" not in told
    assert told["model"] == "m" and team.pull_of(row)["state"] == "open"
    tools.agent("""echo '{"type": "turn.failed", "error": {"message": "no such model"}}'; exit 1""", "codex")
    run, told, _ = team.work(runner, agent="agent_two", provider="openai")
    assert (told["status"], told["error"]) == ("agent_failed", "The agent failed with status 1: no such model"), run.log()
