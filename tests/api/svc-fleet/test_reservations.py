"""Budgets that stop runs: what starts reserve, and how a reservation ends, whoever is killed in between."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lib.check import messages
from lib.http import plain_http
from lib.http.identity import identity
from lib.scenario.budgets import OBEYS, TRIGGER
from lib.scenario.code_host_agent import FILES
from lib.scenario.fleet import now
from lib.system.kill_points import KillPoints
from lib.tables import common, fleet, integrations
from lib.wait import wait_for


@pytest.fixture
def figures(api):
    """figures(*names): of the state of the account's first budget."""

    def read(*names):
        state = api.get("/fleet/budgets", expect=200).json()[0]["state"]
        return [state[name] for name in names]

    return read


@pytest.fixture
def trigger(api, repo):
    return lambda expect=200, headers=None, **body: api.post(TRIGGER, {"repo": repo, **body}, headers=headers, expect=expect).json()


@pytest.fixture
def refused(api, repo):
    return lambda **body: api.problem("POST", TRIGGER, 409, "budget_reached", {"repo": repo, **body})


@pytest.fixture
def report(agent, repo):
    """report(run_id, **members): the record after a report of a run on the repository."""
    key = agent(repo)

    def send(run_id, **members):
        answer = key.post("/fleet/runs", {"run_id": run_id, "repo": repo, **members})
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    return send


@pytest.fixture
def reservations(db, user):
    """reservations(): [(state, run, amount)] of the account, in their order."""
    return lambda: fleet.reservations(db, user.account)


@pytest.fixture
def expire(db, user):
    """Let what is reserved for the account expire now."""
    return lambda: fleet.expire_reservations(db, user.account)


@pytest.fixture
def ask(cluster, user):
    """ask(operation, **body): an internal operation, as svc-experiments asks it."""

    def send(operation, **body):
        answer = plain_http.post(f"{cluster.url('svc-fleet')}/internal/fleet/runs/{operation}", json=body,
                                 auth=identity(cluster, "svc-fleet", "service", account=user.account))
        assert answer.status_code == 200, answer.text
        return answer.json()

    return send


@pytest.fixture
def interest(api):
    made = api.post("/interests", {"name": "Ranking", "context": "Ranking of documents."}, expect=201).json()["id"]
    wait_for(lambda: api.get(f"/interests/{made}", expect=200).json()["pool_status"] != "building", "its pool is built")
    return made


# ---- what is reserved ----


def test_a_start_reserves_and_the_run_s_end_settles(put, trigger, refused, report, figures, reservations):
    put(usd=20)
    first, second = trigger(**OBEYS)["run_id"], trigger(**OBEYS)["run_id"]
    assert figures("reserved_usd", "remaining_usd", "spent_usd", "refused", "reached") == [20, 0, 0, 0, False]
    problem = refused(**OBEYS)
    assert problem["budget"]["needed_usd"] == 10 and problem["budget"]["reserved_usd"] == 20 and problem["budget"]["usd"] == 20
    assert problem["detail"].startswith("USD 0.00 of 20.00 spent this month, 20.00 reserved; a run needs up to 10.00. Begins anew on 1 ")
    assert problem["detail"].endswith(" 00:00 UTC.")
    assert figures("refused", "reached") == [1, True]
    report(first, status="running", started_at=now())
    assert figures("reserved_usd") == [20]
    report(first, status="pr_opened", cost_usd=2.5, finished_at=now())
    assert figures("reserved_usd", "spent_usd", "reported_usd", "remaining_usd") == [10, 2.5, 2.5, 7.5]
    assert reservations() == [("settled", first, 10), ("held", second, 10)]
    report(first, cost_usd=3)
    assert figures("reserved_usd", "spent_usd") == [10, 3]
    third = trigger(**OBEYS)["run_id"]
    assert reservations()[-1] == ("held", third, 7)


def test_a_run_needs_a_dollar(put, trigger, refused, figures):
    put(usd=10.5)
    trigger(**OBEYS)
    assert figures("remaining_usd") == [0.5]
    refused(**OBEYS)


def test_an_agent_that_obeys_no_limit_is_as_dear_as_it_was(put, trigger, refused, report, reservations):
    put(usd=110, max_usd_per_run=6)
    trigger()
    assert reservations()[-1][2] == 6
    for number, cost in enumerate((1, 9, 3)):
        report(f"small {number}", started_at=now(), agent="agent_one", model="small", status="pr_opened", cost_usd=cost)
    report("large", started_at=now(), agent="agent_one", model="large", status="pr_opened", cost_usd=40)
    report("large too", started_at=now(), agent="agent_one", model="large", status="skipped_no_candidates")
    trigger(model="small")
    trigger(model="large")
    assert [amount for _, _, amount in reservations()] == [6, 9, 40]
    assert refused(model="large")["budget"]["needed_usd"] == 40


def test_without_a_budget_nothing_is_reserved(trigger, reservations):
    trigger(**OBEYS)
    assert reservations() == []


def test_a_warning_stops_nothing(put, trigger, figures):
    put(usd=1, action="warn")
    trigger()
    trigger()
    assert figures("reserved_usd", "refused", "reached") == [20, 0, False]


def test_zero_stops_all_but_models_that_cost_nothing(put, trigger, refused, db, user, reservations):
    put(usd=0)
    refused(**OBEYS)
    fleet.add_price(db, user.email, 0, 0)
    try:
        refused(agent="agent_two", provider="custom", model="unheard-of")
        trigger(agent="agent_two", provider="custom", model=user.email)
    finally:
        fleet.remove_price(db, user.email)
    assert [(state, amount) for state, _, amount in reservations()] == [("held", 0)]


def test_of_several_budgets_the_tightest_holds(api, put, trigger, refused, repo, reservations):
    put(usd=100, max_usd_per_run=8)
    put(usd=13, scope="repo", repo=repo, max_usd_per_run=9)
    trigger(**OBEYS)
    trigger(**OBEYS)
    assert [amount for _, _, amount in reservations()] == [8, 5]
    problem = refused(**OBEYS)
    assert (problem["budget"]["scope"], problem["budget"]["target"]) == ("repo", repo)
    assert f" this month on {repo}, " in problem["detail"]
    refusals = {each["scope"]: each["state"]["refused"] for each in api.get("/fleet/budgets", expect=200).json()}
    assert refusals == {"account": 0, "repo": 1}


def test_limited_keys_are_told_no_figures_of_others(api, put, agent, repo):
    put(usd=0)
    key = agent(repo, scopes=["fleet:trigger"])
    problem = key.problem("POST", TRIGGER, 409, "budget_reached", {"repo": repo, **OBEYS})
    assert problem["budget"].keys() == {"budget_id", "scope", "target", "period", "ends_at"}
    assert problem["detail"] == "The budget of the account for this month is reached. The whole budget is too small for one."
    put(usd=0, scope="repo", repo=repo, period="day")
    api.delete(f"/fleet/budgets/{problem['budget']['budget_id']}", expect=200)
    problem = key.problem("POST", TRIGGER, 409, "budget_reached", {"repo": repo, **OBEYS})
    assert problem["budget"]["usd"] == 0 and problem["detail"].startswith("USD 0.00 of 0.00 spent today on ")


def test_over_budget_needs_its_scope(api, put, trigger, repo, figures):
    put(usd=0)
    key = api.as_key(api.post("/account/api-keys", {"name": "starter", "scopes": ["fleet:trigger"]}, expect=201).json()["key"])
    body = {"repo": repo, "over_budget": True, **OBEYS}
    assert key.problem("POST", TRIGGER, 403, "insufficient_scope", body)["scope"] == "budgets:write"
    trigger(over_budget=True, **OBEYS)
    assert figures("reserved_usd", "refused") == [10, 0]


def test_over_budget_is_in_the_audit_log(api, put, trigger, ask, repo, user):
    put(usd=0)
    trigger(over_budget=True, **OBEYS)
    ask("reserve", key="start 1", repo=repo, over_budget=True, **OBEYS)  # as svc-experiments asks
    told = wait_for(lambda: len(found := api.get("/account/audit?action=budget.overridden", expect=200).json()) == 2 and found, "they are there")
    assert {entry["target"]["name"] for entry in told} == {repo}
    assert user.email in [entry["actor"]["email"] for entry in told]


def test_the_first_refusal_is_told_once_a_period(cluster, api, user, put, refused):
    put(usd=0.5)
    told = lambda: messages.told(cluster, user.account, "budget.reached")  # noqa: E731
    for _ in range(3):
        refused(**OBEYS)
    (message,) = told()
    assert (message["refused"], message["action"], message["percent"], message["spent_usd"]) == (1, "stop", 0, 0)
    put(usd=0.5, warn_percent=[90])
    put(usd=0.4)
    refused(**OBEYS)
    assert len(told()) == 1
    put(usd=0.5)
    refused(**OBEYS)
    assert len(told()) == 2
    (item,) = [each for each in api.get("/fleet/agents/inbox", expect=200).json() if each["kind"] == "budget_reached"]
    assert item["title"] == "0 of 0.5 USD a month are spent; too little is left for a run, which was not started"
    put(usd=0.6)
    assert api.get("/fleet/agents/inbox", expect=200).json() == []
    refused(**OBEYS)
    assert len(told()) == 3


# ---- once ----


def test_a_repeated_request_has_one_reservation(api, code_host, put, trigger, repo, reservations):
    put()
    headers = {"Idempotency-Key": "once"}
    first, second = trigger(headers=headers), trigger(headers=headers)
    assert first == second and [state for state, _, _ in reservations()] == ["held"]
    code_host.fail("POST", "/dispatches$", drop=True)
    lost = {"Idempotency-Key": "lost"}
    api.problem("POST", TRIGGER, 503, "outcome_uncertain", {"repo": repo}, headers=lost)
    assert [state for state, _, _ in reservations()] == ["held", "held"]
    made = trigger(headers=lost)
    assert reservations() == [("held", first["run_id"], 10), ("held", made["run_id"], 10)]


@pytest.mark.parametrize("answer", ["had", "lost"])
def test_a_key_of_the_day_before_is_another_start(cluster, db, user, api, code_host, put, trigger, repo, reservations, answer):
    put(usd=20)
    headers = {"Idempotency-Key": "weekly"}
    if answer == "lost":
        code_host.fail("POST", "/dispatches$", drop=True)
        api.problem("POST", TRIGGER, 503, "outcome_uncertain", {"repo": repo}, headers=headers)
    first = trigger(headers=headers)
    fleet.pass_a_day(db, user.account)
    with cluster.postgres.connect("integrations") as dispatches:
        integrations.pass_a_day(dispatches, user.account)
    second = trigger(headers=headers)
    assert trigger(headers=headers) == second
    assert [run["id"] for run in code_host.runs(repo)] == [first["run_id"], second["run_id"]]
    assert reservations() == [("held", first["run_id"], 10), ("held", second["run_id"], 10)]


def test_a_failed_dispatch_releases(api, put, code_host, trigger, repo, figures, reservations):
    put(usd=10)
    headers = {"Idempotency-Key": "again"}
    api.problem("POST", TRIGGER, 409, "conflict", {"repo": repo, "ref": "nowhere"}, headers=headers)
    assert figures("reserved_usd", "remaining_usd") == [0, 10] and reservations() == [("released", None, 10)]
    made = trigger()
    assert reservations()[-1] == ("held", made["run_id"], 10)


def test_a_released_key_reserves_anew(put, ask, repo, figures, reservations):
    put(usd=10)
    body = {"key": "start 1", "repo": repo, "agent": "agent_three", "provider": "openai"}
    made = ask("reserve", **body)
    assert made["allowed"] and made["max_usd"] == 10 and ask("reserve", **body) == made
    ask("release", key="start 1")
    ask("release", key="start 1")
    assert figures("reserved_usd") == [0]
    assert ask("reserve", **body)["reservation_id"] == made["reservation_id"]
    assert figures("reserved_usd") == [10]
    ask("attach", key="start 1", run_id=17)
    ask("release", key="start 1")
    assert reservations() == [("held", 17, 10)]
    answer = ask("reserve", **{**body, "key": "start 2"})
    assert answer["allowed"] is False and answer["budget"]["reserved_usd"] == 10


def test_starts_at_once_do_not_pass_the_budget(cluster, user, put, repo, ask, figures, reservations):
    """200 starts on two replicas against a budget for seven, which three budgets are about."""
    put(usd=7, max_usd_per_run=1)
    put(usd=100, period="day", max_usd_per_run=1)
    put(usd=50, scope="repo", repo=repo, max_usd_per_run=1)
    with contextlib.ExitStack() as stack:
        other = cluster.separate("svc-fleet", "other", ROLES="http", WORKERS="2")
        other.start()
        stack.callback(other.stop)
        other.wait_ready()
        pool = stack.enter_context(ThreadPoolExecutor(16))

        def start(number):
            url = other.url if number % 2 else cluster.url("svc-fleet")
            body = {"key": f"start {number}", "repo": repo, "agent": "agent_three", "provider": "openai"}
            answer = plain_http.post(f"{url}/internal/fleet/runs/reserve", json=body, timeout=60,
                                     auth=identity(cluster, "svc-fleet", "service", account=user.account))
            assert answer.status_code == 200, answer.text
            return answer.json()["allowed"]

        allowed = list(pool.map(start, range(200)))
    assert sum(allowed) == 7
    assert [each for each in reservations()] == [("held", None, 1)] * 7
    assert figures("reserved_usd", "refused") == [7, 0]  # of the day


def test_a_thousand_starts_of_ten_replicas_do_not_pass_the_budget(cluster, user, put, repo, figures, reservations):
    put(usd=7, max_usd_per_run=1)
    allowed = fleet.start_at_once(cluster, user.account, repo)
    assert (len(allowed), sum(allowed)) == (1000, 7)
    assert reservations() == [("held", None, 1)] * 7
    assert figures("reserved_usd", "spent_usd", "refused") == [7, 0, 993]


# ---- how a reservation ends ----


def test_a_run_that_takes_a_start_which_is_given_back_keeps_it(cluster, db, user, put, ask, repo, figures, reservations):
    """The code host has let it start, and its answer was lost."""
    put()
    ask("reserve", key="start 1", repo=repo, **OBEYS)
    with cluster.postgres.connect("fleet") as holder, ThreadPoolExecutor(1) as pool:
        fleet.take_start(holder, user.account, "start 1", 17)
        released = pool.submit(ask, "release", key="start 1")
        wait_for(lambda: common.blocked_by(db, holder), "the release waits")
        holder.commit()
        released.result()
    assert reservations() == [("held", 17, 10)] and figures("reserved_usd") == [10]


def test_an_end_without_a_cost_counts_what_was_reserved(put, trigger, report, figures):
    put(usd=30)
    first, second = trigger(**OBEYS)["run_id"], trigger(**OBEYS)["run_id"]
    record = report(first, status="agent_failed", started_at=now(), finished_at=now())
    assert (record["spend_usd"], record["spend_basis"]) == (10, "assumed")
    assert figures("reserved_usd", "spent_usd", "assumed_usd", "runs_unknown") == [10, 10, 10, 0]
    report(first, cost_usd=0.75)
    assert figures("spent_usd", "assumed_usd", "reported_usd") == [0.75, 0, 0.75]
    report(second, status="skipped_no_candidates", started_at=now())
    assert figures("reserved_usd", "spent_usd") == [0, 0.75]


def test_what_an_unknown_cost_counts_can_be_set(put, trigger, report, figures):
    put(assume_usd=2)
    report(trigger(**OBEYS)["run_id"], status="tests_failed", started_at=now())
    assert figures("assumed_usd", "reserved_usd") == [2, 0]


def test_an_unknown_cost_without_a_reservation_counts_what_is_set(api, put, report, install, figures, interest):
    """As of a workflow of a former version."""
    install(interest_id=interest)
    put(assume_usd=3)
    put(assume_usd=2, scope="interest", interest_id=interest)
    report(1, status="tests_failed", started_at=now(), interest_id=interest)
    report(2, status="running", started_at=now())
    assert figures("assumed_usd", "runs_unknown") == [2, 0]
    report(2, status="agent_failed")
    report(3, status="choose_failed", started_at=now())
    assert figures("assumed_usd", "runs_unknown") == [5, 0]
    report(1, cost_usd=1)
    assert figures("assumed_usd", "spent_usd") == [3, 4]


def test_reports_come_in_any_order(put, trigger, report, figures):
    put()
    run = trigger(**OBEYS)["run_id"]
    begin, end = {"status": "running", "started_at": now(minutes=-9)}, {"status": "pr_opened", "finished_at": now(), "cost_usd": 1}
    for members in (end, begin, end, begin):
        report(run, **members)
        assert figures("reserved_usd", "spent_usd", "runs") == [0, 1, 1]
    report(run, run_attempt=2, status="pr_opened", cost_usd=4)
    assert figures("reserved_usd", "spent_usd", "runs") == [0, 5, 1]


def test_the_model_of_an_admission_estimates(db, user, put, trigger, report):
    put()
    fleet.add_price(db, user.email, 2, 10)
    try:
        run = trigger(agent="agent_two", provider="custom", model=user.email)["run_id"]
        record = report(run, status="pr_opened", started_at=now(), input_tokens=1_000_000, output_tokens=100_000)
    finally:
        fleet.remove_price(db, user.email)
    assert (record["spend_usd"], record["spend_basis"]) == (3, "estimated")


def test_a_start_without_a_run_expires(put, ask, repo, expire, figures, reservations):
    put(usd=10)
    ask("reserve", key="start 1", repo=repo, **OBEYS)
    expire()
    assert reservations() == [("released", None, 10)] and figures("reserved_usd") == [0]


def test_a_start_is_held_for_longer_than_a_task_pauses(db, user, put, ask, repo, reservations):
    """An hour at most, as when the code host says when its limit ends; and asks again then."""
    put(usd=10)
    for _ in range(2):
        ask("reserve", key="start 1", repo=repo, **OBEYS)
        fleet.pass_reservations(db, user.account, 65)
        assert reservations() == [("held", None, 10)]
    fleet.pass_reservations(db, user.account, 65)
    assert reservations() == [("released", None, 10)]


def test_a_start_that_asks_again_while_it_expires_is_held(cluster, db, user, put, ask, repo, figures, reservations):
    put(usd=10)
    ask("reserve", key="start 1", repo=repo, **OBEYS)
    with cluster.postgres.connect("fleet") as holder, cluster.postgres.connect("fleet") as other, ThreadPoolExecutor(1) as pool:
        fleet.make_expiry_due(db, user.account)
        fleet.start_again(holder, user.account, "start 1", repo)
        expired = pool.submit(fleet.expire_due, other, user.account)
        wait_for(lambda: common.blocked_by(db, holder), "the expiry waits")
        holder.commit()
        expired.result()
    assert reservations() == [("held", None, 10)] and figures("reserved_usd") == [10]


def test_a_run_that_is_not_heard_of_expires(put, trigger, report, expire, figures, reservations, db, user):
    made = put()
    run = trigger(**OBEYS)["run_id"]
    expire()
    assert [state for state, _, _ in reservations()] == ["held"]  # the code host has it running
    fleet.count_from_ever(db, made["budget_id"])
    fleet.age_reservations(db, user.account)
    expire()
    assert reservations() == [("settled", run, 10)]
    assert figures("assumed_usd") == [10]
    report(run, status="pr_opened", cost_usd=1)
    assert figures("assumed_usd", "spent_usd") == [0, 1]


def test_a_run_that_the_code_host_has_ended_expires(put, trigger, db, repo, expire, figures, reservations, user):
    put()
    run = trigger(**OBEYS)["run_id"]
    later = now(minutes=1)
    fleet.tell_run(db, repo, run_id=run, status="completed", conclusion="cancelled", started_at=now(), updated_at=later)
    assert fleet.is_due_soon(db, user.account)
    assert figures("reserved_usd", "assumed_usd") == [10, 0]  # its report may be on its way
    expire()
    assert figures("reserved_usd", "assumed_usd") == [0, 10] and reservations() == [("settled", run, 10)]


def test_a_run_that_is_replaced_while_it_waits_costs_nothing(put, trigger, admit, db, repo, figures, reservations):
    """The code host ends a run that waits for another one when a third is started."""
    put(usd=100)
    running, waiting = trigger(**OBEYS)["run_id"], trigger(**OBEYS)["run_id"]
    admit(running)
    ended = {"status": "completed", "conclusion": "cancelled", "started_at": now(), "updated_at": now(minutes=1)}
    fleet.tell_run(db, repo, run_id=waiting, **ended)
    assert reservations() == [("held", running, 10), ("settled", waiting, 10)]
    assert figures("reserved_usd", "spent_usd", "assumed_usd", "runs_unknown") == [10, 0, 0, 0]
    fleet.tell_run(db, repo, run_id=running, **ended)  # its agent has begun
    assert figures("reserved_usd", "spent_usd") == [10, 0]


def test_a_report_of_a_run_that_seemed_replaced_counts(put, trigger, admit, db, repo, report, figures):
    put(usd=100)
    admit(4711)
    run = trigger(**OBEYS)["run_id"]
    fleet.tell_run(db, repo, run_id=run, status="completed", conclusion="cancelled", started_at=now(), updated_at=now(minutes=1))
    assert figures("reserved_usd", "assumed_usd") == [10, 0]
    report(run, status="agent_failed", finished_at=now())
    assert figures("reserved_usd", "assumed_usd") == [10, 10]
    report(run, cost_usd=2)
    assert figures("reserved_usd", "spent_usd") == [10, 2]


def test_a_run_whose_end_is_known_before_its_start_costs_nothing(put, admit, ask, db, repo, figures):
    put(usd=100)
    admit(4711)
    ask("reserve", key="start 1", repo=repo, **OBEYS)
    fleet.tell_run(db, repo, run_id=17, status="completed", conclusion="cancelled", started_at=now(), updated_at=now(minutes=1))
    ask("attach", key="start 1", run_id=17)
    assert figures("reserved_usd", "spent_usd") == [10, 0]


def test_a_lost_run_counts_in_the_budget_of_its_interest(api, put, trigger, interest, expire, db, user, reservations):
    made = put(scope="interest", interest_id=interest)
    run = trigger(interest_id=interest, **OBEYS)["run_id"]
    fleet.count_from_ever(db, made["budget_id"])
    fleet.age_reservations(db, user.account)
    expire()
    assert reservations() == [("settled", run, 10)]
    assert fleet.sums_of_periods(db, made["budget_id"]) == [0, 10, 1]
    assert [row["run_id"] for row in api.get(f"/fleet/runs?interest_id={interest}", expect=200).json()] == [run]


def test_a_run_that_nobody_knows_is_counted(put, ask, repo, expire, figures, api):
    put()
    ask("reserve", key="start 1", repo=repo, **OBEYS)
    ask("attach", key="start 1", run_id=4711)
    expire()
    (run,) = [run for run in api.get(f"/fleet/runs?repo={repo}", expect=200).json() if run["run_id"] == 4711]
    assert (run["spend_basis"], run["spend_usd"], run["status"]) == ("assumed", 10, "failed")
    assert figures("reserved_usd", "assumed_usd") == [0, 10]


def test_a_reservation_that_cannot_expire_stops_no_other(cluster, put, ask, repo, expire, reservations, db, user):
    put(usd=100)
    for number in (1, 2):
        ask("reserve", key=f"start {number}", repo=repo, **OBEYS)
    with fleet.refusing(db, "reservation", "NEW.state = 'released' AND NEW.key = 'start 1'"):
        expire()
        assert reservations() == [("held", None, 10), ("released", None, 10)]
    expire()
    assert reservations() == [("released", None, 10)] * 2


def test_a_reservation_that_takes_too_long_to_expire_stops_no_other(cluster, put, ask, repo, expire, reservations, db, user):
    put(usd=100)
    for number in (1, 2):
        ask("reserve", key=f"start {number}", repo=repo, **OBEYS)
    with fleet.refusing(db, "reservation", "NEW.state = 'released' AND NEW.key = 'start 1'", "query_canceled"):
        fleet.make_expiry_due(db, user.account)
        process = cluster.separate("svc-fleet", "expiring")
        process.start()
        wait_for(lambda: reservations() == [("held", None, 10), ("released", None, 10)], "the other one expires")
        wait_for(lambda: process.metric("expops_budget_faults_total") == 1, "the fault is counted")
        process.stop()
    expire()
    assert reservations() == [("released", None, 10)] * 2


def test_a_removed_run_has_nothing_reserved(api, put, trigger, repo, figures):
    put()
    run = trigger(**OBEYS)["run_id"]
    api.delete(f"/fleet/runs/{run}?repo={repo}", expect=200)
    assert figures("reserved_usd", "runs") == [0, 0]


def test_reports_without_a_reservation_are_counted(put, report, figures):
    """As of a workflow of a former version."""
    put()
    report(1, status="pr_opened", started_at=now(), cost_usd=3)
    assert figures("spent_usd", "reserved_usd") == [3, 0]


def test_a_new_budget_counts_what_is_reserved(api, put, trigger, figures, report):
    put(period="week", usd=1000)
    run = trigger(**OBEYS)["run_id"]
    put(period="day", usd=15)
    assert figures("reserved_usd", "remaining_usd") == [10, 5]
    report(run, status="pr_opened", cost_usd=1)
    assert figures("reserved_usd", "remaining_usd") == [0, 14]


def test_a_run_over_midnight_is_of_the_day_that_it_started(put, ask, repo, report, figures):
    put(period="day")
    ask("reserve", key="start 1", repo=repo, **OBEYS)
    ask("attach", key="start 1", run_id=17)
    assert figures("reserved_usd") == [10]
    report(17, status="pr_opened", started_at=now(days=-1), cost_usd=4)
    assert figures("reserved_usd", "spent_usd") == [0, 0]


def test_what_is_reserved_follows_a_renamed_repository(put, trigger, report, repo, figures, db, user):
    put(scope="repo", repo=repo)
    trigger(**OBEYS)
    fleet.rename(db, user.account, repo, "Acme/Renamed")
    assert fleet.reserved_repositories(db, user.account) == ["acme/renamed"] and figures("reserved_usd") == [10]


def test_the_check_mends_what_is_reserved(cluster, put, trigger, figures, db):
    made = put()
    trigger(**OBEYS)
    fleet.set_reserved(db, made["budget_id"], 60)
    fleet.make_check_due(db, made["budget_id"])
    process = cluster.separate("svc-fleet", "mending")
    process.start()
    wait_for(lambda: figures("reserved_usd") == [10], "it is mended")
    process.stop()


# ---- what a run asks ----


@pytest.fixture
def admit(agent, repo):
    """admit(run_id, **members): what a run of the repository is answered, by its own key."""
    key = agent(repo)

    def send(run_id, refused=False, run_attempt=1, **members):
        body = {"run_id": run_id, "run_attempt": run_attempt, "repo": repo, **OBEYS, **members}
        if refused:
            return key.problem("POST", "/fleet/runs/admit", 409, "budget_reached", body)
        return key.post("/fleet/runs/admit", body, expect=200).json()

    return send


def test_a_run_gets_what_was_reserved_for_it(put, trigger, admit, reservations):
    put()
    run = trigger(**OBEYS)["run_id"]
    made = admit(run)
    assert made["allowed"] is True and made["max_usd"] == 10 and admit(run) == made == admit(str(run))
    assert reservations() == [("held", run, 10)]


def test_a_question_locks_budgets_behind_the_sums_of_runs(cluster, user, put, repo, report, admit):
    """As reports do, which could otherwise wait for it in a circle."""
    budget = put()["budget_id"]
    report(17, status="running", started_at=now())
    with cluster.postgres.connect("fleet") as holder, cluster.postgres.connect("fleet") as db, ThreadPoolExecutor() as pool:
        fleet.hold_sums(holder, user.account, repo)
        asked = pool.submit(admit, 17)
        wait_for(lambda: common.blocked_by(db, holder), "the question waits")
        assert fleet.is_period_free(db, budget)
        holder.rollback()
        assert asked.result()["allowed"] is True


@pytest.mark.parametrize("is_attached", [True, False])
def test_a_start_that_names_no_agent_passes_a_budget_with_that_of_the_workflow(put, ask, repo, admit, reservations, is_attached):
    """The installation has another one until its pull request is merged."""
    put(usd=0)
    ask("reserve", key="start 1", repo=repo, over_budget=True)
    if is_attached:
        ask("attach", key="start 1", run_id=17)
    assert admit(17) == admit(17) and admit(17)["max_usd"] == 10 and reservations() == [("held", 17, 10)]
    admit(18, refused=True)


def test_a_start_that_names_no_agent_is_reserved_anew_for_a_dearer_one(put, ask, repo, admit, report, reservations):
    put(usd=13)
    report(1, agent="agent_one", status="pr_opened", started_at=now(), cost_usd=2)
    ask("reserve", key="start 1", repo=repo)
    ask("reserve", key="start 2", repo=repo)
    assert reservations() == [("held", None, 2)] * 2
    assert admit(17, agent="agent_one", provider="anthropic")["allowed"]
    assert reservations() == [("held", None, 2), ("held", 17, 2)]
    assert admit(18)["max_usd"] == 9 and reservations() == [("held", 18, 9), ("held", 17, 2)]


def test_a_start_for_the_agent_of_the_installation_keeps_what_it_reserved(put, ask, repo, admit, report, reservations):
    """A dearer run since then does not stop what was let start."""
    put(usd=13)
    report(1, agent="agent_one", status="pr_opened", started_at=now(), cost_usd=2)
    ask("reserve", key="start 1", repo=repo)
    report(2, agent="agent_one", status="pr_opened", started_at=now(), cost_usd=10)
    assert admit(17, agent="agent_one", provider="anthropic")["allowed"] and reservations() == [("held", 17, 2)]


def test_a_run_that_a_start_named_no_agent_for_is_of_the_one_that_asked(api, put, ask, repo, admit, expire):
    put()
    ask("reserve", key="start 1", repo=repo)
    ask("attach", key="start 1", run_id=17)
    admit(17, model="large")
    expire()
    (run,) = [run for run in api.get(f"/fleet/runs?repo={repo}", expect=200).json() if run["run_id"] == 17]
    assert (run["agent"], run["provider"], run["model"]) == (OBEYS["agent"], OBEYS["provider"], "large")


def test_a_run_takes_the_newest_start_that_is_no_run(put, ask, repo, admit, reservations):
    put(usd=100)
    for key in ("start 1", "start 2"):
        ask("reserve", key=key, repo=repo, **OBEYS)
    admit(17)
    assert reservations() == [("held", None, 10), ("held", 17, 10)]
    ask("attach", key="start 1", run_id=17)  # the answer of its dispatch
    assert reservations() == [("held", None, 10), ("held", 17, 10)]
    admit(18)
    assert reservations() == [("held", 18, 10), ("held", 17, 10)]


def test_a_run_that_nobody_started_reserves_itself(put, admit, report, figures, reservations):
    put(usd=11)
    made = admit(17)
    assert made["max_usd"] == 10 and reservations() == [("held", 17, 10)]
    assert admit(18)["max_usd"] == 1
    problem = admit(19, refused=True)
    assert "usd" not in problem["budget"] and problem["detail"].startswith("The budget of the account for this month is reached.")
    report(17, status="skipped_no_candidates", started_at=now())
    assert figures("reserved_usd", "spent_usd", "refused") == [1, 0, 1]
    assert admit(19)["max_usd"] == 10


def test_a_run_that_asks_after_midnight_reserves_of_the_new_day(put, trigger, admit, figures, reservations, db, user):
    made = put(period="day", usd=15)
    run, other = trigger(**OBEYS)["run_id"], trigger(**OBEYS)["run_id"]
    assert [amount for _, _, amount in reservations()] == [10, 5]
    fleet.count_from_ever(db, made["budget_id"])
    fleet.move_to_yesterday(db, user.account)
    assert figures("reserved_usd") == [0]
    assert admit(other)["max_usd"] == 10 and figures("reserved_usd") == [10]
    assert admit(run)["max_usd"] == 5 and figures("reserved_usd") == [15]
    assert admit(other)["max_usd"] == 10 and reservations() == [("held", run, 5), ("held", other, 10)]


def test_a_new_day_refuses_a_run_that_the_former_one_let_start(put, trigger, admit, figures, reservations, db, user):
    made = put(period="day", usd=10)
    run = trigger(**OBEYS)["run_id"]
    fleet.count_from_ever(db, made["budget_id"])
    fleet.move_to_yesterday(db, user.account)
    admit(4711)
    admit(run, refused=True)
    assert figures("reserved_usd", "refused") == [10, 1]
    assert [(state, amount) for state, _, amount in reservations()] == [("released", 10), ("held", 10)]


def test_a_run_that_asks_after_midnight_locks_sums_before_budgets(cluster, put, trigger, admit, figures, db, user):
    """As reports do, which would wait for it in a circle."""
    made = put(period="day", usd=15)
    run = trigger(**OBEYS)["run_id"]
    fleet.count_from_ever(db, made["budget_id"])
    fleet.move_to_yesterday(db, user.account)
    with cluster.postgres.connect("fleet") as other, ThreadPoolExecutor(1) as pool:
        with other.transaction():
            fleet.hold_repo_sums(other, user.account)
            asked = pool.submit(admit, run)
            common.wait_blocked(db, "fleet")
            assert fleet.free_periods(other, user.account) == 1
        assert asked.result()["max_usd"] == 10
    assert figures("reserved_usd") == [10]


def test_another_attempt_reserves_anew(put, admit, report, figures):
    put(usd=15)
    admit(17)
    report(17, status="agent_failed", started_at=now(), cost_usd=4)
    assert admit(17, run_attempt=2)["max_usd"] == 10
    assert figures("reserved_usd", "spent_usd") == [10, 4]
    report(17, run_attempt=2, status="pr_opened", cost_usd=2)
    assert figures("reserved_usd", "spent_usd") == [0, 6]


def test_an_attempt_that_is_lost_counts_in_the_period_in_which_it_was_admitted(api, put, admit, report, figures, expire):
    budget = put(period="day")
    report(17, status="agent_failed", started_at=now(days=-1), cost_usd=4)
    admit(17, run_attempt=2)
    expire()
    assert figures("reserved_usd", "spent_usd", "assumed_usd") == [0, 10, 10]
    api.delete(f"/fleet/budgets/{budget['budget_id']}", expect=200)
    put(period="day")
    assert figures("spent_usd", "assumed_usd", "runs") == [10, 10, 0], "it is counted anew"


def test_an_attempt_that_has_ended_holds_nothing(put, admit, report, figures, reservations):
    put()
    report(17, status="pr_opened", started_at=now(), cost_usd=2)
    admit(17)
    assert figures("reserved_usd", "spent_usd") == [0, 2] and reservations() == [("settled", 17, 10)]


def test_attempts_that_ask_at_once_have_one_reservation(put, admit, reservations):
    put(usd=100)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: admit(17), range(12)))
    assert all(answer == answers[0] for answer in answers) and reservations() == [("held", 17, 10)]


def test_a_stolen_key_cannot_reserve_all(put, agent, repo, admit, report, figures):
    put(usd=1000)
    for number in range(10):
        admit(number)
    body = {"run_id": 10, "run_attempt": 1, "repo": repo, **OBEYS}
    agent(repo).problem("POST", "/fleet/runs/admit", 409, "conflict", {**body, "over_budget": True, "amount_usd": 0})
    admit(9)  # that has asked already
    assert figures("reserved_usd", "refused") == [100, 0]
    report(0, status="skipped_no_candidates", started_at=now())
    admit(10)


def test_a_run_cannot_allow_itself_to_start(put, agent, repo, figures):
    put(usd=0)
    body = {"run_id": 10, "run_attempt": 1, "repo": repo, "over_budget": True, "obeys_max_usd": True, "key": "k", "limits": None, **OBEYS}
    answer = agent(repo).post("/fleet/runs/admit", body, expect=409)
    assert answer.json()["error"] == "budget_reached" and "over_budget" in answer.headers["X-Ignored-Fields"]
    assert figures("reserved_usd", "refused") == [0, 1]


def test_repositories_that_do_not_ask_are_named(cluster, api, user, db, put, report, admit, figures, repo):
    put()
    items = lambda: [item for item in api.get("/fleet/agents/inbox", expect=200).json() if item["kind"] == "budget_unguarded"]  # noqa: E731
    report(1, status="skipped_no_candidates", started_at=now())
    assert figures("unguarded") == [[]] and items() == []
    put(assume_usd=1)
    report(2, status="pr_opened", started_at=now())
    assert figures("unguarded", "assumed_usd") == [[repo], 1]
    assert [(item["repo"], item["severity"]) for item in items()] == [(repo, "warning")]
    wait_for(lambda: "budget_unguarded" in [told["kind"] for told in messages.told(cluster, user.account, "inbox.item")], "it is told")
    admit(3)
    assert figures("unguarded") == [[]] and items() == []
    fleet.age_admissions(db, user.account, days=31)
    assert figures("unguarded") == [[repo]]


def test_a_repository_that_asks_does_so_under_its_new_name(put, report, admit, figures, repo, db, user):
    put()
    admit(1)
    report(1, status="pr_opened", started_at=now(), cost_usd=1)
    fleet.rename(db, user.account, repo, repo.upper())
    fleet.rename(db, user.account, repo, f"{repo}-2")
    fleet.rename_installations(db, user.account, repo, f"{repo}-2")
    assert figures("unguarded") == [[]]


def test_without_a_budget_a_run_may_cost_anything(admit):
    assert admit(17) == {"allowed": True, "max_usd": None, "reservation_id": None}


def test_only_the_repository_s_key_asks(api, agent, repo):
    body = {"run_id": 1, "run_attempt": 1, "repo": repo, **OBEYS}
    api.problem("POST", "/fleet/runs/admit", 403, "forbidden", body)
    agent("acme/other").problem("POST", "/fleet/runs/admit", 403, "forbidden", body)
    fields = lambda problem: {fault["field"] for fault in problem["errors"]}  # noqa: E731
    assert fields(agent(repo).problem("POST", "/fleet/runs/admit", 400, "invalid_request", {})) == {
        "run_id", "run_attempt", "repo", "agent", "provider"}


# ---- killed ----


@pytest.mark.parametrize("killed", ["before the dispatch", "before the attachment"])
def test_kill_9_reserves_once(cluster, code_host, db, repo, replica, put, killed, figures, reservations):
    put(usd=10)
    with replica(REQUEST_TIMEOUT="5s") as lone, ThreadPoolExecutor(1) as pool:
        before = code_host.last_number()
        method, path = ("GET", "/actions/workflows/") if killed == "before the dispatch" else ("POST", "/dispatches$")
        if killed == "before the dispatch":
            code_host.fail(method, path, hang=True)
        else:  # the note of the run waits for a lock
            fleet.hold_repository(db, repo)
        pending = pool.submit(lone.call, "POST", TRIGGER, {"repo": repo}, Idempotency_Key="killed")
        wait_for(lambda: code_host.requests(before, method, path), "it came so far")
        lone.process.kill9()
        assert isinstance(pending.exception(), httpx.TransportError)
        db.rollback()
        code_host.stop_failing()
        lone.process.start()
        lone.process.wait_ready()

        def repeat():
            answer = lone.call("POST", TRIGGER, {"repo": repo}, Idempotency_Key="killed")
            return answer if answer.status_code == 200 else None

        made = wait_for(repeat, "the repeated request is answered").json()
    assert reservations() == [("held", made["run_id"], 10)] and figures("reserved_usd") == [10]
    assert len(code_host.runs(repo)) == 1


def test_a_report_that_is_killed_settles_nothing(cluster, put, trigger, report, figures, reservations):
    put()
    run, end = trigger(**OBEYS)["run_id"], {"status": "pr_opened", "finished_at": now(), "cost_usd": 2}
    with cluster.postgres.connect("fleet") as db, ThreadPoolExecutor(1) as pool:
        points = KillPoints(cluster, "svc-fleet", db, ["reservation"])
        try:
            points.hold("reservation", "NEW.state = 'settled'")
            lost = pool.submit(report, run, **end)
            points.wait()
            points.kill()
            assert lost.exception()
        finally:
            points.release()
    assert figures("reserved_usd", "spent_usd") == [10, 0] and reservations() == [("held", run, 10)]
    report(run, **end)
    assert figures("reserved_usd", "spent_usd") == [0, 2] and reservations() == [("settled", run, 10)]


def test_a_repository_of_no_account_reserves_nothing(put, api, at_host, code_host, reservations):
    put()
    other = code_host.repository(at_host.login, files=FILES)
    api.problem("POST", TRIGGER, 404, "not_found", {"repo": other})
    assert reservations() == []
