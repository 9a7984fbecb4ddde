"""Transactions that store runs, start them and reserve for them lock rows in one order, so that none waits for another in a circle."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lib.scenario.budgets import OBEYS
from lib.scenario.fleet import now
from lib.tables import common, fleet
from lib.wait import wait_for

TOKENS = {"provider": "custom", "input_tokens": 1_000_000, "output_tokens": 0, "status": "pr_opened"}


@pytest.fixture
def put(api):
    """put(**members): the id of a budget that stops runs, in the order of their calls."""
    body = {"scope": "account", "period": "month", "usd": 100, "action": "stop"}
    return lambda **members: api.put("/fleet/budgets", {**body, **members}, expect=200).json()["budget_id"]


@pytest.fixture
def trigger(api, repo):
    return lambda **members: api.post("/fleet/trigger", {"repo": repo, **OBEYS, **members}, expect=200).json()["run_id"]


@pytest.fixture
def key(agent, repo):
    return agent(repo)


@pytest.fixture
def admit(key, repo):
    """admit(run_id): a run of the repository asks whether it may start."""
    return lambda run_id: key.post("/fleet/runs/admit", {"run_id": run_id, "run_attempt": 1, "repo": repo, **OBEYS}, expect=200).json()


@pytest.fixture
def send(key, repo):
    return lambda run_id, **members: key.post("/fleet/runs", {"run_id": run_id, "repo": repo, **members}, expect=201).json()


@pytest.fixture
def elsewhere(agent):
    """elsewhere(run_id, **members): a report of a run of another repository of the account."""
    other = agent("acme/elsewhere")
    return lambda run_id, **members: other.post("/fleet/runs", {"run_id": run_id, "repo": "acme/elsewhere", **members}, expect=201).json()


@pytest.fixture
def waiting(cluster, db):
    """waiting(hold, *arguments): in the block, on the connection that it gives, a transaction holds what hold(db, *arguments) locks, and a call
    begins that waits for it: block.call(function, *arguments)."""

    @contextmanager
    def run(hold, *arguments):
        with cluster.postgres.connect("fleet") as holder, ThreadPoolExecutor(1) as pool:
            hold(holder, *arguments)

            def call(function, *given):
                future = pool.submit(function, *given)
                wait_for(lambda: common.blocked_by(db, holder), "it waits")
                return future

            try:
                yield holder, call
            finally:
                holder.rollback()

    return run


def test_a_run_that_asks_after_midnight_locks_the_budgets_of_both_days_in_their_order(waiting, put, trigger, admit, elsewhere, db, user):
    """It leaves the former day and is counted in the present one, and a report of another run of today locks the day and the month."""
    day, month = put(period="day"), put(period="month")
    run = trigger()
    for budget in (day, month):
        fleet.count_from_ever(db, budget)
    fleet.move_to_yesterday(db, user.account)
    elsewhere(1, started_at=now(), cost_usd=1)
    with waiting(fleet.hold_period, day) as (holder, call):
        asked = call(admit, run)
        assert fleet.is_period_free(holder, month)
        holder.rollback()
        assert asked.result()["max_usd"] == 10


def test_a_run_that_asks_after_midnight_locks_budgets_of_its_reservation(waiting, put, trigger, admit, api, db, user):
    """The run does not say which interest it is of, and another start of that interest locks its budget first."""
    interest = api.post("/interests", {"name": "Ranking", "context": "Ranking of documents."}, expect=201).json()["id"]
    wait_for(lambda: api.get(f"/interests/{interest}", expect=200).json()["pool_status"] != "building", "its pool is built")
    first, second = put(scope="interest", interest_id=interest, period="day"), put(period="day")
    run = trigger(interest_id=interest)
    for budget in (first, second):
        fleet.count_from_ever(db, budget)
    fleet.move_to_yesterday(db, user.account)
    with waiting(fleet.hold_budget, first) as (holder, call):
        asked = call(admit, run)
        assert fleet.is_budget_free(holder, second)
        holder.rollback()
        assert asked.result()["max_usd"] == 10


def test_a_refusal_tells_nobody_before_all_budgets_are_locked(api, waiting, put, elsewhere, repo, db, user):
    """A report that passes the second budget is told of behind it, too."""
    put(scope="repo", repo=repo, usd=0)
    second = put(usd=0)
    elsewhere(1, started_at=now(), status="skipped_no_candidates")
    fleet.look_later(db, user.account)
    with waiting(fleet.hold_period, second) as (holder, call):
        refused = call(api.problem, "POST", "/fleet/trigger", 409, "budget_reached", {"repo": repo, **OBEYS})
        assert fleet.is_look_free(holder, user.account)
        holder.rollback()
        refused.result()


def test_a_report_that_passes_a_budget_marks_the_inbox_behind_what_it_opened(waiting, put, elsewhere, db, user):
    """One that opens the same pull request and passes no budget marks it behind that, too."""
    put(usd=1, action="warn")
    fleet.own_repository(db, user.account, "acme/elsewhere")
    fleet.tell_item(db, "acme/elsewhere", "pull_request", 9, "open", None, None)
    fleet.look_later(db, user.account)
    opened = {"status": "pr_opened", "started_at": now(), "artifact_url": "https://github.com/acme/elsewhere/pull/9"}
    with waiting(fleet.hold_item, "acme/elsewhere", 9) as (holder, call):
        taken = call(lambda: elsewhere(1, cost_usd=1, **opened))
        assert fleet.is_look_free(holder, user.account)
        holder.rollback()
        assert taken.result()["cost_usd"] == 1


def test_questions_of_a_repository_wait_before_they_lock_their_runs(waiting, put, admit, send, user):
    """The question before, of the same run, was asked when the run was not known, and locks it now that it is."""
    put()
    admit(17)
    send(17, status="running", started_at=now())
    with waiting(fleet.hold_admission, user.account) as (holder, call):
        asked = call(admit, 17)
        assert fleet.is_run_free(holder, user.account, 17)
        holder.rollback()
        assert asked.result()["max_usd"] == 10


def test_runs_are_estimated_anew_in_the_order_in_which_reports_lock_them(cluster, waiting, elsewhere, db, user):
    fleet.add_price(db, user.email, 1, 0)
    try:
        for run in ("second", "first"):
            assert elsewhere(run, model=user.email, started_at=now(), **TOKENS)["spend_basis"] == "estimated"
        with cluster.postgres.connect("fleet") as other, waiting(fleet.hold_run, user.account, "first") as (holder, call):
            done = call(fleet.reprice_runs, other)
            assert fleet.is_run_free(holder, user.account, "second")
            holder.rollback()
            done.result()
    finally:
        fleet.remove_price(db, user.email)


def test_an_account_that_is_forgotten_locks_what_is_of_others_behind_its_runs(cluster, waiting, elsewhere, db, user):
    """There may be many runs, and reports of other accounts that name the same pull request would wait until they are deleted."""
    elsewhere(1, status="pr_opened", started_at=now(), artifact_url="https://github.com/acme/elsewhere/pull/9")
    with cluster.postgres.connect("fleet") as other, waiting(fleet.hold_run, user.account, 1) as (holder, call):
        forgotten = call(common.forget_account, other, user.account)
        assert fleet.is_item_free(holder, "acme/elsewhere", 9)
        holder.rollback()
        forgotten.result()
    assert fleet.spend_of(db, user.account)[1] == 0
