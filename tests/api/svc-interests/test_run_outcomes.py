"""What becomes of pull requests that agents opened teaches the preference model: telemetry and webhooks, through all services."""

import uuid

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.wait import wait_for
from lib.outside.webhooks import Hook, pull_request
from lib.tables import interests as interests_tables


@pytest.fixture
def repo():
    return f"acme/repo-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def report(api, other_user, repo):
    """report(number, **members): a run that opened the pull request `number`."""
    clients = {}

    def client_of(of):
        body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": repo}
        return of.as_key(of.post("/account/api-keys", body, expect=201).json()["key"])

    def send(number, of=api, **members):
        client = clients.setdefault(of, client_of(of))
        url = f"https://github.com/{repo}/pull/{number}"
        client.post("/fleet/runs", {"run_id": number, "repo": repo, "status": "pr_opened", "artifact_url": url, **members}, expect=201)

    return send


@pytest.fixture
def owned(cluster, account, repo):
    """The account owns the repository: an agent was provisioned there."""
    body = {"repo": repo, "agent": "agent_one", "key_id": str(uuid.uuid4())}
    url = cluster.url("svc-fleet") + "/internal/fleet/installations"
    answer = plain_http.post(url, json=body, auth=identity(cluster, "svc-fleet", "service", account=account))
    assert answer.status_code == 200, answer.text


@pytest.fixture
def settle(cluster, repo):
    """settle(number, merged): the code host tells that a pull request was closed."""
    hook = Hook(cluster)

    def send(number, merged, action="closed", at="2026-01-31T09:30:00Z"):
        state = "closed" if action == "closed" else "open"
        payload = pull_request(repo, number, action, at, merged=merged, state=state)
        hook.deliver("pull_request", payload)

    return send


def signals(db, interest):
    rows = interests_tables.signals_of(db, interest["id"])
    db.rollback()
    return set(rows)


def test_merged_and_closed_pull_requests_are_examples(interests, db, report, settle, owned):
    interest = interests.ready()
    interests.refresh(interest, num_results=6)
    papers = interests.recommended(interest)
    for number, paper in enumerate(papers[:5]):
        by_paper = {"interest_id": interest["id"], "arxiv_id": paper["resource_id"] + "v1"}
        named = by_paper if number % 2 else {"recommendation_id": paper["recommendation_id"]}
        report(number + 1, **named)
        settle(number + 1, merged=number < 3)
    expected = {(paper["resource_id"], "merged" if number < 3 else "closed") for number, paper in enumerate(papers[:5])}
    wait_for(lambda: signals(db, interest) == expected, f"the signals are {expected}")
    result = interests.refit(interest)["result"]
    assert (result["examples"], result["positives"]) == (5, 3)
    settle(5, merged=False, action="reopened", at="2026-02-01T09:30:00Z")
    wait_for(lambda: len(signals(db, interest)) == 4, "a reopened pull request is no example")


def test_runs_of_another_account_teach_nothing(interests, db, other_user, report, settle, owned):
    interest = interests.ready()
    interests.refresh(interest, num_results=2)
    first, second = interests.recommended(interest)
    for number, paper in ((1, first), (2, second)):
        named = {"recommendation_id": paper["recommendation_id"], "interest_id": interest["id"], "arxiv_id": paper["resource_id"]}
        report(number, of=other_user.api if number == 1 else interests.api, **named)
        settle(number, merged=True)
    wait_for(lambda: (second["resource_id"], "merged") in signals(db, interest))
    assert signals(db, interest) == {(second["resource_id"], "merged")}


def test_a_run_for_one_interest_teaches_no_other(interests, db, report, settle, owned):
    """A key that is limited to an interest names any recommendation, and never another interest."""
    interest, other = interests.ready(), interests.ready()
    interests.refresh(interest, num_results=2)
    first, second = interests.recommended(interest)
    for number, paper, of in ((1, first, other), (2, second, interest)):
        report(number, recommendation_id=paper["recommendation_id"], interest_id=of["id"])
        settle(number, merged=True)
    wait_for(lambda: (second["resource_id"], "merged") in signals(db, interest))
    assert signals(db, interest) == {(second["resource_id"], "merged")}
    assert signals(db, other) == set()


@pytest.mark.parametrize("written", ["0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b", "not a recommendation", ""])
def test_a_run_may_name_anything_as_its_recommendation(interests, db, repo, report, settle, owned, written):
    report(1, recommendation_id=written, arxiv_id="no paper")
    settle(1, merged=True)
    wait_for(lambda: interests_tables.run_stages(db, f"https://github.com/{repo}/pull/1") == ["merged"], "the outcome is stored")
