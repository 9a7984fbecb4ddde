"""When agents start by themselves: the schedule of an interest, and its pause. tests/api/system/test_local_time.py has the clocks."""

from datetime import datetime, timedelta, timezone

import pytest

from lib.check import messages
from lib.scenario.provisioning import FILE
from lib.system.kill_points import KillPoints
from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

NAME = "svc-interests"
DEFAULT = {"every": "weekly", "weekday": 1, "hour": 8, "minute": 0, "time_zone": "UTC"}


@pytest.fixture
def db(cluster):
    with cluster.postgres.connect("interests") as connection:
        yield connection


@pytest.fixture
def eager(cluster):
    """Two more replicas, which look every 50 ms for agents whose time has come; stopped after the test."""
    count = len(cluster[NAME])
    for _ in range(2):
        cluster.add(NAME, SCHEDULE_CHECK="50ms").wait_ready()
    yield
    cluster.retire(NAME, count)


@pytest.fixture
def active(make_team, papers):
    """A team whose agent has had its first run. The time of its schedule is not among those of the last hours, which are made up for."""
    team = make_team()
    schedule(team, weekday=datetime.now(timezone.utc).isoweekday() % 7 + 1)
    assert team.provision(auto_merge=True)["result"]["dispatched"]
    return team


def schedule(team, expect=200, **members):
    return team.api.put(f"/interests/{team.interest}", {"schedule": members}, expect=expect).json()


def tasks(db, team):
    return [task.status for task in common.tasks(db, "scheduled_run", interest_id=team.interest)]


def ended(db, team):
    """Wait until the time that has come is over; returns the runs after the first one."""
    wait_for(lambda: interests_tables.is_planned_again(db, team.interest), "the next time is planned")
    wait_for(lambda: not {"pending", "running"} & set(tasks(db, team)), "the tasks have ended")
    return team.host.runs(team.repo)[1:]


# ---- the setting ----


def test_the_setting(team):
    path = f"/interests/{team.interest}"
    assert team.api.get(path, expect=200).json()["schedule"] == DEFAULT
    assert schedule(team, every="daily", time_zone="Europe/Berlin")["schedule"] == {**DEFAULT, "every": "daily", "time_zone": "Europe/Berlin"}
    assert schedule(team, hour=20)["schedule"] == {**DEFAULT, "every": "daily", "time_zone": "Europe/Berlin", "hour": 20}
    assert team.api.put(path, {"schedule": None}, expect=200).json()["schedule"] == DEFAULT
    made = team.api.post("/interests", {"name": "Other", "context": "x", "schedule": {"every": "off"}}, expect=201).json()
    assert made["schedule"] == {**DEFAULT, "every": "off"} and not made["agent_paused"]


@pytest.mark.parametrize(
    ("members", "field"),
    [({"every": "hourly"}, "schedule.every"), ({"weekday": 0}, "schedule.weekday"), ({"hour": 24}, "schedule.hour"),
     ({"minute": 60}, "schedule.minute"), ({"time_zone": "Mars/Base"}, "schedule.time_zone"),
     ({"time_zone": "CET"}, "schedule.time_zone")],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(working_team, members, field):
    assert [fault["field"] for fault in schedule(working_team, expect=400, **members)["errors"]] == [field]
    body = {"name": "Another", "context": "x", "schedule": members}
    assert [fault["field"] for fault in working_team.api.post("/interests", body, expect=400).json()["errors"]] == [field]


def test_the_next_time_is_told(db, active):
    schedule(active, every="daily", hour=7, minute=30, time_zone="Asia/Tokyo")
    assert active.status()["next_run_at"] == interests_tables.next_time_of_day(db, 7, 30, "Asia/Tokyo")
    schedule(active, every="off")
    assert active.status()["next_run_at"] is None


# ---- the time comes ----


def test_a_budget_leaves_a_run_out(db, active, eager):
    budget = {"scope": "interest", "interest_id": active.interest, "period": "month", "usd": 0, "action": "stop"}
    active.api.put("/fleet/budgets", budget, expect=200)
    interests_tables.scheduled_time_comes(db, active.interest)
    assert ended(db, active) == []
    assert active.api.get("/fleet/budgets", expect=200).json()[0]["state"]["refused"] == 1


def test_a_time_starts_the_agent_once(db, active, eager):
    interests_tables.scheduled_time_comes(db, active.interest)
    (run,) = ended(db, active)
    assert run["inputs"] == {"agent": "agent_one", "provider": "anthropic", "interest_id": active.interest}
    schedule(active, every="daily", hour=23, minute=59)  # the date has been
    assert interests_tables.is_next_date_later(db, active.interest)


def test_an_agent_whose_key_has_expired_is_not_at_work(db, active, eager):
    interests_tables.expire_agent_key(db, active.interest, 0)
    status = active.status()
    assert (status["state"], status["next_run_at"]) == ("failed", None)
    interests_tables.scheduled_time_comes(db, active.interest)
    assert ended(db, active) == []
    active.provision(auto_merge=True)
    assert active.status()["state"] == "active" and active.status()["next_run_at"] is not None


@pytest.mark.parametrize("keeps_old", [False, True])
def test_a_run_is_of_the_branch_that_is_the_default_now(db, active, eager, keeps_old):
    """The owner has renamed it, or chosen another one."""
    active.host.move_default_branch(active.repo, "trunk", keeps_old)
    interests_tables.scheduled_time_comes(db, active.interest)
    assert [run["head_branch"] for run in ended(db, active)] == ["trunk"]


def test_the_account_is_told_of_a_run_that_the_code_host_refuses(cluster, db, active, eager):
    active.host.put_files(active.repo, {FILE: None})
    interests_tables.scheduled_time_comes(db, active.interest)
    assert ended(db, active) == [] and tasks(db, active) == ["failed"]
    (told,) = messages.told(cluster, interests_tables.account_of(db, active.interest), "task.failed")
    assert (told["kind"], told["interest_id"], told["repo"]) == ("scheduled_run", active.interest, active.repo)
    assert "no such workflow" in told["error"]


def test_a_time_zone_that_exists_no_more_is_utc(db, active, eager):
    """The database takes its time zones from a system that is upgraded."""
    schedule(active, every="daily", hour=7, minute=30, time_zone="Asia/Tokyo")
    interests_tables.lose_time_zone(db, active.interest)
    interests_tables.scheduled_time_comes(db, active.interest)
    assert len(ended(db, active)) == 1
    assert active.status()["next_run_at"].endswith("T07:30:00.000Z")


def test_agents_without_a_plan_get_one(db, active, eager):
    """Those that were provisioned before there were schedules, too."""
    wait_for(lambda: active.status()["next_run_at"], "the next time is planned")
    assert len(active.host.runs(active.repo)) == 1


def test_a_new_agent_makes_up_for_no_time_before_it(db, make_team, papers, eager):
    team, earlier = make_team(), datetime.now(timezone.utc) - timedelta(hours=2)
    schedule(team, every="daily", hour=earlier.hour, minute=earlier.minute)
    assert team.provision(auto_merge=True)["result"]["dispatched"]
    planned = wait_for(lambda: team.status()["next_run_at"], "the next time is planned")
    assert datetime.fromisoformat(planned) > earlier + timedelta(hours=2)
    assert len(team.host.runs(team.repo)) == 1 and tasks(db, team) == []


def test_a_time_that_is_long_over_is_skipped(db, active, eager):
    interests_tables.scheduled_time_comes(db, active.interest, ago="7 hours")
    assert ended(db, active) == [] and tasks(db, active) == []


@pytest.fixture
def provisioned_again(active):
    """end(): that the agent is provisioned again, which has begun, ends."""
    active.host.fail("GET", f"^/repos/{active.repo}/contents/", status=502, times=100_000)
    task = active.start()

    def end():
        active.host.stop_failing()
        assert active.api.wait_task(task)["status"] == "completed"

    yield end
    active.host.stop_failing()


def test_a_time_that_comes_while_the_agent_is_provisioned_is_made_up_for(db, active, provisioned_again, make_team, eager):
    other = make_team()
    other.provision(auto_merge=True)
    for team, ago in ((active, "2 s"), (other, "1 s")):
        interests_tables.scheduled_time_comes(db, team.interest, ago)
    assert len(ended(db, other)) == 1 and tasks(db, active) == []
    provisioned_again()
    assert len(ended(db, active)) == 1


def test_a_task_that_waits_goes_on_after_the_agent_was_provisioned(db, active, provisioned_again):
    account = interests_tables.account_of(db, active.interest)
    task = common.start_task(db, "scheduled_run", account, interest_id=active.interest, local_date="2026-01-05")
    wait_for(lambda: common.was_tried(db, task), "the task was tried")
    provisioned_again()
    wait_for(lambda: tasks(db, active) == ["completed"], "the task has ended")
    assert len(active.host.runs(active.repo)) == 2


def test_the_first_run_makes_up_for_a_time_before_it(db, active, eager):
    interests_tables.scheduled_time_comes(db, active.interest, "1 hour", first_run="0")
    assert ended(db, active) == [] and tasks(db, active) == []


OBSTACLES = {
    "paused": lambda team: team.api.post(team.path("pause-agent"), expect=200),
    "inactive": lambda team: team.api.post(team.path("toggle"), expect=200),
    "revoked": lambda team: team.api.post(f"/fleet/installations/{team.installations()[0]['id']}/revoke", expect=200),
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_an_agent_that_may_not_start_is_not_started(db, active, eager, obstacle):
    OBSTACLES[obstacle](active)
    wait_for(lambda: active.status()["next_run_at"] is None, "it is known")
    interests_tables.scheduled_time_comes(db, active.interest)
    assert ended(db, active) == [] and tasks(db, active) == []


@pytest.mark.parametrize("subject", ["task", "provisioning"])
def test_a_process_that_is_killed_starts_no_agent_twice(cluster, db, active, subject):
    """Before the commit that gives the task, and after the workflow was started."""
    points = KillPoints(cluster, NAME, db, ["task", "provisioning"])
    try:
        if subject == "task":
            points.hold("task", "NEW.kind = 'scheduled_run' AND NEW.status = 'completed'")
        else:
            points.hold("provisioning", "NEW.last_run_date IS NOT NULL")
        cluster.add(NAME, SCHEDULE_CHECK="50ms").wait_ready()
        interests_tables.scheduled_time_comes(db, active.interest)
        points.wait()
        points.kill()
    finally:
        points.release()
    assert len(ended(db, active)) == 1 and tasks(db, active) == ["completed"]
    cluster.retire(NAME, 1)


# ---- the pause ----


def test_a_paused_agent_is_triggered_by_nobody(active):
    for _ in range(2):  # twice is as once
        assert active.api.post(active.path("pause-agent"), expect=200).json()["agent_paused"]
    assert active.status()["paused"] and active.status()["state"] == "active"
    active.api.problem("POST", "/fleet/trigger", 409, "agent_paused", {"repo": active.repo})
    assert not active.api.post(active.path("resume-agent"), expect=200).json()["agent_paused"]
    active.trigger()
    assert len(active.host.runs(active.repo)) == 2


def test_a_task_that_waits_obeys_the_pause(db, active):
    active.api.post(active.path("pause-agent"), expect=200)
    common.start_task(db, "scheduled_run", interests_tables.account_of(db, active.interest), interest_id=active.interest)
    wait_for(lambda: tasks(db, active) == ["completed"], "the task has ended")
    assert len(active.host.runs(active.repo)) == 1


def test_the_first_run_waits_for_the_end_of_the_pause(make_team, papers):
    team = make_team()
    team.api.post(team.path("pause-agent"), expect=200)
    task = team.provision(auto_merge=True)
    assert (task["result"]["merged"], task["result"]["dispatched"]) == (True, False)
    team.api.post(team.path("resume-agent"), expect=200)
    wait_for(lambda: len(team.host.runs(team.repo)) == 1, "the first run is started")


def test_only_who_may_provision_may_pause(make_team):
    team = make_team()
    key = team.api.post("/account/api-keys", {"name": "reader", "preset": "read_only"}, expect=201).json()["key"]
    for name in ("pause-agent", "resume-agent"):
        team.api.as_key(key).problem("POST", f"/interests/{team.interest}/{name}", 403, "insufficient_scope")
