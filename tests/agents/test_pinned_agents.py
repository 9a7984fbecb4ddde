"""The programs that the presets install, in the versions that they pin, each run by its preset's own lines against the interface of its
model's provider. They come from the registry of npm, so this is no part of `deploy/dev test`."""

import json
import os
import subprocess

import pytest

from lib.outside.agents import PRESETS, noted_usage, run_preset
from lib.outside.model_api import TOKENS, ModelApi
from lib.system.servers import ROOT

KEY = "sk-model"
PATIENCE_SECONDS = 300
INPUT = TOKENS["fresh"] + TOKENS["written"]
MESSAGES = {"input_tokens": INPUT, "output_tokens": TOKENS["out"], "cache_read_input_tokens": TOKENS["read"],
            "cache_write_input_tokens": TOKENS["written"], "num_turns": 1}  # fmt: skip
RESPONSES = {"input_tokens": TOKENS["fresh"], "output_tokens": TOKENS["out"], "cache_read_input_tokens": TOKENS["read"]}

# Preset, provider, model, and what is noted of a run, but for a cost.
RUNS = [
    ("claude_code", "custom", "m", {**MESSAGES, "model": "m"}),
    ("codex", "custom", "m", {**RESPONSES, "cache_write_input_tokens": 0, "model": "m"}),
    ("opencode", "anthropic", "claude-sonnet-4-5", MESSAGES),
    ("opencode", "openai", "gpt-5.1", {**RESPONSES, "cache_write_input_tokens": 0, "num_turns": 1}),
]


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The folder of the programs, installed once by the presets' own lines."""
    folder = ROOT / "build" / "agents"
    env = {**os.environ, "npm_config_prefix": str(folder), "npm_config_cache": str(tmp_path_factory.mktemp("npm"))}
    for preset in PRESETS.values():
        subprocess.run(["bash", "-euc", preset["install"]], env=env, check=True)
    return folder / "bin"


@pytest.fixture
def model():
    api = ModelApi(KEY)
    yield api
    api.close()


@pytest.fixture
def run(programs, model, tmp_path):
    """Run a preset in an empty repository. How it ended."""

    def run_agent(name, provider, model_name, key):
        repository = tmp_path / "repository"
        subprocess.run(["git", "init", "-q", repository], check=True)
        (tmp_path / "brief.md").write_text("Say that you are done.\n")
        # Where a preset has no setting for an address of one's own, the program's own configuration says it.
        settings = tmp_path / ".config" / "opencode" / "opencode.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"provider": {provider: {"options": {"baseURL": f"{model.url}/v1"}}}}))
        variables = {PRESETS[name]["credential"][provider]: key, "PROVIDER": provider, "MODEL": model_name,
                     "MODEL_URL": model.url + ("/v1" if name == "codex" else ""), "CLAUDE_CODE_MAX_RETRIES": "1"}  # fmt: skip
        return run_preset(name, programs, tmp_path, timeout=PATIENCE_SECONDS, cwd=repository, **variables)

    return run_agent


@pytest.mark.parametrize("name", PRESETS)
def test_the_pinned_version_is_installed(programs, name):
    version = PRESETS[name]["install"].rpartition("@")[2]
    program = {"claude_code": "claude"}.get(name, name)
    assert version in subprocess.run([programs / program, "--version"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("name", "provider", "model_name", "usage"), RUNS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_run_ends_and_its_tokens_are_noted(run, tmp_path, model, name, provider, model_name, usage):
    ended = run(name, provider, model_name, KEY)
    assert ended.returncode == 0, ended.stderr
    noted = noted_usage(tmp_path)
    noted.pop("cost_usd", None)
    assert noted == usage
    assert any(b"Say that you are done." in body for _, _, _, body in model.requests)


@pytest.mark.parametrize(("name", "provider", "model_name"), [run[:3] for run in RUNS])
def test_a_refused_key_fails_the_run_and_notes_no_tokens(run, tmp_path, name, provider, model_name):
    assert run(name, provider, model_name, "sk-other").returncode != 0
    assert not noted_usage(tmp_path).get("output_tokens")
