"""What the papers that runs passed over came to elsewhere, by gate, beside those that they chose."""

import secrets
from datetime import datetime, timedelta, timezone

import pytest

from lib.tables import fleet as fleet_tables
from lib.wait import wait_for


def new_paper():
    return f"2{secrets.randbelow(100):02}{1 + secrets.randbelow(9)}.{secrets.randbelow(100000):05}"


class Steps:
    def __init__(self, cluster, user):
        self.cluster, self.user, self.api = cluster, user, user.api
        self.repo, self.other = (f"acme/{secrets.token_hex(4)}" for _ in range(2))
        self.agents = {}
        self.number = 0

    def report(self, repo=None, days=10, **members):
        repo = repo or self.repo
        if repo not in self.agents:
            body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": repo}
            self.agents[repo] = self.api.as_key(self.api.post("/account/api-keys", body, expect=201).json()["key"])
        self.number += 1
        started = (datetime.now(timezone.utc) - timedelta(days=days)).isoformat()
        body = {"run_id": self.number, "repo": repo, "status": "skipped_old", "started_at": started, **members}
        self.agents[repo].post("/fleet/runs", body, expect=201)
        return self.number

    def refuse(self, *papers, reason="needs a GPU", **members):
        return self.report(selection_rejected=[{"arxiv_id": paper, "reason": reason} for paper in papers], **members)

    def merge(self, paper, state="merged", closed=40, repo=None, **members):
        """A run on the paper whose pull request was closed so many days ago."""
        repo = repo or self.other
        url = f"https://github.com/{repo}/pull/{self.number + 1}"
        number = self.report(repo=repo, arxiv_id=paper, status="pr_opened", artifact_url=url, **members)
        at = datetime.now(timezone.utc) - timedelta(days=closed)
        with self.cluster.postgres.connect("fleet") as db:
            fleet_tables.own_repository(db, self.user.account, repo)
            fleet_tables.tell_item(db, repo, "pull_request", number, state, at - timedelta(days=1), at)
        return url

    def figures(self, api=None, **query):
        answer = (api or self.api).get("/fleet/outcomes/rejections", params=query, expect=200).json()
        return answer, {row.pop("gate"): row for row in answer["gates"]}


@pytest.fixture
def steps(cluster, user):
    return Steps(cluster, user)


def test_a_gate_has_the_papers_that_worked_elsewhere(steps):
    worked, failed, pending, untried, before = (new_paper() for _ in range(5))
    steps.merge(before, repo=steps.repo, days=60)
    number = steps.refuse(worked, failed, pending, untried, before)
    steps.refuse(worked, days=9)
    url = steps.merge(worked)
    steps.merge(failed, "closed")
    steps.merge(pending, "merged", closed=3)
    answer, gates = steps.figures()
    assert gates == {"feasibility": {"rejections": 6, "papers": 5, "tried_elsewhere": 3, "worked": 1, "failed": 1, "pending": 1, "regret": None}}
    (mistake,) = answer["succeeded"]
    assert (mistake["arxiv_id"], mistake["gate"], mistake["reason"], mistake["run_id"]) == (worked, "feasibility", "needs a GPU", number)
    assert (mistake["url"], mistake["in_repo"], mistake["experiment_id"]) == (url, steps.other, None)
    assert answer["accepted"] == {"papers": 4, "worked": 2, "failed": 1, "pending": 1, "success": None}


def test_an_experiment_that_was_shipped_makes_a_rejection_a_mistake(steps):
    paper = new_paper()
    steps.refuse(paper, reason="License is GPL")
    assert steps.figures()[1]["license"]["tried_elsewhere"] == 0
    body = {"name": "E", "source_type": "arxiv_paper", "source_ref": paper, "status": "running"}
    experiment = steps.api.post("/experiments", body, expect=201).json()["id"]
    wait_for(lambda: steps.figures()[1]["license"]["pending"] == 1, "the experiment is heard of")
    steps.api.put(f"/experiments/{experiment}", {"outcome": "ship"}, expect=200)
    wait_for(lambda: steps.figures()[1]["license"]["worked"] == 1, "the decision is heard of")
    assert [row["experiment_id"] for row in steps.figures()[0]["succeeded"]] == [experiment]
    steps.api.delete(f"/experiments/{experiment}", expect=200)
    wait_for(lambda: steps.figures()[1]["license"]["worked"] == 0, "the deletion is heard of")


def test_a_share_of_five_has_its_interval(steps):
    papers = [new_paper() for _ in range(6)]
    steps.refuse(*papers, reason="too broad")
    for paper in papers[:2]:
        steps.merge(paper)
    for paper in papers[2:]:
        steps.merge(paper, "closed")
    answer, gates = steps.figures()
    # statsmodels 0.14: proportion_confint(2, 6, method="wilson")
    expected = {"n": 2, "of": 6, "share": 0.3333, "low": 0.0968, "high": 0.7}
    assert gates["scope"]["regret"] == pytest.approx(expected, abs=1e-3) == answer["accepted"]["success"]


def test_filters_and_bounds(steps, other_user, cluster):
    broad, licensed = new_paper(), new_paper()
    steps.refuse(broad, reason="too broad")
    steps.refuse(licensed, reason="x", repo=steps.other)
    agent = steps.agents[steps.repo]
    agent.post("/fleet/runs", {"run_id": "said", "repo": steps.repo, "selection_rejected": [{"arxiv_id": new_paper(), "reason": "GPL", "gate": "risk"}]}, expect=201)
    assert set(steps.figures()[1]) == {"scope", "other", "risk"}
    assert set(steps.figures(repo=steps.repo)[1]) == {"scope", "risk"} and set(steps.figures(gate="other")[1]) == {"other"}
    day = str((datetime.now(timezone.utc) - timedelta(days=20)).date())
    assert steps.figures(until=day)[1] == {}
    assert Steps(cluster, other_user).figures()[1] == {}
    for query in ("gate=wrong", "since=2026-02-01&until=2026-01-31", "since=2020-01-01", "repo=x%00"):
        steps.api.problem("GET", f"/fleet/outcomes/rejections?{query}", 400, "invalid_request")
    body = {"name": "reader", "kind": "automation", "scopes": ["fleet:read"], "repo": steps.other}
    limited = steps.api.as_key(steps.api.post("/account/api-keys", body, expect=201).json()["key"])
    steps.merge(licensed, repo=steps.repo)
    assert steps.figures()[1]["other"]["worked"] == 1
    answer, gates = steps.figures(limited)
    assert set(gates) == {"other"} and gates["other"]["tried_elsewhere"] == 0 and answer["succeeded"] == []
    limited.problem("GET", f"/fleet/outcomes/rejections?repo={steps.repo}", 403, "forbidden")
