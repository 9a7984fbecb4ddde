"""The commands with which deploy/OPERATIONS.md replaces all secrets with compose, on one container a process and no load balancer:
after each step every process has the secrets of that step. With a stand-in for docker."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROCESSES = [line.split()[0] for line in (ROOT / "deploy" / "processes").read_text().splitlines() if line and not line.startswith("#")]
STEP = "deploy/secrets DIR --rotate "

# Keeps a folder a container, SERVICE.NUMBER: the secrets that it was started with. The gateway has a port of the host.
DOCKER = """#!/bin/bash
cd "$STATE/containers" || exit 9
last=${*: -1}
start() { cp -r "$STATE/secrets/$last" "$last.$(date +%s%N)"; }
if [[ $1 == compose ]]; then
	while [[ $1 != ps && $1 != up && $1 != rm && $1 != exec ]]; do shift || exit 9; done
	case "$*" in
	"ps "*) ls | grep "^$last\\." ;;
	"up "*--force-recreate*) rm -r "$last".* && start ;;
	"up "*"--scale gateway="*) echo "Bind for 127.0.0.1:8080 failed: port is already allocated" >&2 && exit 1 ;;
	"up "*--scale*) start ;;
	esac
	exit 0
fi
case "$*" in
*PortBindings*) [[ $last != gateway.* ]] || echo "8080 " ;;
inspect*) echo healthy ;;
rm*) rm -r "$last" ;;
esac
"""


@pytest.fixture
def state(tmp_path):
    for name in ("bin", "containers"):
        (tmp_path / name).mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    subprocess.run([ROOT / "deploy" / "secrets", tmp_path / "secrets"], check=True)
    for name in PROCESSES:
        subprocess.run(["cp", "-r", tmp_path / "secrets" / name, tmp_path / "containers" / f"{name}.1"], check=True)
    return tmp_path


def bash(state, commands):
    env = {**os.environ, "PATH": f"{state / 'bin'}:{os.environ['PATH']}", "STATE": str(state)}
    return subprocess.run(["bash", "-c", f"set -e\n{commands}"], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def files(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def steps():
    """The commands of the page up to each step and its end."""
    section = (ROOT / "deploy" / "OPERATIONS.md").read_text().partition("\n## Secrets\n")[2]
    (block,) = [one for one in section.split("\n\n") if one.startswith("    ") and STEP in one]
    functions, *parts = block.split(f"    {STEP}")
    return [f"{functions}{STEP}{part}" for part in parts]


def test_every_process_gets_the_secrets_of_each_step(state):
    seen = []
    for commands in steps():
        done = bash(state, commands.replace("DIR ", f"{state / 'secrets'} "))
        assert done.returncode == 0, done.stderr
        started = {path.name.partition(".")[0]: files(path) for path in (state / "containers").iterdir()}
        assert started == {name: files(state / "secrets" / name) for name in PROCESSES}
        assert started not in seen
        seen.append(started)
    assert len(seen) == 3


def test_who_rolls_the_gateway_without_a_load_balancer_is_told(state):
    done = bash(state, "deploy/roll")
    assert done.returncode == 1 and "gateway has port 8080 of the host" in done.stderr
    assert {path.name for path in (state / "containers").iterdir()} == {f"{name}.1" for name in PROCESSES}
