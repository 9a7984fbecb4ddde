"""deploy/roll that is interrupted, or waits in vain: as many containers run afterwards as before. With a stand-in for docker."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SERVICE = "svc-search"

# Keeps a file a container, with its health, or `ended`. Where HOLD names what it does, it says so and waits for the file `go`. With
# `health` new containers become healthy never.
DOCKER = """#!/bin/bash
cd "$STATE" || exit 9
hold() {
	[[ $HOLD == "$1" && ! -e go ]] || return 0
	touch reached
	until [[ -e go ]]; do sleep 0.02; done
}
[[ $1 != compose ]] || shift 3 # compose --progress quiet
case $1 in
ps)
	if [[ $2 == -aq ]]; then ls containers; else grep -Lx ended containers/* | sed 's,.*/,,'; fi ;;
up)
	echo starting >"containers/new$(date +%s%N)"
	hold up ;;
inspect)
	hold inspect
	[[ $HOLD == health || $(cat "containers/${*: -1}") != starting ]] || echo healthy >"containers/${*: -1}"
	cat "containers/${*: -1}" ;;
stop)
	hold stop
	echo ended >"containers/$2" ;;
rm)
	case $3 in
	svc-*) grep -lx ended containers/* | xargs -r rm ;;
	*) rm "containers/$3" ;;
	esac ;;
*) exit 9 ;;
esac
"""


@pytest.fixture
def state(tmp_path):
    for name in ("bin", "containers"):
        (tmp_path / name).mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    for name in ("first", "second"):
        (tmp_path / "containers" / name).write_text("healthy\n")
    return tmp_path


def roll(state, hold="", **settings):
    path = f"{state / 'bin'}:{os.environ['PATH']}"
    return subprocess.Popen([ROOT / "deploy" / "roll", SERVICE], env={**os.environ, "PATH": path, "STATE": str(state), "HOLD": hold, **settings},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)  # fmt: skip


def containers(state):
    """{name: health}"""
    return {path.name: path.read_text().strip() for path in (state / "containers").iterdir()}


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def test_all_are_replaced(state):
    process = roll(state)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert list(containers(state).values()) == ["healthy", "healthy"] and not {"first", "second"} & set(containers(state))


SIGNALS = {  # of a service manager, to the script; of a terminal, to all that it runs
    "TERM": (os.kill, signal.SIGTERM, 143),
    "INT": (os.killpg, signal.SIGINT, 130),
    "HUP": (os.killpg, signal.SIGHUP, 129),
}


@pytest.mark.parametrize("hold", ["up", "inspect", "stop"])
@pytest.mark.parametrize("send, number, status", SIGNALS.values(), ids=SIGNALS)
def test_an_interrupted_one_leaves_as_many(state, hold, send, number, status):
    process = roll(state, hold)
    wait_for(state / "reached")
    assert len(containers(state)) == 3
    send(process.pid, number)
    (state / "go").touch()
    output, _ = process.communicate(timeout=60)
    left = containers(state)
    assert list(left.values()) == ["healthy", "healthy"], output
    assert ({"first", "second"} == set(left)) == (hold != "stop"), "before it has a healthy one in its place, none ends"
    assert process.returncode == status, output


def test_how_long_it_waits_is_a_setting(state):
    process = roll(state, "health", HEALTHY_SECONDS="1")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "does not become healthy; the others go on" in output
    assert set(containers(state)) == {"first", "second"}


def test_what_is_no_number_of_seconds_is_refused(state):
    process = roll(state, HEALTHY_SECONDS="10m")
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, 'roll: HEALTHY_SECONDS is a number of seconds, and not "10m"\n')
