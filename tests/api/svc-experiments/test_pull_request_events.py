"""Events of pull requests: which runs are asked for, and whose state is noted."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.tables import common
from lib.tables.experiments import add_attempt, checks_of_pull_request, lock_attempt, lock_experiment, reconcile, tell_pull_request
from lib.wait import wait_for


@pytest.fixture
def repo():
    return f"acme-{secrets.token_hex(4)}/ranker"


def test_only_the_newest_attempt_is_asked_for(make, db, repo):
    made = make(pr_url=f"https://github.com/{repo}/pull/7")["id"]
    for attempt in (1, 2, 3):
        add_attempt(db, made, attempt, repo, run_id=10 + attempt, is_finished=attempt < 3)
    assert checks_of_pull_request(db, repo, 7, "by-hand") == [(made, 3)]
    unnamed = make()["id"]
    for attempt in (1, 2):
        add_attempt(db, unnamed, attempt, repo, run_id=20 + attempt, is_finished=True)
    assert checks_of_pull_request(db, repo, 8, "expops/run-21") == []
    assert checks_of_pull_request(db, repo, 8, "expops/run-22") == [(unnamed, 2)]


@pytest.mark.parametrize("url, is_asked", [
    ("https://github.com/{repo}/pull/7", True),
    ("https://code.example.com/{repo}/pull/7", True),
    ("https://github.com/{repo}/pull/17", False),
    ("https://github.com/{repo}/issues/7", False),
    ("https://github.com/acme/other/pull/7", False),
    ("https://example.com/{repo}/other/pull/7", False),
])  # fmt: skip
def test_a_pull_request_is_that_of_its_whole_link(make, db, repo, url, is_asked):
    made = make(pr_url=url.format(repo=repo))["id"]
    add_attempt(db, made, 1, repo.upper(), run_id=1)
    assert checks_of_pull_request(db, repo, 7, "expops/run-1") == ([(made, 1)] if is_asked else [])


def test_a_run_that_was_not_dispatched_is_not_asked_for(make, db, repo):
    made = make(pr_url=f"https://github.com/{repo}/pull/7")["id"]
    add_attempt(db, made, 1, repo, is_finished=True)
    assert checks_of_pull_request(db, repo, 7, "by-hand") == []


def test_a_run_without_a_deadline_is_not_late(api, make, db, repo):
    """It has been dispatched, and the process ended before it wrote how long the run is waited for."""
    made = make()["id"]
    add_attempt(db, made, 1, repo, run_id=1)
    reconcile(db, made, 1)
    assert api.get(f"/experiments/{made}", expect=200).json()["pipeline_status"] == "idle"
    reconcile(db, made, 1, "failure")
    assert api.get(f"/experiments/{made}", expect=200).json()["pipeline_status"] == "failed"


def test_the_state_of_another_pull_request_is_not_noted(api, make, db, repo):
    followed, changed = (make(pr_url=f"https://github.com/{name}/pull/7", pr_status="open")["id"] for name in (repo, "acme/other"))
    for made in (followed, changed):
        add_attempt(db, made, 1, repo, run_id=1, pr_number=7)
        add_attempt(db, made, 2, repo, run_id=2, pr_number=7)
    tell_pull_request(db, repo, 7, "by-hand", "merged")
    read = api.get(f"/experiments/{followed}", expect=200).json()
    assert (read["pr_status"], len(read["history"])) == ("merged", 1)
    assert api.get(f"/experiments/{changed}", expect=200).json()["pr_status"] == "open"
    tell_pull_request(db, repo, 7, "by-hand", "closed", at="yesterday")
    assert api.get(f"/experiments/{followed}", expect=200).json()["pr_status"] == "merged"


def test_of_one_second_the_end_is_the_later_unless_it_is_opened_again(api, make, db, repo):
    """However they arrive: their times are whole seconds."""
    made = make(pr_url=f"https://github.com/{repo}/pull/7", pr_status="open")["id"]
    add_attempt(db, made, 1, repo, run_id=1, pr_number=7)
    for state, is_reopened, becomes in [("closed", False, "closed"), ("open", False, "closed"), ("open", True, "open"), ("closed", False, "closed")]:
        tell_pull_request(db, repo, 7, "by-hand", state, at="2026-01-03T09:00:00Z", is_reopened=is_reopened)
        assert api.get(f"/experiments/{made}", expect=200).json()["pr_status"] == becomes
    tell_pull_request(db, repo, 7, "by-hand", "open", at="2026-01-03T09:00:01Z")
    assert api.get(f"/experiments/{made}", expect=200).json()["pr_status"] == "open"


def test_an_event_waits_for_an_experiment_without_its_run(cluster, make, db, repo):
    """Who has the experiment gets its run as well: locks are taken in one order."""
    made = make(pr_url=f"https://github.com/{repo}/pull/7", pr_status="open")["id"]
    add_attempt(db, made, 1, repo, run_id=1, pr_number=7)
    with cluster.postgres.connect("experiments") as holder, cluster.postgres.connect("experiments") as told, ThreadPoolExecutor() as pool:
        with holder.transaction():
            lock_experiment(holder, made)
            event = pool.submit(tell_pull_request, told, repo, 7, "by-hand", "merged")
            wait_for(lambda: common.blocked_by(db, holder), "the event waits")
            lock_attempt(holder, made, 1)
        event.result()


def test_an_answer_from_before_a_merge_does_not_undo_it(api, make, db, repo):
    """The code host was asked, the pull request was merged, and the event of that came before the answer was applied."""
    link = f"https://github.com/{repo}/pull/7"
    made = make(pr_url=link, pr_status="open")["id"]
    add_attempt(db, made, 1, repo, run_id=1, pr_number=7)
    tell_pull_request(db, repo, 7, "by-hand", "merged")
    pull = {"number": 7, "html_url": link, "head": "by-hand", "state": "open", "merged": False, "updated_at": "2026-01-01T00:00:00Z"}
    reconcile(db, made, 1, "success", pull)
    read = api.get(f"/experiments/{made}", expect=200).json()
    assert (read["pr_status"], read["pipeline_status"], read["branch_name"]) == ("merged", "completed", "by-hand")
    tell_pull_request(db, repo, 7, "by-hand", "closed", at="2026-01-02T00:00:00Z")
    assert api.get(f"/experiments/{made}", expect=200).json()["pr_status"] == "merged"
    reconcile(db, made, 1, "success", {**pull, "number": 8, "html_url": f"https://github.com/{repo}/pull/8"})
    assert api.get(f"/experiments/{made}", expect=200).json()["pr_status"] == "open"
