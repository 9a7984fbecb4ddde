"""What runs cost: told, estimated by tokens and prices, and over several attempts of a run."""

import json
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "https://prices.example/models"


def price(model, provider="house", since="2025-01-01", until=None, checked="2026-01-01", **usd):
    return {"provider": provider, "model": model, "from": since, "until": until, "usd_per_million": {"input": 1, "output": 10, **usd},
            "checked": checked, "source": SOURCE}


PRICES = [
    price("m"), price("m-large", input=2, output=20, cache_write=2.5, cache_read=0.2), price("m-*", input=3, output=30),
    price("m-long-*", input=4, output=40), price("m", provider="other", input=9, output=90), price("free", input=0, output=0),
    price("changed", until="2026-01-15", input=1, output=1), price("changed", since="2026-01-15", input=2, output=2),
]


def write(path, prices):
    path.write_text(json.dumps({"version": 1, "prices": prices}))


@contextmanager
def pricing(cluster, label, **settings):
    """A svc-fleet that has stored its list of prices."""
    process = cluster.separate("svc-fleet", label, **settings)
    process.start()
    wait_for(lambda: "new prices are used" in process.log(), "the prices are stored")
    yield process
    process.stop()


@pytest.fixture(scope="module")
def priced(cluster, tmp_path_factory):
    """A svc-fleet with prices of its own, and their file."""
    path = tmp_path_factory.mktemp("prices") / "prices.json"
    write(path, PRICES)
    with pricing(cluster, "priced", PRICES_FILE=str(path)) as process:
        yield process, path
    with pricing(cluster, "usual"):
        pass


def reprice(cluster, process, since):
    done = subprocess.run([cluster.binary("svc-fleet"), "reprice", "--since", since], env=process.env, capture_output=True, text=True, check=True)
    return done.stdout


def spend(run):
    return run.get("spend_usd"), run.get("spend_basis")


def tokens(model, provider="house", started="2026-01-10T00:00:00Z", **members):
    return {"provider": provider, "model": model, "input_tokens": 1_000_000, "output_tokens": 100_000, "started_at": started, **members}


@pytest.mark.parametrize(("members", "usd"), [
    (tokens("m"), 2), (tokens("m", provider="other"), 18), (tokens("m-large"), 4), (tokens("m-small"), 6), (tokens("m-long-1"), 8),
    (tokens("m-large", cache_read_input_tokens=1_000_000), 4.2), (tokens("m-large", cache_write_input_tokens=400_000), 4.2),
    (tokens("m", cache_write_input_tokens=400_000, cache_read_input_tokens=500_000), 2.5), (tokens("free"), 0),
    (tokens("changed", started="2026-01-14T23:59:59Z"), 1.1), (tokens("changed", started="2026-01-15T00:00:00Z"), 2.2),
    (tokens("m", input_tokens=1, output_tokens=0), 0.000001), (tokens("m", input_tokens=0, output_tokens=0), 0),
])
def test_tokens_have_a_price(priced, report, members, usd):
    run = report(1, status="pr_opened", **members)
    assert spend(run) == (usd, "estimated") and run["price_date"] == "2026-01-01"
    assert "cost_usd" not in run


def test_an_estimate_is_believed_as_far_as_a_cost_is(priced, report):
    """A count of tokens that is wrong would use up each budget."""
    assert spend(report(1, status="pr_opened", **tokens("m", input_tokens=9_000_000_000))) == (9001, "estimated")
    run = report(2, status="pr_opened", **tokens("m", input_tokens=10**15))
    assert spend(run) == (None, None) and "price_date" not in run


@pytest.mark.parametrize("members", [
    tokens("n"), tokens("M"), tokens("m", provider="third"), tokens("m", started="2024-12-31T00:00:00Z"), tokens("m", output_tokens=None),
    {**tokens("m"), "model": None}, {"status": "pr_opened"}, {"status": "agent_failed"},
])
def test_what_is_unknown_is_not_zero(priced, report, members):
    assert spend(report(1, **members)) == (None, None)


@pytest.mark.parametrize("status", [
    "skipped_no_candidates", "skipped_budget", "aborted_impossible_pair", "aborted_model_key_missing", "aborted_no_such_paper",
    "aborted_not_admitted", "choose_failed", "fetch_failed", "install_failed"])
def test_what_ends_before_the_agent_is_free(report, status):
    assert spend(report(1, status=status)) == (0, "reported")
    assert spend(report(1, status=status, cost_usd=0.5)) == (0.5, "reported")


def test_what_is_told_counts_and_not_the_estimate(priced, report):
    assert spend(report(1, **tokens("m"))) == (2, "estimated")
    assert spend(report(1, cost_usd=0.25)) == (0.25, "reported")
    assert spend(report(2, **tokens("m", cost_usd=20_000))) == (2, "estimated")
    assert spend(report(3, cost_usd=20_000)) == (None, None)


def test_attempts_add_up_whatever_their_order(priced, report):
    first = {"run_attempt": 1, "status": "agent_failed", "cost_usd": 1.5, "finished_at": "2026-01-10T01:00:00Z"}
    second = {"run_attempt": 2, "status": "pr_opened", **tokens("m", started="2026-01-10T02:00:00Z"), "finished_at": "2026-01-10T03:00:00Z"}
    for number, order in enumerate([(first, second), (second, first), (first, first, second, second, first)]):
        for sent in order:
            run = report(number, **sent)
        assert spend(run) == (3.5, "estimated"), order
        assert run["run_attempt"] == 2
    assert spend(report(9, cost_usd=1)) == (1, "reported")
    assert spend(report(9, cost_usd=3, run_attempt=2)) == (4, "reported")


def test_reports_of_an_attempt_are_merged_by_their_times(report):
    late, early = {"cost_usd": 3, "finished_at": "2026-01-10T02:00:00Z"}, {"cost_usd": 1, "finished_at": "2026-01-10T01:00:00Z"}
    for number, order in enumerate([(late, early), (early, late)]):
        for sent in order:
            run = report(number, **sent)
        assert spend(run) == (3, "reported")


def test_members_of_the_service_cannot_be_told(report):
    run = report(1, status="pr_opened", spend_usd=99, spend_basis="reported", price_date="2026-01-01")
    assert spend(run) == (None, None) and "price_date" not in run


def test_a_run_of_the_former_version_has_a_spend_with_its_next_report(report, user, db):
    report(1, cost_usd=2, status="running")
    fleet_tables.forget_spend(db, user.account)
    assert spend(report(1, status="pr_opened")) == (2, "reported")


def test_prices_are_shown(priced, api):
    shown = api.get("/fleet/prices", expect=200).json()
    assert {(each["provider"], each["model"], each["from"]) for each in shown["prices"]} == {
        (each["provider"], each["model"], each["from"]) for each in PRICES}
    assert all(each["stale"] for each in shown["prices"]) and shown["stored_at"]


def test_a_new_list_counts_for_new_runs_and_for_others_when_asked(priced, cluster, api, report, db):
    process, path = priced
    budget = api.put("/fleet/budgets", {"scope": "account", "period": "month", "usd": 100}, expect=200).json()["budget_id"]
    fleet_tables.count_from_ever(db, budget)
    before = report(1, status="pr_opened", **tokens("m"))
    write(path, [price("m", input=2, output=20, checked="2026-02-01")])
    process.popen.send_signal(signal.SIGHUP)
    wait_for(lambda: process.log().count("new prices are used") == 2, "the list is read again")
    assert spend(report(1, status="pr_opened")) == spend(before) == (2, "estimated")
    assert spend(report(2, status="pr_opened", **tokens("m"))) == (4, "estimated")
    assert "estimates changed" in reprice(cluster, process, "2026-01-11")
    assert spend(report(1, status="pr_opened")) == (2, "estimated"), "it began before, though it was heard of since"
    assert "estimates changed" in reprice(cluster, process, "2026-01-10")
    assert [period["estimated_usd"] for period in api.get(f"/fleet/budgets/{budget}/history", expect=200).json()] == [8]
    run = report(1, status="pr_opened")
    assert spend(run) == (4, "estimated") and run["price_date"] == "2026-02-01"
    write(path, PRICES)
    process.popen.send_signal(signal.SIGHUP)
    wait_for(lambda: process.log().count("new prices are used") == 3, "the list is read again")


def test_attempts_are_estimated_again_each_by_its_own_day(priced, cluster, report):
    process, _ = priced
    report(1, status="agent_failed", **tokens("changed", started="2026-01-14T23:59:59Z"))
    run = report(1, run_attempt=2, status="pr_opened", **tokens("changed", started="2026-01-15T00:00:00Z"))
    assert spend(run) == (3.3, "estimated")
    reprice(cluster, process, "2026-01-01")
    assert spend(report(1, run_attempt=2, status="pr_opened")) == (3.3, "estimated"), "the list is the same"


def test_a_list_with_a_fault_changes_nothing(priced, api):
    process, path = priced
    before = api.get("/fleet/prices").json()
    path.write_text('{"version": 1')
    process.popen.send_signal(signal.SIGHUP)
    wait_for(lambda: process.metric("expops_prices_refused") == 1, "the fault is seen")
    assert "the prices have a fault, and stay as they were" in process.log()
    assert api.get("/fleet/prices").json() == before
    write(path, PRICES)
    process.popen.send_signal(signal.SIGHUP)
    wait_for(lambda: process.metric("expops_prices_refused") == 0, "it is mended")


FAULTS = [
    ([price("a*b")], "prices[0].model may have * only at its end"),
    ([{**price("m"), "from": "2025-02-30"}], "prices[0].from"),
    ([price("m", since="2025-02-01", until="2025-02-01")], "prices[0] must end after it begins"),
    ([price("m", until="2025-03-01"), price("n"), price("m", since="2025-02-01")], "prices[2] overlaps with prices[0]"),
    ([price("m", output=-1)], "prices[0].usd_per_million.output"),
    ([{**price("m"), "source": "here"}], "prices[0].source"),
]


@pytest.mark.parametrize(("prices", "fault"), FAULTS, ids=[fault for _, fault in FAULTS])
def test_a_process_does_not_start_with_a_fault(cluster, tmp_path, prices, fault):
    path = tmp_path / "prices.json"
    write(path, prices)
    env = cluster.separate("svc-fleet", "faulty", PRICES_FILE=str(path)).env
    done = subprocess.run([cluster.binary("svc-fleet")], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and f"PRICES_FILE: {fault}" in done.stderr, done.stderr


def test_the_list_of_this_version_has_the_providers_of_the_presets():
    prices = json.loads((ROOT / "deploy/prices.json").read_text())["prices"]
    assert {each["provider"] for each in prices} == {"anthropic", "google", "moonshot", "openai", "zai"}
    assert all(each["usd_per_million"]["input"] > 0 and each["source"].startswith("https://") for each in prices)
