"""svc-interests is killed within provisioning: before each step, and between what the step has done and the commit that
stores it. The end is the same as without."""

import re

import pytest

from lib.system.kill_points import KillPoints
from lib.wait import wait_for

STEPS = ["check_app", "agent_key", "model_key", "workflow", "pull_request", "merge", "installation", "first_run"]

POINTS = [(step, when) for step in STEPS for when in ("running", "completed")] + [("task", "completed")]


@pytest.fixture
def points(cluster):
    with cluster.postgres.connect("interests") as db:
        made = KillPoints(cluster, "svc-interests", db, ["provision_step", "task"])
        yield made
        made.release()


def events_handled(process):
    return sum(int(count) for count in re.findall(r'expops_events_total{stream="events.code_host".*} (\d+)', process.metrics()))


def test_a_merge_before_the_pull_request_is_stored_is_noticed(cluster, team, points):
    """The event of it finds no row."""
    (process,) = cluster["svc-interests"]
    points.hold("provision_step", "NEW.name = 'pull_request' AND NEW.status = 'completed'")
    started = team.start()
    points.wait()
    handled = events_handled(process)
    (pull,) = team.pulls()
    team.host.merge(team.repo, pull["number"])
    wait_for(lambda: events_handled(process) > handled, "the event of the merge was handled")
    points.release()
    assert team.api.wait_task(started)["result"]["merged"] is True
    assert team.status()["state"] == "active"


def check_end(team, started, may_skip=()):
    task = team.api.wait_task(started)
    assert task["status"] == "completed" and task["attempts"] == 2, task
    result = task["result"]
    (key,) = team.keys()
    (installation,) = team.installations()
    assert (result["key_id"], result["installation_id"]) == (key["id"], installation["id"])
    assert (installation["status"], installation["key_id"]) == ("active", key["id"])
    assert (result["merged"], result["dispatched"], result["secret_set"]) == (True, True, True)
    assert team.agent_works()
    assert len(team.pulls()) == len(team.host.runs(team.repo)) == 1
    assert team.status()["state"] == "active"
    steps = team.api.get(team.path(f"provision/{task['task_id']}")).json()["steps"]
    assert {step["name"] for step in steps if step["status"] != "completed"} <= set(may_skip)


@pytest.mark.parametrize(("point", "when"), POINTS)
def test_a_process_killed_before_a_commit_changes_nothing_of_the_end(team, points, point, when):
    """A merge can be told by an event before it is asked for again."""
    table = "task" if point == "task" else "provision_step"
    subject = "NEW.kind = 'provision'" if point == "task" else f"NEW.name = '{point}'"
    points.hold(table, f"{subject} AND NEW.status = '{when}'")
    started = team.start(auto_merge=True)
    points.wait()
    points.kill()
    check_end(team, started, may_skip=["merge"] if (point, when) == ("merge", "completed") else [])


@pytest.mark.parametrize(("method", "path"), [("GET", "/secrets/public-key$"), ("PUT", "/merge$"), ("POST", "/dispatches$")])
def test_a_process_killed_before_the_code_host_answers_changes_nothing_of_the_end(team, points, method, path):
    """The code host has done what was asked, and its answer never arrives. With the first one the agent's key is made and
    not stored anywhere. A merge can be told by an event before it is asked for again."""
    before = team.host.last_number()
    team.host.fail(method, path, hang=True)
    started = team.start(auto_merge=True)
    wait_for(lambda: team.host.requests(before, method, path), "the code host was asked")
    points.kill()
    check_end(team, started, may_skip=["merge"])


def test_an_interest_that_is_deleted_while_its_agent_gets_a_key_leaves_none(team, points):
    """No row has the key's id: neither that of the interest, nor that of the step, which never ends."""
    before = team.host.last_number()
    team.host.fail("GET", "/secrets/public-key$", hang=True)
    team.start()
    wait_for(lambda: team.host.requests(before, "GET", "/secrets/public-key$"), "the code host was asked")
    assert len(team.keys()) == 1
    team.api.delete(f"/interests/{team.interest}", expect=200)
    points.kill()
    wait_for(lambda: team.keys() == [], "the key is revoked")
