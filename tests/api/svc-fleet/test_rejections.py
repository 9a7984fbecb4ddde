"""What the papers that runs passed over came to elsewhere, by gate, beside those that they chose."""

import random
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
        self.tell(repo, number, state, closed)
        return url

    def tell(self, repo, number, state, days, account=None):
        """What the code host tells of a pull request of an account's repository, as it was so many days ago."""
        at = datetime.now(timezone.utc) - timedelta(days=days)
        with self.cluster.postgres.connect("fleet") as db:
            fleet_tables.own_repository(db, account or self.user.account, repo)
            fleet_tables.tell_item(db, repo, "pull_request", number, state, at - timedelta(days=1), at)

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
    paper, drafted = new_paper(), new_paper()
    steps.refuse(paper, drafted, reason="License is GPL")
    assert steps.figures()[1]["license"]["tried_elsewhere"] == 0
    body = {"name": "E", "source_type": "arxiv_paper"}
    steps.api.post("/experiments", {**body, "source_ref": drafted, "status": "draft"}, expect=201)
    experiment = steps.api.post("/experiments", {**body, "source_ref": paper, "status": "running"}, expect=201).json()["id"]
    wait_for(lambda: steps.figures()[1]["license"]["pending"] == 1, "the experiment is heard of")
    assert steps.figures()[1]["license"]["tried_elsewhere"] == 1
    steps.api.put(f"/experiments/{experiment}", {"outcome": "ship"}, expect=200)
    wait_for(lambda: steps.figures()[1]["license"]["worked"] == 1, "the decision is heard of")
    assert [row["experiment_id"] for row in steps.figures()[0]["succeeded"]] == [experiment]
    steps.api.delete(f"/experiments/{experiment}", expect=200)
    wait_for(lambda: steps.figures()[1]["license"]["worked"] == 0, "the deletion is heard of")


def test_the_code_host_tells_what_became_of_the_pull_request_of_an_experiment(steps, other_user, cluster):
    """Of one that a run opened for another paper, and of anybody's in a repository of the account's. What a person decided counts before."""
    paper, theirs = new_paper(), new_paper()
    steps.refuse(paper, theirs, reason="License is GPL")
    own = steps.merge(new_paper())
    body = {"name": "E", "source_type": "arxiv_paper", "status": "running"}
    experiment = steps.api.post("/experiments", {**body, "source_ref": paper, "pr_url": own}, expect=201).json()["id"]
    wait_for(lambda: steps.figures()[1]["license"]["worked"] == 1, "the merge of the run counts")
    elsewhere = f"acme/{secrets.token_hex(4)}"
    steps.api.post("/experiments", {**body, "source_ref": theirs, "pr_url": f"https://github.com/{elsewhere}/pull/1"}, expect=201)
    steps.tell(elsewhere, 1, "merged", days=40, account=other_user.account)
    wait_for(lambda: steps.figures()[1]["license"]["tried_elsewhere"] == 2, "a merge in a repository of others does not count")
    assert steps.figures()[1]["license"]["worked"] == 1

    steps.tell(steps.other, 900, "merged", days=40)
    pulls = f"https://github.com/{steps.other}/pull"
    steps.api.put(f"/experiments/{experiment}", {"pr_url": f"{pulls}/900/files", "pr_status": "closed"}, expect=200)
    steps.tell(steps.other, 901, "open", days=1)
    assert steps.figures()[1]["license"]["worked"] == 1
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.revert_item(db, steps.other, 900, datetime.now(timezone.utc), by=901)
    wait_for(lambda: steps.figures()[1]["license"]["failed"] == 1, "the revert counts")
    steps.api.put(f"/experiments/{experiment}", {"pr_url": f"{pulls}/901"}, expect=200)
    wait_for(lambda: steps.figures()[1]["license"]["pending"] == 2, "an open one is pending, whatever was typed")
    steps.api.put(f"/experiments/{experiment}", {"outcome": "ship"}, expect=200)
    wait_for(lambda: steps.figures()[1]["license"]["worked"] == 1, "the decision counts")


def test_what_an_experiment_says_of_its_pull_request_counts_from_when_it_said_so(steps, cluster):
    paper = new_paper()
    steps.refuse(paper, reason="License is GPL")
    pull = {"pr_url": "https://github.com/acme/unknown/pull/1", "pr_status": "Merged"}
    body = {"name": "E", "source_type": "arxiv_paper", "source_ref": paper, "status": "running", **pull}
    experiment = steps.api.post("/experiments", body, expect=201).json()["id"]
    wait_for(lambda: steps.figures()[1]["license"]["pending"] == 1, "the experiment is heard of")
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.age_experiment(db, experiment, days=31)
    assert steps.figures()[1]["license"]["worked"] == 1
    steps.api.put(f"/experiments/{experiment}", {"tags": ["later"]}, expect=200)
    with cluster.postgres.connect("fleet") as db:
        wait_for(lambda: fleet_tables.heard_of_experiment(db, experiment, days=1), "the change is heard of")
    assert steps.figures()[1]["license"]["worked"] == 1


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


# ---- Against a slow count ----


class Year:
    """Runs of a year on twelve papers, by a seed: what each chose, what it passed over and at which gate, and what became of it, told in an
    order of its own."""

    def __init__(self, cluster, user, seed):
        draw = random.Random(seed)
        self.now, self.account = datetime.now(timezone.utc), user.account
        self.repos = [f"acme/{secrets.token_hex(4)}" for _ in range(3)]
        self.papers = [f"25{draw.randrange(1, 13):02}.{10000 * seed + n:05}" for n in range(12)]
        self.runs = [self.draw(draw, number) for number in range(1, 121)]
        with cluster.postgres.connect("fleet") as db:
            for repo in self.repos:
                fleet_tables.own_repository(db, self.account, repo)
            fleet_tables.store_together(db, [self.report(run) for run in draw.sample(self.runs, len(self.runs))])
            for run in draw.sample(self.runs, len(self.runs)):
                self.settle(db, run)

    def draw(self, draw, number):
        papers = draw.sample(self.papers, 4)
        run = {"number": number, "days": draw.randrange(1, 380), "repo": draw.choice(self.repos), "paper": draw.choice([None, papers[0]]),
               "refused": {paper: draw.choice(["license", "risk", "scope"]) for paper in papers[1 : draw.randrange(1, 5)]}}  # fmt: skip
        run["stage"] = draw.choice([None, "open", "closed", "merged", "merged"]) if run["paper"] else None
        run["closed"] = draw.randrange(0, run["days"])
        run["is_reverted"] = run["stage"] == "merged" and draw.random() < 0.3
        run["at"] = self.at(run["days"]) + timedelta(seconds=number)
        return run

    def at(self, days):
        return self.now - timedelta(days=days, hours=1)

    def report(self, run):
        report = {"status": "pr_opened" if run["stage"] else "skipped_old", "started_at": run["at"].isoformat()}
        report |= {"arxiv_id": run["paper"]} if run["paper"] else {}
        report |= {"artifact_url": f"https://github.com/{run['repo']}/pull/{run['number']}"} if run["stage"] else {}
        refused = [{"arxiv_id": paper, "reason": "it is so", "gate": gate} for paper, gate in run["refused"].items()]
        return {"account": self.account, "repo": run["repo"], "run_id": run["number"], "report": report, "detail": {"selection_rejected": refused}}

    def settle(self, db, run):
        if run["stage"] in ("closed", "merged"):
            fleet_tables.tell_item(db, run["repo"], "pull_request", run["number"], run["stage"], run["at"], self.at(run["closed"]))
        if run["is_reverted"]:
            fleet_tables.revert_item(db, run["repo"], run["number"], self.at(run["closed"]))

    @staticmethod
    def verdict(run):
        if run["stage"] == "closed" or run["is_reverted"]:
            return "failed"
        return "worked" if run["stage"] == "merged" and run["closed"] >= 30 else "pending"

    def count(self, trials):
        """What became of a paper, by the runs on it."""
        verdicts = {self.verdict(run) for run in trials}
        return "worked" if "worked" in verdicts else "failed" if "failed" in verdicts else "pending" if trials else None

    def gate(self, name):
        refusals = sorted(((run["at"], paper, run) for run in self.runs for paper, gate in run["refused"].items() if gate == name),
                          key=lambda row: row[0])  # fmt: skip
        first = {}
        for _, paper, run in refusals:
            first.setdefault(paper, run)
        found = [self.count([trial for trial in self.runs if trial["paper"] == paper and (trial["at"] > run["at"] or trial["repo"] != run["repo"])])
                 for paper, run in first.items()]  # fmt: skip
        return {"rejections": len(refusals), "papers": len(first), "tried_elsewhere": sum(one is not None for one in found),
                "worked": found.count("worked"), "failed": found.count("failed"), "pending": found.count("pending")}  # fmt: skip

    def accepted(self):
        chosen = {run["paper"] for run in self.runs if run["paper"]}
        found = [self.count([trial for trial in self.runs if trial["paper"] == paper]) for paper in chosen]
        return {"papers": len(chosen), "worked": found.count("worked"), "failed": found.count("failed"), "pending": found.count("pending")}


@pytest.mark.parametrize("seed", range(3))
def test_the_figures_are_those_of_a_slow_count(cluster, user, seed):
    year = Year(cluster, user, seed)
    since = str((year.now - timedelta(days=390)).date())
    answer = user.api.get("/fleet/outcomes/rejections", params={"since": since}, expect=200).json()
    gates = {row.pop("gate"): row for row in answer["gates"]}
    for row in [*gates.values(), answer["accepted"]]:
        share = next(row.pop(name) for name in ("regret", "success") if name in row)
        judged = row["worked"] + row["failed"]
        assert (share is None) is (judged < 5) and (share is None or (share["n"], share["of"]) == (row["worked"], judged))
    assert gates == {name: year.gate(name) for name in ("license", "risk", "scope")} and answer["accepted"] == year.accepted()
    found = [user.api.get("/fleet/outcomes/rejections", params={"since": since, "repo": repo}, expect=200).json()["gates"] for repo in year.repos]
    assert sum(row["rejections"] for rows in found for row in rows) == sum(row["rejections"] for row in gates.values())
