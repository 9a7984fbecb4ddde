"""A worker that is killed, or hangs: what it has started ends, and what it has left is removed by the next one."""

import os
import signal
from pathlib import Path

import pytest

from lib.scenario.evalenv import worker
from lib.wait import wait_for

RUNS = "/eval-env/runs"

# A container goes on until it is removed by name; `told` has what was asked for. While there is a file `away`, no daemon answers.
PODMAN = """#!/bin/sh
[ ! -e "$0.away" ] || exit 125
case $1 in
version) exit 0;;
container) grep -q "^run $3$" "$0.told" && ! grep -q "^rm --force --volumes $3$" "$0.told";;
run) echo "run $3" >>"$0.told"; echo $$; exec sleep 600;;
*) echo "$@" >>"$0.told";;
esac
"""


@pytest.fixture
def work(cluster, user, tmp_path):
    """work(**settings): a worker of the account in the folder that all have, as after a restart."""
    programs = []

    def start(**settings):
        program = worker(cluster, user.key, tmp_path, WORKER_NAME="one", **settings)
        programs.append(program)
        program.start()
        return program

    yield start
    for program in programs:
        program.stop()
        assert not program.check()


@pytest.fixture
def run(api, template):
    """run(**members): the id of a run that has begun, and the process that it has printed."""

    def make(**members):
        one = api.post(RUNS, {"template_id": template()["template_id"], **members}, expect=201).json()["run_id"]
        log = wait_for(lambda: api.get(f"{RUNS}/{one}", expect=200).json()["log_tail"], "it has begun")
        return one, [int(word) for word in log.split()]

    return make


@pytest.fixture
def podman(tmp_path):
    """podman(): what it was asked for. The path is in podman.path, and podman.away is a file that says that no daemon answers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "podman").write_text(PODMAN)
    (folder / "podman").chmod(0o755)

    def told():
        return (folder / "podman.told").read_text().splitlines()

    told.path = f"{folder}:{os.environ['PATH']}"
    told.away = folder / "podman.away"
    return told


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def folders(program):
    return list(Path(program.env["WORK_DIR"]).iterdir())


def kill_with_group(program, pid):
    """As the kernel does with a control group: nothing is left that could clean up."""
    program.pause()
    os.killpg(os.getpgid(pid), signal.SIGKILL)
    program.kill9()


def test_a_killed_worker_takes_its_command_along(api, work, run):
    program = work(RUN_COMMAND="trap '' TERM; sleep 600 & echo $$ $!; while :; do wait; done")
    one, pids = run()
    program.kill9()
    wait_for(lambda: not any(map(is_alive, pids)), "the command and what it has started end")
    assert len(folders(program)) == 1
    program = work(RUN_COMMAND="true")
    wait_for(lambda: not folders(program), "the folder is removed")
    api.post(f"{RUNS}/{one}/cancel", expect=200)


def test_the_container_of_a_killed_worker_is_removed_at_once(api, work, run, podman):
    program = work(PATH=podman.path)
    one, pids = run()
    program.kill9()
    wait_for(lambda: f"rm --force --volumes expops-{one}-1" in podman(), "the container is removed")
    wait_for(lambda: not any(map(is_alive, pids)), "it has ended")
    api.post(f"{RUNS}/{one}/cancel", expect=200)


def test_what_a_killed_worker_has_left_is_removed_at_the_next_start(api, work, run, podman):
    program = work(PATH=podman.path)
    one, (pid,) = run()
    kill_with_group(program, pid)
    assert len(folders(program)) == 1 and podman() == [f"run expops-{one}-1"]
    work(PATH=podman.path)
    wait_for(lambda: not folders(program), "the folder is removed")
    assert podman()[1:] == [f"kill expops-{one}-1", f"rm --force --volumes expops-{one}-1"]
    api.post(f"{RUNS}/{one}/cancel", expect=200)


def test_the_container_of_a_run_that_ended_while_its_engine_was_away_is_removed(api, work, run, podman):
    program = work(PATH=podman.path, CLAIM_WAIT="1s")
    one, (pid,) = run()
    podman.away.touch()
    os.kill(pid, signal.SIGKILL)
    (folder,) = folders(program)
    wait_for(lambda: [file.name for file in folder.iterdir()] == ["name"], "only the name of the container is left")
    assert podman() == [f"run expops-{one}-1"] and "a container may be left" in program.log()
    podman.away.unlink()
    wait_for(lambda: not folders(program), "the folder is removed")
    assert podman()[-1] == f"rm --force --volumes expops-{one}-1"


def test_another_worker_of_the_same_name_keeps_its_work(api, work, run, podman):
    work(PATH=podman.path)
    one, (pid,) = run()
    other = work(PATH=podman.path, RUN_SLOTS="0")
    wait_for(lambda: other.log().count('"working"') == 2, "the other one works too")
    assert len(folders(other)) == 1 and is_alive(pid) and podman() == [f"run expops-{one}-1"]
    api.post(f"{RUNS}/{one}/cancel", expect=200)
    wait_for(lambda: not folders(other), "the folder is removed by its own worker")
    assert podman()[-1] == f"rm --force --volumes expops-{one}-1"


def test_the_command_of_a_worker_that_hangs_has_a_time_limit(api, work, run):
    program = work(RUN_COMMAND="echo $$; sleep 600; true")
    one, pids = run(timeout_seconds=1)
    program.pause()
    wait_for(lambda: not any(map(is_alive, pids)), "the command has ended")
    program.resume()
    wait_for(lambda: api.get(f"{RUNS}/{one}", expect=200).json()["status"] == "timed_out", "its run has ended")
