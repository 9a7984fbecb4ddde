"""Budgets: periods of the calendar, figures that follow the runs, and what accounts are told of them."""

import random
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from lib.check import messages
from lib.scenario.fleet import REPO, now
from lib.tables import common
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

BUDGET = {"scope": "account", "period": "month", "usd": 10}
FIGURES = ["spent_usd", "reported_usd", "estimated_usd", "runs", "runs_unknown"]


def put(api, expect=200, **members):
    return api.put("/fleet/budgets", {**BUDGET, **members}, expect=expect).json()


def state(api, index=0):
    return api.get("/fleet/budgets", expect=200).json()[index]["state"]


def figures(api, index=0):
    return [state(api, index)[name] for name in FIGURES]


@pytest.fixture
def interest(api):
    return api.post("/interests", {"name": "Ranking", "context": "Ranking of documents."}, expect=201).json()["id"]


@pytest.fixture
def told(cluster, user):
    return lambda type: messages.told(cluster, user.account, type)


def test_a_budget_has_defaults_and_is_replaced(api):
    made = put(api)
    assert {name: made[name] for name in ("action", "warn_percent", "time_zone", "week_starts", "repo", "interest_id")} == {
        "action": "warn", "warn_percent": [50, 80, 100], "time_zone": "UTC", "week_starts": 1, "repo": None, "interest_id": None}
    again = put(api, usd=0.1234567, warn_percent=[120])
    assert (again["budget_id"], again["usd"], again["warn_percent"]) == (made["budget_id"], 0.123457, [120])
    assert put(api, warn_percent=[50.0, 8e1], week_starts=1.0)["warn_percent"] == [50, 80]
    assert put(api, period="day")["budget_id"] != made["budget_id"]
    assert [each["period"] for each in api.get("/fleet/budgets", expect=200).json()] == ["day", "month"]
    api.delete(f"/fleet/budgets/{made['budget_id']}", expect=200)
    assert [each["period"] for each in api.get("/fleet/budgets", expect=200).json()] == ["day"]
    api.problem("DELETE", f"/fleet/budgets/{made['budget_id']}", 404, "not_found")
    api.problem("GET", f"/fleet/budgets/{made['budget_id']}/history", 404, "not_found")


@pytest.mark.parametrize(("members", "field"), [
    ({"scope": "team"}, "scope"), ({"period": "year"}, "period"), ({"usd": -1}, "usd"), ({"usd": 1_000_001}, "usd"), ({"usd": None}, "usd"),
    ({"action": "halt"}, "action"), ({"max_usd_per_run": 0.99}, "max_usd_per_run"), ({"assume_usd": -1}, "assume_usd"), ({"warn_percent": [0]}, "warn_percent[0]"), ({"warn_percent": [50, 1001]}, "warn_percent[1]"),
    ({"warn_percent": [1.5]}, "warn_percent[0]"), ({"warn_percent": list(range(1, 12))}, "warn_percent"), ({"week_starts": 8}, "week_starts"),
    ({"time_zone": "Mars/Base"}, "time_zone"), ({"scope": "repo"}, "repo"), ({"repo": REPO}, "repo"), ({"scope": "interest"}, "interest_id"),
    ({"interest_id": str(uuid.uuid4())}, "interest_id"),
])
def test_a_fault_names_its_field(api, members, field):
    problem = api.problem("PUT", "/fleet/budgets", 400, "invalid_request", {**BUDGET, **members})
    assert [fault["field"] for fault in problem["errors"]] == [field]


def test_targets_are_the_account_s(api, report, interest):
    api.problem("PUT", "/fleet/budgets", 404, "not_found", {**BUDGET, "scope": "repo", "repo": "acme/elsewhere"})
    api.problem("PUT", "/fleet/budgets", 404, "not_found", {**BUDGET, "scope": "interest", "interest_id": str(uuid.uuid4())})
    report(1, status="running")
    assert put(api, scope="repo", repo="ACME/Ranker")["repo"] == REPO
    assert put(api, scope="interest", interest_id=interest)["interest_id"] == interest


def test_an_account_has_a_hundred(api, report, db, user):
    put(api)
    fleet_tables.add_budgets(db, user.account, 99)
    assert api.problem("PUT", "/fleet/budgets", 409, "conflict", {**BUDGET, "period": "day"})["detail"].startswith("an account may have 100")
    put(api, usd=3)


def test_what_is_spent_follows_the_reports(api, report):
    report(1, started_at=now(), cost_usd=1.5, status="running")
    report(2, started_at="2026-01-10T00:00:00Z", cost_usd=99, status="pr_opened")
    put(api)
    assert figures(api) == [1.5, 1.5, 0, 1, 0]
    report(1, cost_usd=2, status="pr_opened", finished_at=now())
    report(3, started_at=now(), status="agent_failed")
    report(4, started_at=now(), status="running")
    assert figures(api) == [2, 2, 0, 3, 1]
    report(3, cost_usd=0.25)
    assert figures(api) == [2.25, 2.25, 0, 3, 0]
    api.delete(f"/fleet/runs/1?repo={REPO}", expect=200)
    assert figures(api) == [0.25, 0.25, 0, 2, 0]
    report(3, started_at="2026-01-10T00:00:00Z", finished_at=now())
    assert figures(api) == [0, 0, 0, 1, 0]


def test_a_run_counts_in_each_budget_that_is_about_it(api, agent, report, install, interest):
    install(interest_id=interest)
    report(1, started_at=now(), status="running")
    for members in ({}, {"scope": "repo", "repo": REPO}, {"scope": "interest", "interest_id": interest}, {"period": "day"}):
        put(api, **members)
    report(1, cost_usd=1)
    report(2, started_at=now(), cost_usd=2, interest_id=interest)
    agent("acme/other").post("/fleet/runs", {"run_id": 3, "repo": "acme/other", "started_at": now(), "cost_usd": 4}, expect=201)
    spent = {(each["scope"], each["period"]): each["state"]["spent_usd"] for each in api.get("/fleet/budgets").json()}
    assert spent == {("account", "month"): 7, ("account", "day"): 7, ("repo", "month"): 3, ("interest", "month"): 2}


def test_a_told_interest_counts_only_if_it_is_borne_out(api, agent, report, install, interest):
    """Any key of a repository may tell any: one agent could use up the budget of another interest."""
    def spent():
        return {each["period"]: each["state"]["spent_usd"] for each in api.get("/fleet/budgets", expect=200).json() if each["scope"] == "interest"}

    put(api, scope="interest", interest_id=interest, action="stop")
    report(1, started_at=now(), cost_usd=10_000, interest_id=interest)
    report(2, started_at=now(), cost_usd=5)
    report(2, interest_id=interest)
    put(api, scope="interest", interest_id=interest, period="day")
    assert spent() == {"month": 0, "day": 0}
    assert {run["run_id"] for run in api.get(f"/fleet/runs?interest_id={interest}", expect=200).json()} == {1, 2}, "it is shown"
    agent(interest_id=interest).post("/fleet/runs", {"run_id": 3, "repo": REPO, "started_at": now(), "cost_usd": 1}, expect=201)
    report(3, cost_usd=2)
    assert spent() == {"month": 2, "day": 2}
    report(3, interest_id=str(uuid.uuid4()))
    assert spent() == {"month": 0, "day": 0}
    install(interest_id=interest)
    report(2, status="failed")
    assert spent() == {"month": 5, "day": 5}


def test_a_report_is_taken_while_a_budget_is_deleted(cluster, api, report):
    """The report begins a period of the budget, which is on its way to be gone."""
    report(1, started_at=now(), cost_usd=1)
    path = f"/fleet/budgets/{put(api, period='day')['budget_id']}"
    with cluster.postgres.connect("fleet") as holder, cluster.postgres.connect("fleet") as db, ThreadPoolExecutor() as pool:
        fleet_tables.hold_period(holder, path.rsplit("/", 1)[1])
        deleted = pool.submit(api.delete, path, expect=200)
        wait_for(lambda: common.blocked_by(db, holder), "the request to delete it waits")
        taken = pool.submit(report, 2, expect=201, started_at=now(hours=23, minutes=59), cost_usd=2)
        wait_for(lambda: common.waiting_for_locks(db) == 2, "the report waits")
        holder.rollback()
        deleted.result()
        assert taken.result()["cost_usd"] == 2
    assert api.get("/fleet/budgets", expect=200).json() == []


def test_runs_of_the_former_version_count(api, report, db, user):
    report(1, started_at=now(), cost_usd=2, status="running")
    fleet_tables.forget_spend(db, user.account)
    put(api)
    assert figures(api) == [2, 2, 0, 1, 0]
    report(1, cost_usd=3, status="pr_opened")
    assert figures(api) == [3, 3, 0, 1, 0]


def test_the_figures_are_the_sums_under_load(api, report, db, user):
    dice = random.Random(7)
    reports = [(dice.randrange(12), {"started_at": now(), "cost_usd": dice.randrange(1, 400) / 100,
                                     "status": dice.choice(["running", "pr_opened", "agent_failed"]), "run_attempt": dice.choice([1, 1, 2])})
               for _ in range(80)]
    with ThreadPoolExecutor(6) as pool:
        sent = [pool.submit(report, number, **members) for number, members in reports]
        made = [pool.submit(put, api, period=period, usd=1000) for period in ("month", "week")]
        for one in sent + made:
            one.result()
    spent, runs = fleet_tables.spend_of(db, user.account)
    for index in (0, 1):
        assert state(api, index)["spent_usd"] == pytest.approx(spent) and state(api, index)["runs"] == runs


def test_shares_are_told_once(api, report, told):
    put(api, warn_percent=[50, 80, 150])
    report(1, started_at=now(), cost_usd=4)
    assert told("budget.warned") == []
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: report(number, started_at=now(), cost_usd=1.5), range(2, 5)))
    warned = wait_for(lambda: told("budget.warned"), "the share is told")
    assert [each["percent"] >= 50 for each in warned] == [True] * len(warned) and len(warned) <= 2
    report(9, started_at=now(), cost_usd=2)
    (reached,) = wait_for(lambda: told("budget.reached"), "the end is told")
    assert (reached["name"], reached["percent"], reached["usd"], reached["spent_usd"]) == ("10 USD a month", 105, 10, 10.5)
    assert [each["run_id"] for each in reached["top"]][:2] == [1, 9] and len(reached["top"]) == 3
    report(10, started_at=now(), cost_usd=1)
    report(11, started_at=now(), cost_usd=4)
    assert len(wait_for(lambda: len(told("budget.reached")) == 2 and told("budget.reached"), "the share over 100 is told")) == 2


def test_raised_budgets_tell_again(api, report, told):
    put(api, usd=1)
    report(1, started_at=now(), cost_usd=1)
    wait_for(lambda: len(told("budget.reached")) == 1, "it is told")
    put(api, usd=4)
    assert state(api)["reached"] is False
    report(2, started_at=now(), cost_usd=3)
    wait_for(lambda: len(told("budget.reached")) == 2, "it is told again")


def test_a_share_is_passed_when_it_is_spent_and_not_when_it_is_rounded_to(api, report, told):
    put(api, usd=100_000, action="stop")
    for number in range(10):
        report(number, started_at=now(), cost_usd=9999.5, status="pr_opened")
    assert (state(api)["reached"], state(api)["remaining_usd"], told("budget.reached")) == (False, 5, [])
    budget_items = [item["kind"] for item in api.get("/fleet/agents/inbox", expect=200).json() if item["kind"].startswith("budget")]
    assert budget_items == ["budget_warning"]
    report(10, started_at=now(), cost_usd=5)
    assert state(api)["reached"] is True
    wait_for(lambda: told("budget.reached"), "the end is told")


def test_a_budget_of_nothing_is_reached_with_the_first_cent(api, report, told):
    put(api, usd=0)
    report(1, started_at=now(), cost_usd=0)
    assert (state(api)["percent"], state(api)["reached"]) == (0, False)
    report(2, started_at=now(), cost_usd=0.01)
    assert (state(api)["percent"], state(api)["reached"], state(api)["over_usd"]) == (100, True, 0.01)
    wait_for(lambda: told("budget.reached"), "it is told")


def test_the_inbox_has_what_is_nearly_spent(api, report):
    put(api, scope="account", usd=10)
    report(1, started_at=now(), cost_usd=7.9, status="skipped_old")
    inbox = lambda: api.get("/fleet/agents/inbox", expect=200).json()  # noqa: E731
    assert inbox() == []
    report(2, started_at=now(), cost_usd=0.5, status="skipped_old")
    (item,) = inbox()
    assert (item["kind"], item["title"], item["severity"]) == ("budget_warning", "8.4 of 10 USD a month are spent", "warning")
    report(3, started_at=now(), cost_usd=2, status="skipped_old")
    (item,) = inbox()
    assert (item["kind"], item["title"], item["severity"]) == (
        "budget_reached", "10.4 of 10 USD a month are spent; runs go on", "critical")


def test_closed_periods_are_history(api, report, db, user, told):
    report(1, started_at=now(), cost_usd=1, status="running")
    made = put(api, period="day", usd=2)
    fleet_tables.count_from_ever(db, made["budget_id"])
    report(2, started_at=now(days=-3), cost_usd=5, status="pr_opened")
    report(3, started_at=now(days=-2), cost_usd=0.5, status="pr_opened")
    report(3, cost_usd=0.75)
    history = api.get(f"/fleet/budgets/{made['budget_id']}/history", expect=200).json()
    assert [(each["spent_usd"], each["percent"], each["runs"]) for each in history] == [(0.75, 37.5, 1), (5, 250, 1)]
    assert history[0]["corrected_at"] and all(each["forecast_usd"] is None for each in history)
    assert api.get(f"/fleet/budgets/{made['budget_id']}/history?limit=1").json() == history[:1]
    assert told("budget.reached") == []


def test_each_attempt_counts_in_the_period_of_its_own_start(api, report, db):
    """A run that is repeated does not take along what its earlier attempts have cost."""
    made = put(api, period="day")
    fleet_tables.count_from_ever(db, made["budget_id"])
    report(1, run_attempt=1, started_at=now(days=-1), finished_at=now(days=-1), cost_usd=9, status="agent_failed")
    report(1, run_attempt=2, started_at=now(), cost_usd=1, status="pr_opened")
    report(2, run_attempt=1, started_at=now(days=-1), cost_usd=0.5, status="agent_failed")
    report(2, run_attempt=2, cost_usd=0.25, status="pr_opened")  # it does not say when it began
    (yesterday,) = api.get(f"/fleet/budgets/{made['budget_id']}/history", expect=200).json()
    assert (yesterday["spent_usd"], yesterday["runs"]) == (9.5, 2)
    assert figures(api) == [1.25, 1.25, 0, 0, 0], "a run is counted once, with its first attempt"
    put(api, period="day", scope="repo", repo=REPO)
    assert figures(api, 1) == figures(api, 0), "a budget that is made later counts the same"
    api.delete(f"/fleet/runs/1?repo={REPO}", expect=200)
    assert figures(api) == [0.25, 0.25, 0, 0, 0]
    (yesterday,) = api.get(f"/fleet/budgets/{made['budget_id']}/history", expect=200).json()
    assert (yesterday["spent_usd"], yesterday["runs"]) == (0.5, 1)


def test_the_dearest_runs_of_a_period_have_what_they_cost_in_it(api, report, told):
    put(api, period="day", usd=1)
    report(1, run_attempt=1, started_at=now(days=-1), finished_at=now(days=-1), cost_usd=9, status="agent_failed")
    report(2, started_at=now(), cost_usd=0.75, status="pr_opened")
    report(1, run_attempt=2, started_at=now(), cost_usd=0.5, status="pr_opened")
    (reached,) = wait_for(lambda: told("budget.reached"), "the end is told")
    assert [(each["run_id"], each["spend_usd"]) for each in reached["top"]] == [(2, 0.75), (1, 0.5)]


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Havana", "Atlantic/Azores"]
MOMENTS = ["2026-01-31T12:00:00", "2026-02-28T23:59:59", "2026-03-08T06:59:00", "2026-03-29T00:59:00", "2026-03-29T01:00:00",
           "2026-04-05T15:00:00", "2026-04-23T22:30:00", "2026-10-04T15:30:00", "2026-10-25T00:30:00", "2026-10-25T01:00:00", "2026-10-29T21:30:00",
           "2026-11-01T04:30:00", "2026-11-01T05:30:00", "2026-12-31T23:30:00"]


def expected_period(period, zone, week_starts, moment):
    day = moment.astimezone(ZoneInfo(zone)).date()
    if period == "week":
        day -= timedelta(days=(day.isoweekday() - week_starts) % 7)
    if period == "month":
        day = day.replace(day=1)
    after = {"day": day + timedelta(days=1), "week": day + timedelta(days=7),
             "month": date(day.year + day.month // 12, day.month % 12 + 1, 1)}[period]

    def at(day):
        local = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
        moved = local.astimezone(timezone.utc).astimezone(ZoneInfo(zone))
        return moved.astimezone(timezone.utc)  # a midnight that clocks skip is as much later

    return at(day), at(after)


@pytest.mark.parametrize("zone", ZONES)
def test_periods_are_those_of_the_calendar(db, zone):
    for text in MOMENTS:
        moment = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
        for period, week_starts in [("day", 1), ("month", 1), *(("week", day) for day in range(1, 8))]:
            found = fleet_tables.calendar_period(db, period, zone, week_starts, moment)
            assert found == expected_period(period, zone, week_starts, moment), (text, period, week_starts)
            assert found[0] <= moment < found[1]


def test_another_time_zone_begins_with_the_next_period(api, db):
    made = put(api, period="day", time_zone="Pacific/Kiritimati")
    changed = put(api, period="day", time_zone="Pacific/Pago_Pago")
    assert changed["time_zone"] == "Pacific/Pago_Pago"
    assert (changed["state"]["starts_at"], changed["state"]["ends_at"]) == (made["state"]["starts_at"], made["state"]["ends_at"])
    (_, end), (start, next_end) = fleet_tables.periods_of(db, made["budget_id"])
    assert end == start < next_end <= start + timedelta(days=1)
    assert next_end.astimezone(ZoneInfo("Pacific/Pago_Pago")).time() == time(0)
    again = put(api, period="day", time_zone="Pacific/Kiritimati")
    assert again["state"]["ends_at"] == made["state"]["ends_at"]


def test_what_was_spent_counts_when_the_time_zone_changes_again(api, db, report):
    """In the first period of a time zone, which is shorter."""
    made = put(api, period="day", time_zone="UTC", action="stop", usd=3)
    put(api, period="day", time_zone="Asia/Tokyo", action="stop", usd=3)
    fleet_tables.begin_time_zone(db, made["budget_id"])
    report(1, started_at=now(), cost_usd=3, status="pr_opened")
    assert state(api)["spent_usd"] == 3
    for zone in ("Europe/Berlin", "America/New_York"):
        changed = put(api, period="day", time_zone=zone, action="stop", usd=3)["state"]
        assert (changed["spent_usd"], changed["reached"]) == (3, True)


def test_a_time_zone_that_exists_no_more_is_utc(cluster, api, report, db, user):
    """The database takes its time zones from a system that is upgraded."""
    made = put(api, period="day", time_zone="Pacific/Kiritimati")
    fleet_tables.set_time_zone(db, made["budget_id"], "Mars/Base")
    report(1, started_at=now(), cost_usd=3, status="pr_opened")
    budget, = api.get("/fleet/budgets", expect=200).json()
    assert (budget["time_zone"], budget["state"]["time_zone"], budget["state"]["spent_usd"]) == ("Mars/Base", "UTC", 3)
    assert budget["state"]["starts_at"].endswith("T00:00:00.000Z")
    fleet_tables.make_check_due(db, made["budget_id"])
    process = cluster.separate("svc-fleet", "zones")
    process.start()
    wait_for(lambda: "the time zone of a budget exists no more" in process.log(), "it is logged")
    process.stop()
    assert put(api, period="day", time_zone="Asia/Tokyo")["state"]["time_zone"] == "UTC"  # until the period ends


def test_limited_keys_see_no_figures_of_others(api, agent, report, interest):
    report(1, started_at=now(), cost_usd=3, status="running")
    agent("acme/other").post("/fleet/runs", {"run_id": 3, "repo": "acme/other", "started_at": now(), "cost_usd": 20}, expect=201)
    put(api)
    for members in ({"scope": "repo", "repo": REPO}, {"scope": "repo", "repo": "acme/other"}, {"scope": "interest", "interest_id": interest}):
        put(api, **members)
    account, own = agent().get("/fleet/budgets", expect=200).json()
    assert own["scope"] == "repo" and own["repo"] == REPO and own["state"]["spent_usd"] == 3
    assert account["scope"] == "account" and account["state"].keys() == {"reached", "ends_at"} and account["state"]["reached"] is True
    assert "usd" not in account


def test_writing_needs_its_scope(api):
    key = api.as_key(api.post("/account/api-keys", {"name": "reader", "scopes": ["fleet:read"]}, expect=201).json()["key"])
    assert key.get("/fleet/budgets", expect=200).json() == []
    assert key.problem("PUT", "/fleet/budgets", 403, "insufficient_scope", BUDGET)["scope"] == "budgets:write"


def test_budgets_follow_their_repository(api, report, db, user):
    report(1, started_at=now(), cost_usd=3, status="running")
    put(api, scope="repo", repo=REPO)
    fleet_tables.rename(db, user.account, REPO, "Acme/Renamed")
    (budget,) = api.get("/fleet/budgets", expect=200).json()
    assert (budget["repo"], budget["state"]["spent_usd"], budget["state"]["runs"]) == ("Acme/Renamed", 3, 1)


def test_the_check_mends_what_differs(cluster, api, report, db, user):
    report(1, started_at=now(), cost_usd=3, status="running")
    made = put(api)
    fleet_tables.set_figures(db, made["budget_id"], reported=5, runs=4)
    fleet_tables.make_check_due(db, made["budget_id"])
    process = cluster.separate("svc-fleet", "checking")
    process.start()
    wait_for(lambda: figures(api) == [3, 3, 0, 1, 0], "it is mended")
    wait_for(lambda: process.metric("expops_budget_drift_usd") == 2, "the difference is shown")
    assert "a budget differed from its runs" in process.log()
    process.stop()


def test_the_check_counts_a_period_that_has_no_figures(cluster, api, report, db, user):
    report(1, started_at=now(), cost_usd=3, status="running")
    made = put(api)
    fleet_tables.drop_periods(db, made["budget_id"])
    fleet_tables.make_check_due(db, made["budget_id"])
    process = cluster.separate("svc-fleet", "counting")
    process.start()
    wait_for(lambda: figures(api) == [3, 3, 0, 1, 0], "it is counted")
    process.stop()


@pytest.mark.parametrize("error", ["division_by_zero", "query_canceled"])
def test_a_budget_that_cannot_be_checked_stops_no_other(cluster, api, report, db, error):
    report(1, started_at=now(), cost_usd=3, status="running")
    budgets = [put(api, period=period)["budget_id"] for period in ("day", "month")]
    for budget in budgets:
        fleet_tables.set_figures(db, budget, reported=5, runs=4)
        fleet_tables.make_check_due(db, budget)
    with fleet_tables.refusing(db, "budget_period", f"NEW.budget_id = '{budgets[0]}'", error):
        process = cluster.separate("svc-fleet", f"leaving-out-{error}")
        process.start()
        wait_for(lambda: figures(api, 1) == [3, 3, 0, 1, 0], "the other one is mended")
        wait_for(lambda: process.metric("expops_budget_faults_total") == 1, "the fault is counted")
        assert "a row of budgets has a fault, and is left out" in process.log()
        process.stop()
