"""The documentation as a stranger follows it, on a fresh clone: the README's commands of "With compose", then the walk with curl of the
command line's page. They are taken from the texts."""

import secrets
import subprocess

import pytest

from lib.check.walk import blocks, check_walk, walk_commands
from lib.system.deployment import ROOT, base_image, environment, free_address
from lib.wait import PATIENCE_SECONDS

WALK = "=== the walk ==="


def commands(text, page):
    setup = blocks(text, "With compose")[0].splitlines()
    return [*setup, f"echo '{WALK}'", *walk_commands(page)]


@pytest.fixture
def clone(tmp_path):
    """(folder, environment) of a clone that has a compose project and a port of its own."""
    run = lambda *command: subprocess.run(command, check=True, capture_output=True)  # noqa: E731
    run("git", "clone", "-q", ROOT, tmp_path / "clone")
    names = {
        "COMPOSE_PROJECT_NAME": f"expops-walk-{secrets.token_hex(4)}",
        "EXPOPS_IMAGE": "expops-walk",
        "EXPOPS_SERVERS_IMAGE": "expops-walk-servers",
        "EXPOPS_BASE": base_image(),
        "EXPOPS_LISTEN": free_address(),
        "HARVEST_SETS": "",
    }
    env = {**environment(), **names}
    yield tmp_path / "clone", env
    down = ["docker", "compose", "-f", "deploy/compose.yaml", "down", "-v", "--timeout", "60"]
    subprocess.run(down, cwd=tmp_path / "clone", env=env, check=True, capture_output=True)


def test_the_walk_of_the_readme(clone):
    folder, env = clone
    text = (folder / "README.md").read_text().replace("127.0.0.1:8080", env["EXPOPS_LISTEN"])
    script = "\n".join(["set -eu", *commands(text, (folder / "gateway/cli/README.md").read_text())])
    done = subprocess.run(
        ["timeout", str(10 * PATIENCE_SECONDS), "bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    check_walk(done.stdout.partition(f"{WALK}\n")[2])
