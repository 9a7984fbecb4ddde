"""What runs cost beside what came of them, against a slow count."""

import random
import secrets
from datetime import datetime, timedelta, timezone

import pytest

from lib.tables import fleet as fleet_tables

COUNTS = ["runs", "runs_with_cost", "pull_requests", "merged", "reverted", "kept", "pending"]
SUMS = ["cost_usd", "estimated_usd", "failed_cost_usd"]


def costs(api, **query):
    return api.get("/fleet/outcomes/costs", params=query, expect=200).json()


def near(value):
    return None if value is None else pytest.approx(value, abs=1e-5)


class Year:
    """Runs of a year, by a seed: some fail, some tell no cost, some open pull requests, of which some are merged and some reverted."""

    def __init__(self, cluster, user, seed):
        self.now, self.repos = datetime.now(timezone.utc), [f"acme/{secrets.token_hex(4)}" for _ in range(3)]
        self.account, draw = user.account, random.Random(seed)
        self.runs = [self.draw(draw, number) for number in range(1, 121)]
        with cluster.postgres.connect("fleet") as db:
            for repo in self.repos:
                fleet_tables.own_repository(db, self.account, repo)
            fleet_tables.store_together(db, [self.report(run) for run in self.runs])
            for run in draw.sample(self.runs, len(self.runs)):
                self.settle(db, run)

    def draw(self, draw, number):
        run = {"number": number, "days": draw.randrange(1, 380), "repo": draw.choice(self.repos), "agent": draw.choice(["agent_one", "agent_two"]),
               "interest": draw.choice([None, "i-1", "i-2"]), "usd": draw.choice([None, round(draw.uniform(0, 9), 4)]),
               "status": draw.choice(["pr_opened", "pr_opened", "failed", "skipped_old"])}  # fmt: skip
        is_open = run["status"] == "pr_opened"
        run["stage"] = draw.choice(["open", "closed", "merged", "merged", "merged"]) if is_open else None
        run["closed"] = draw.randrange(0, run["days"])
        run["is_reverted"] = run["stage"] == "merged" and draw.random() < 0.3
        return run

    def at(self, days):
        return self.now - timedelta(days=days, hours=1)

    def report(self, run):
        report = {"status": run["status"], "agent": run["agent"], "started_at": self.at(run["days"]).isoformat(), "model": "m-1"}
        report |= {"interest_id": run["interest"]} if run["interest"] else {}
        report |= {"cost_usd": run["usd"]} if run["usd"] is not None else {}
        report |= {"artifact_url": f"https://github.com/{run['repo']}/pull/{run['number']}"} if run["stage"] else {}
        return {"account": self.account, "repo": run["repo"], "run_id": run["number"], "report": report}

    def settle(self, db, run):
        if run["stage"] in ("closed", "merged"):
            fleet_tables.tell_item(db, run["repo"], "pull_request", run["number"], run["stage"], self.at(run["days"]), self.at(run["closed"]))
        if run["is_reverted"]:
            fleet_tables.revert_item(db, run["repo"], run["number"], self.at(run["closed"]))

    def figures(self, runs):
        known = [run for run in runs if run["usd"] is not None]
        merged = [run for run in runs if run["stage"] == "merged"]
        kept = [run for run in merged if run["closed"] >= 30 and not run["is_reverted"] and run["days"] >= 30]
        usd, settled = self.sum(known), self.sum([run for run in known if run["days"] >= 30])
        return {
            "runs": len(runs), "runs_with_cost": len(known), "cost_usd": near(usd), "estimated_usd": None,
            "failed_cost_usd": near(self.sum([run for run in known if run["status"] == "failed"])),
            "pull_requests": sum(run["stage"] is not None for run in runs), "merged": len(merged),
            "reverted": sum(run["is_reverted"] for run in runs), "kept": len(kept), "pending": sum(run["days"] < 30 for run in runs),
            "cost_per_merged": near(usd / len(merged)) if merged and usd is not None else None,
            "cost_per_kept": near(settled / len(kept)) if kept and settled is not None else None,
        }  # fmt: skip

    @staticmethod
    def sum(runs):
        return sum(run["usd"] for run in runs) if runs else None


NAMES = {
    "repo": lambda year, run: run["repo"], "agent": lambda year, run: run["agent"], "interest": lambda year, run: run["interest"],
    "model": lambda year, run: "m-1", "month": lambda year, run: year.at(run["days"]).strftime("%Y-%m"),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_figures_are_those_of_a_slow_count(cluster, user, seed):
    year = Year(cluster, user, seed)
    for group_by, name_of in NAMES.items():
        answer = costs(user.api, group_by=group_by, since=str((year.now - timedelta(days=390)).date()))
        names = {name_of(year, run) for run in year.runs}
        groups = {row.pop("group"): row for row in answer["groups"]}
        assert groups == {name: year.figures([run for run in year.runs if name_of(year, run) == name]) for name in names}
        assert answer["total"] == year.figures(year.runs) and not answer["truncated"]
        assert all(sum(row[name] for row in groups.values()) == answer["total"][name] for name in COUNTS)
        assert all(sum(row[name] or 0 for row in groups.values()) == near(answer["total"][name] or 0) for name in SUMS)


def test_a_period_has_the_runs_that_started_in_it(cluster, user):
    year = Year(cluster, user, 7)
    since, until = (year.now - timedelta(days=days) for days in (200, 100))
    chosen = [run for run in year.runs if since.date() <= year.at(run["days"]).date() <= until.date()]
    assert costs(user.api, since=str(since.date()), until=str(until.date()))["total"] == year.figures(chosen)


def test_what_is_estimated_is_said(user, agent):
    repo = f"acme/{secrets.token_hex(4)}"
    tokens = {"provider": "anthropic", "model": "claude-sonnet-4-5", "input_tokens": 1_000_000, "output_tokens": 0}
    key = agent(repo, of=user.api)
    key.post("/fleet/runs", {"run_id": 1, "repo": repo, "status": "failed", **tokens}, expect=201)
    key.post("/fleet/runs", {"run_id": 2, "repo": repo, "status": "failed", "cost_usd": 2}, expect=201)
    total = costs(user.api)["total"]
    assert (total["runs_with_cost"], total["cost_usd"], total["estimated_usd"], total["failed_cost_usd"]) == (2, 5, 3, 5)
    assert (total["cost_per_merged"], total["cost_per_kept"]) == (None, None)


def test_keys_and_accounts(user, other_user, agent):
    repo, other = (f"acme/{secrets.token_hex(4)}" for _ in range(2))
    for name in (repo, other):
        agent(name, of=user.api).post("/fleet/runs", {"run_id": 1, "repo": name, "status": "failed"}, expect=201)
    body = {"name": "reader", "kind": "automation", "scopes": ["fleet:read"], "repo": repo}
    limited = user.api.as_key(user.api.post("/account/api-keys", body, expect=201).json()["key"])
    assert [row["group"] for row in costs(limited)["groups"]] == [repo] and costs(limited)["total"]["runs"] == 1
    empty = costs(other_user.api)
    assert empty["groups"] == [] and empty["total"]["runs"] == 0 and empty["total"]["cost_usd"] is None
    user.api.problem("GET", "/fleet/outcomes/costs?group_by=moon", 400, "invalid_request")
    user.api.problem("GET", "/fleet/outcomes/costs?since=2020-01-01&until=2026-01-01", 400, "invalid_request")
