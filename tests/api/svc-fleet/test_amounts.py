"""What a start reserves of a budget that stops runs: by which runs, of which budgets, and for which run."""

import pytest

from lib.check import messages
from lib.http import plain_http
from lib.http.identity import identity
from lib.scenario.budgets import OBEYS, TRIGGER
from lib.scenario.fleet import now
from lib.tables import fleet

DOES_NOT = {"agent": "agent_two", "provider": "custom"}


@pytest.fixture
def state(api):
    """state(period): of the account's budget of the period."""
    return lambda period="month": {each["period"]: each["state"] for each in api.get("/fleet/budgets", expect=200).json()}[period]


@pytest.fixture
def trigger(api, repo):
    return lambda **body: api.post(TRIGGER, {"repo": repo, **body}, expect=200).json()["run_id"]


@pytest.fixture
def refused(api, repo):
    return lambda **body: api.problem("POST", TRIGGER, 409, "budget_reached", {"repo": repo, **body})


@pytest.fixture
def report(agent, repo):
    """report(run_id, of, **members): a run of agent_one on a repository has told its end."""

    def send(run_id, of=repo, **members):
        body = {"run_id": run_id, "repo": of, "agent": "agent_one", "status": "pr_opened", "started_at": now(), **members}
        answer = agent(of).post("/fleet/runs", body)
        assert answer.status_code in (200, 201), answer.text

    return send


@pytest.fixture
def amounts(db, user):
    """amounts(): what is reserved for the account, in its order."""
    return lambda: [usd for state, _, usd in fleet.reservations(db, user.account) if state == "held"]


@pytest.fixture
def start(cluster, user, repo):
    """start(key, **members): a start that is no run yet, as svc-experiments reserves for one."""

    def send(key, **members):
        answer = plain_http.post(f"{cluster.url('svc-fleet')}/internal/fleet/runs/reserve", json={"key": key, "repo": repo, **members},
                                 auth=identity(cluster, "svc-fleet", "service", account=user.account))
        assert answer.json()["allowed"], answer.text

    return send


@pytest.fixture
def admit(agent, repo):
    """admit(run_id, key, refused, **members): what a run is answered that asks."""
    repo_key = agent(repo)

    def send(run_id, key=repo_key, refused=False, **members):
        body = {"run_id": run_id, "run_attempt": 1, "repo": repo, **OBEYS, **members}
        if refused:
            return key.problem("POST", "/fleet/runs/admit", 409, "budget_reached", body)
        return key.post("/fleet/runs/admit", body, expect=200).json()

    return send


@pytest.fixture
def free_model(db, user):
    fleet.add_price(db, user.email, 0, 0)
    yield user.email
    fleet.remove_price(db, user.email)


# ---- by which runs ----


@pytest.mark.parametrize("cost", [0.000001, 10000])
def test_runs_of_other_repositories_say_nothing(put, trigger, report, amounts, cost):
    put(usd=100000, max_usd_per_run=6)
    report(1, of="acme/other", cost_usd=cost)
    trigger()
    assert amounts() == [6]


def test_a_run_that_tells_no_model_is_one_of_several(put, trigger, report, amounts):
    put(usd=1000, max_usd_per_run=6)
    report(1, cost_usd=9, model="small")
    report(2, cost_usd=0.000001)
    trigger()
    trigger(model="small")
    trigger(model="unheard-of")
    assert amounts() == [9, 9, 9]


def test_a_refusal_names_the_run_that_says_how_much(api, put, trigger, refused, report, repo, amounts):
    put(usd=60)
    report("told wrongly", cost_usd=40)
    report("right", cost_usd=3)
    assert "; a run needs up to 40.00, as run told wrongly cost. Begins anew on " in refused()["detail"]
    api.delete(f"/fleet/runs/told%20wrongly?repo={repo}", expect=200)
    trigger()
    assert amounts() == [3]


def test_a_refusal_is_one_line(put, refused, report):
    """The workflow prints it, and the code host takes lines as commands."""
    put(usd=60)
    report("x\n::stop-commands::y\r", cost_usd=40)
    assert "; a run needs up to 40.00, as run x ::stop-commands::y  cost. Begins anew on " in refused()["detail"]


# ---- of budgets that are less than a run may cost ----


@pytest.mark.parametrize(("usd", "start"), [(5, {}), (5, DOES_NOT), (0.5, {}), (0.5, OBEYS)])
def test_a_run_that_may_cost_more_than_the_whole_budget_is_told_so(put, refused, amounts, usd, start):
    """It would be refused in the next period, too. For an agent that obeys a limit a dollar is enough."""
    put(usd=usd)
    problem = refused(**start)
    assert problem["detail"].endswith("a run needs up to 10.00. The whole budget is too small for one.")
    assert problem["budget"]["needed_usd"] == 10 and amounts() == []


def test_who_sees_no_figures_is_told_of_a_budget_that_is_too_small_as_a_whole(put, admit):
    put(usd=5)
    reached = "The budget of the account for this month is reached. "
    assert admit(17, refused=True, **DOES_NOT)["detail"] == reached + "The whole budget is too small for one."
    admit(18)
    assert admit(19, refused=True)["detail"].startswith(reached + "Begins anew on ")


def test_of_several_budgets_one_that_is_too_small_as_a_whole_is_told(put, refused, report, repo):
    """Tomorrow it would refuse, too, although less is left of the one of the day."""
    put(usd=15, period="day")
    put(usd=9, scope="repo", repo=repo)
    report(1, of="acme/other", cost_usd=8)
    problem = refused()
    assert problem["budget"]["scope"] == "repo" and problem["detail"].endswith(" The whole budget is too small for one.")


def test_a_run_that_was_dearer_than_the_whole_budget_is_named(put, refused, report):
    put(usd=20, period="day")
    report(1, cost_usd=21, started_at=now(days=-1))
    assert refused()["detail"].endswith("a run needs up to 21.00, as run 1 cost. The whole budget is too small for one.")


def test_a_refusal_is_not_told_as_spent(cluster, api, user, put, trigger, refused):
    put(usd=15)
    trigger()
    refused()
    (message,) = messages.told(cluster, user.account, "budget.reached")
    assert (message["percent"], message["refused"]) == (0, 1)
    assert message["name"] == "15 USD a month; too little is left for a run, which was not started"
    (item,) = [each for each in api.get("/fleet/agents/inbox", expect=200).json() if each["kind"] == "budget_reached"]
    assert item["title"] == "0 of 15 USD a month are spent; too little is left for a run, which was not started"


def test_what_is_spent_is_told_so(cluster, api, user, put, report):
    put(usd=15)
    report(1, cost_usd=16)
    assert [message["name"] for message in messages.told(cluster, user.account, "budget.reached")] == ["15 USD a month"]
    (item,) = [each for each in api.get("/fleet/agents/inbox", expect=200).json() if each["kind"] == "budget_reached"]
    assert item["title"].startswith("16 of 15 USD a month are spent; no run starts before 1 ")


# ---- for which run ----


def test_what_may_pass_a_budget_is_for_its_model(put, start, admit, amounts):
    put(usd=0)
    start("start 1", model="small", over_budget=True, **OBEYS)
    admit(17, model="large", refused=True)
    admit(18, refused=True)
    assert admit(19, model="small")["max_usd"] == 10 and amounts() == [10]


def test_what_may_pass_a_budget_is_for_its_agent(put, start, admit, amounts):
    put(usd=0)
    start("start 1", over_budget=True, **OBEYS)
    admit(17, refused=True, **DOES_NOT)
    admit(18, model="any")
    assert amounts() == [10]


def test_what_may_pass_a_budget_is_for_its_interest(api, put, agent, repo, start, admit):
    put(usd=0)
    interest = api.post("/interests", {"name": "Ranking", "context": "Ranking of documents."}, expect=201).json()["id"]
    start("start 1", over_budget=True, **OBEYS)
    admit(17, key=agent(repo, interest_id=interest), refused=True)
    admit(18)


def test_a_model_that_costs_nothing_reserves_for_no_other(put, start, admit, amounts, free_model):
    put(usd=12)
    start("start 1", model=free_model, **DOES_NOT)
    admit(17, model="unheard-of", **DOES_NOT)
    admit(18, model=free_model, **DOES_NOT)
    assert amounts() == [0, 10]
    admit(19, model="unheard-of", refused=True, **DOES_NOT)


def test_a_run_that_is_another_than_was_started_reserves_anew(db, user, put, trigger, admit, free_model):
    put(usd=12)
    first, second = trigger(model=free_model, **DOES_NOT), trigger(model=free_model, over_budget=True, **DOES_NOT)
    admit(first, model="unheard-of", **DOES_NOT)
    admit(second, model="unheard-of", refused=True, **DOES_NOT)
    assert fleet.reservations(db, user.account) == [("held", first, 10), ("released", second, 0)]


def test_a_cost_that_follows_from_a_reservation_changes_the_run(api, db, user, repo, put, report, admit):
    """Lists and the export go by when a run has changed."""
    put()
    report(17, status="running")
    admit(17)
    changed = lambda: api.get(f"/fleet/runs?repo={repo}", expect=200).json()[0]["updated_at"]  # noqa: E731
    fleet.set_changed(db, user.account, repo, 17, "2026-01-31T09:30:00Z")
    assert changed() == "2026-01-31T09:30:00.000Z"
    fleet.expire_reservations(db, user.account)
    assert api.get(f"/fleet/runs?repo={repo}", expect=200).json()[0]["spend_usd"] == 10
    assert changed() > "2026-01-31T09:30:00.000Z"
