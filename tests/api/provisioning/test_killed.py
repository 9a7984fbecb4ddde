"""svc-interests is killed within provisioning: before each step, and between what the step has done and the commit that
stores it. The end is the same as without."""

import pytest

from lib.wait import wait_for

STEPS = ["check_app", "agent_key", "model_key", "workflow", "pull_request", "merge", "installation", "first_run"]

# A statement that stores the beginning or the end of a step, or the end of the task, waits for a lock that the test holds.
HOLD = """
CREATE OR REPLACE FUNCTION test_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(4711);
    RETURN NEW;
END $$;
CREATE TRIGGER test_hold BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION test_hold();
"""
WAITING = """
SELECT FROM pg_stat_activity
WHERE usename = 'expops_interests' AND wait_event_type = 'Lock' AND wait_event = 'advisory'
"""

POINTS = [(step, when) for step in STEPS for when in ("running", "completed")] + [("task", "completed")]


@pytest.fixture
def db(cluster):
    with cluster.postgres.connect("interests") as connection:
        yield connection
        for table in ("provision_step", "task"):
            connection.execute(f"DROP TRIGGER IF EXISTS test_hold ON {table}")
        connection.execute("DROP FUNCTION IF EXISTS test_hold")


def hold(db, point, when):
    table = "task" if point == "task" else "provision_step"
    subject = "NEW.kind = 'provision'" if point == "task" else f"NEW.name = '{point}'"
    db.execute(HOLD.format(table=table, condition=f"{subject} AND NEW.status = '{when}'"))
    db.execute("SELECT pg_advisory_lock(4711)")


def kill(cluster, db):
    """Kill the process, then start it, as if its leases had expired meanwhile."""
    cluster.kill9("svc-interests")
    for table in ("provision_step", "task"):
        db.execute(f"DROP TRIGGER IF EXISTS test_hold ON {table}")
    db.execute("SELECT pg_advisory_unlock_all()")
    wait_for(lambda: db.execute(WAITING).fetchone() is None, "the statement of the killed process is over")
    db.execute("DELETE FROM lease")
    db.execute("UPDATE task SET lease_until = now() WHERE status = 'running'")
    cluster.start("svc-interests")
    cluster.wait_ready("svc-interests")


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
def test_a_process_killed_before_a_commit_changes_nothing_of_the_end(cluster, team, db, point, when):
    """A merge can be told by an event before it is asked for again."""
    hold(db, point, when)
    started = team.start(auto_merge=True)
    wait_for(lambda: db.execute(WAITING).fetchone() is not None, "the statement waits")
    kill(cluster, db)
    check_end(team, started, may_skip=["merge"] if (point, when) == ("merge", "completed") else [])


@pytest.mark.parametrize(("method", "path"), [("GET", "/secrets/public-key$"), ("PUT", "/merge$"), ("POST", "/dispatches$")])
def test_a_process_killed_before_the_code_host_answers_changes_nothing_of_the_end(cluster, team, db, method, path):
    """The code host has done what was asked, and its answer never arrives. With the first one the agent's key is made and
    not stored anywhere."""
    before = team.host.last_number()
    team.host.fail(method, path, hang=True)
    started = team.start(auto_merge=True)
    wait_for(lambda: team.host.requests(before, method, path), "the code host was asked")
    kill(cluster, db)
    check_end(team, started, may_skip=["merge"])
