"""Costs that stand out: of a run, of a day, of failures in a row; and reported costs that differ from those of the tokens."""

import signal
from datetime import datetime, timedelta, timezone

import pytest

from lib.check import messages
from lib.scenario.fleet import REPO
from lib.tables import fleet
from lib.wait import wait_for


def noon(days, minutes=0):
    """So many minutes after the noon of a day that is over since so many days."""
    day = datetime.now(timezone.utc).replace(hour=12, minute=0, second=0, microsecond=0)
    return (day - timedelta(days=days) + timedelta(minutes=minutes)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def spend(report):
    """spend(run_id, usd, **members): a run that has ended at that cost."""

    def send(run_id, usd, **members):
        return report(run_id, **{"status": "pr_opened", "agent": "agent_one", "model": "m", "cost_usd": usd, "started_at": noon(1), **members})

    return send


@pytest.fixture
def told(cluster, db, user):
    """told(): what the account was told of costs, once all runs are compared."""

    def read():
        wait_for(lambda: fleet.compare_costs(db, user.account), "the runs are compared")
        return messages.told(cluster, user.account, "cost.unusual")

    return read


@pytest.fixture
def without_alerts(cluster):
    """svc-fleet with COST_ALERTS=false."""
    (process,) = cluster["svc-fleet"]
    before = process.env

    def restart(env):
        process.stop()
        process.env = env
        process.start()
        process.wait_ready()

    restart({**before, "COST_ALERTS": "false"})
    yield process
    restart(before)


def items(api):
    return [item for item in api.get("/fleet/agents/inbox", expect=200).json() if item["kind"] == "cost_unusual"]


def findings(api, kind):
    return [each for each in api.get("/fleet/agents/report", expect=200).json()["findings"] if each["kind"] == kind]


def usual(spend, count=8):
    for number in range(count):
        spend(f"usual {number}", 0.5 + number / 100, started_at=noon(3, number))


def test_a_run_that_costs_five_times_the_usual_is_told_once(api, spend, told):
    usual(spend)
    spend("other model", 90, model="n", started_at=noon(2))
    spend("as usual", 2.6, started_at=noon(2))
    spend("a\nspike", 2.8, started_at=noon(2, 1))
    (message,) = told()
    assert (message["kind"], message["run_ids"], message["usd"], message["compared_usd"]) == ("run", ["a\nspike"], 2.8, 0.54)
    assert message["title"] == f"Run a spike on {REPO} cost 2.80 USD; runs of agent_one with m usually cost 0.54"
    assert [(item["title"], item["severity"]) for item in items(api)] == [(message["title"], "warning")]
    ((text, evidence),) = [(each["text"], each["evidence"]) for each in findings(api, "cost_spike")]
    assert text == message["title"] and evidence["run_ids"] == ["a\nspike"]
    spend("a\nspike", 3)
    assert len(told()) == 1


def test_nobody_is_told_without_alerts(cluster, api, db, user, spend, without_alerts):
    usual(spend)
    spend("a spike", 90)
    without_alerts.popen.send_signal(signal.SIGHUP)
    wait_for(lambda: fleet.has_compared_costs(db, user.account), "no run waits to be compared")
    assert messages.told(cluster, user.account, "cost.unusual") == []
    assert items(api) == [] and findings(api, "cost_spike") == []


def test_few_or_cheap_runs_are_not_compared(spend, told):
    usual(spend, 7)
    spend("one of few", 50, started_at=noon(2))
    spend("cheap 1", 0.01, model="n", started_at=noon(1))
    for number in range(2, 10):
        spend(f"cheap {number}", 0.01, model="n", started_at=noon(1))
    spend("cheap still", 0.99, model="n")
    assert told() == []


def test_runs_that_cost_nothing_are_not_usual(spend, told):
    for number in range(9):
        spend(number, 0, status="skipped_no_candidates", started_at=noon(2))
    spend("first", 4)
    assert told() == []


def test_a_day_is_compared_with_those_before(api, spend, told):
    for day in range(4, 10):
        spend(day, 2, model=f"m{day}", started_at=noon(day))
    spend("a dear day", 40, model="m10", started_at=noon(10))
    spend("before", 2, model="m3", started_at=noon(3))
    spend("today 1", 4, model="x", started_at=noon(1))
    assert told() == []
    spend("today 2", 2.5, model="y", started_at=noon(1))
    (message,) = told()
    assert (message["kind"], message["usd"], message["compared_usd"], message["run_ids"], message["repo"]) == ("day", 6.5, 2, [], None)
    assert message["title"] == f"The runs of {noon(1)[:10]} cost 6.50 USD; those of a day usually cost 2.00"
    assert findings(api, "cost_spike")[0]["repo"] is None and items(api)[0]["repo"] is None
    spend("today 3", 9, model="z", started_at=noon(1))
    assert len(told()) == 1


def test_failures_in_a_row_are_compared_with_the_smallest_budget(api, spend, told):
    for period, usd in (("day", 10), ("week", 40), ("month", 1)):
        api.put("/fleet/budgets", {"scope": "account", "period": period, "usd": usd, "warn_percent": [1000]}, expect=200)
    spend(1, 0.9, status="tests_failed", started_at=noon(1, 1))
    spend(2, 0.9, started_at=noon(1, 2))
    spend(3, 0.9, status="tests_failed", started_at=noon(1, 3))
    spend(4, 0.9, status="agent_failed", started_at=noon(1, 4))
    assert told() == []
    spend(5, 0.9, status="tests_failed", started_at=noon(1, 5))
    spend(6, 0.9, status="tests_failed", started_at=noon(1, 6))
    (message,) = told()
    assert (message["kind"], message["usd"], message["compared_usd"], message["run_ids"]) == ("failures", 2.7, 10, [3, 4, 5])


def test_what_is_late_is_no_news(spend, told):
    spend("late", 50, started_at=noon(20))
    for number in range(8):
        spend(f"before {number}", 0.5, started_at=noon(21, number))
    spend("late", 51, started_at=noon(20))
    assert told() == []


def test_limited_keys_hear_of_their_repository_alone(api, agent, spend, told):
    usual(spend)
    spend("a spike", 9)
    told()
    other = agent("acme/other")
    assert items(other) == [] and findings(other, "cost_spike") == []
    assert len(items(agent())) == 1


def test_a_removed_run_does_not_stand_out(api, spend, told):
    usual(spend)
    spend("a spike", 4, started_at=noon(2))
    told()
    api.delete(f"/fleet/runs/a%20spike?repo={REPO}", expect=200)
    assert items(api) == []


def test_reported_costs_that_differ_are_found(api, db, user, report):
    members = {"agent": "agent_one", "provider": "custom", "model": user.email, "status": "pr_opened", "started_at": noon(1),
               "input_tokens": 1_000_000, "output_tokens": 0}
    fleet.add_price(db, user.email, 2, 10)
    try:
        report(1, cost_usd=2.6, **members)
        report(2, cost_usd=1.7, **members)
        assert findings(api, "cost_differs") == []
        report(3, cost_usd=1.5, **members)
        (finding,) = findings(api, "cost_differs")
    finally:
        fleet.remove_price(db, user.email)
    assert finding["text"] == (f"1 runs of agent_one with {user.email} reported 1.50 USD; by the list of prices their tokens cost 2.00 USD")
    assert finding["evidence"] == {"run_ids": [3], "told_usd": 1.5, "estimated_usd": 2, "price_date": "2026-01-01"}
    assert report(3)["spend_usd"] == 1.5


def test_costs_that_cannot_be_compared_stop_no_others(user, db, spend, told):
    usual(spend)
    with fleet.refusing(db, "cost_unusual", f"NEW.account_id = '{user.account}'"):
        spend("dear", 4)
        assert told() == []
    spend("dear too", 4)
    assert [message["run_ids"] for message in told()] == [["dear too"]]


def test_costs_that_take_too_long_to_compare_stop_no_others(cluster, agent, user, other_user, db, spend):
    """The first look of each pass at those of one account is ended by the database."""
    (process,) = cluster["svc-fleet"]
    theirs, faults = agent(of=other_user.api), process.metric("expops_budget_faults_total")
    usual(spend)
    with fleet.refusing(db, "cost_unusual", f"NEW.account_id = '{user.account}'", "query_canceled"):
        spend("dear", 4)
        for number in range(9):
            run = {"run_id": number, "repo": REPO, "status": "pr_opened", "agent": "agent_one", "model": "m", "started_at": noon(1, number)}
            theirs.post("/fleet/runs", {**run, "cost_usd": 4 if number == 8 else 0.5}, expect=201)
        process.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: messages.told(cluster, other_user.account, "cost.unusual"), "the other account is told")
        wait_for(lambda: fleet.has_compared_costs(db, user.account), "they are left out")
        assert process.metric("expops_budget_faults_total") == faults + 1
    assert messages.told(cluster, user.account, "cost.unusual") == []


def test_every_run_of_an_account_is_compared(cluster, user, db, spend, told):
    """More than are compared at once."""
    usual(spend)
    for number in range(60):
        spend(f"more {number}", 0.5, started_at=noon(2, number))
    spend("a spike", 4)
    fleet.look_again(db, user.account)
    (process,) = cluster["svc-fleet"]
    process.popen.send_signal(signal.SIGHUP)
    wait_for(lambda: fleet.has_compared_costs(db, user.account), "no run waits to be compared")
    assert [message["run_ids"] for message in told()] == [["a spike"]]
