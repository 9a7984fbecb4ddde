"""A month of a fleet for the tests of svc-fleet: what its runs report and what becomes of their pull requests, and the report
on it by a second, plain implementation."""

import random
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from statistics import median

REPO = "acme/ranker"
SCOPES = ["fleet:report", "fleet:read"]
PERIOD = "since=2026-01-01&until=2026-01-31"

STATUSES = ["pr_opened"] * 6 + ["issue_opened", "branch_pushed", "skipped_no_candidates", "skipped_old", "failed",
                                "tests_failed", "aborted_budget", "error", "unheard_of"]
KINDS = {"pr_opened": "pull_request", "issue_opened": "issue", "branch_pushed": "branch", "failed": "failed",
         "tests_failed": "failed", "aborted_budget": "failed", "error": "failed", "running": "running",
         "skipped_no_candidates": "skipped", "skipped_old": "skipped", "unheard_of": "other"}


def text(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03}Z"


def now(**shift):
    """As text; `shift` is of timedelta."""
    return text(datetime.now(timezone.utc) + timedelta(**shift))


class Month:
    """Twenty repositories in January 2026. `reports` and `closings` may be sent in any order, and more than once."""

    def __init__(self, seed, repos=20, runs=8):
        self.dice = random.Random(seed)
        self.repos = [f"acme-{seed}/repo-{number}" for number in range(repos)]
        self.reports = []  # (repo, report)
        self.closings = []  # (repo, number, state, opened, closed)
        self.final = {}  # (repo, run_id): what is true of the run in the end
        for repo in self.repos:
            for run_id in range(1, runs + 1):
                self.add_run(repo, run_id)

    def add_run(self, repo, run_id):
        start = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(minutes=self.dice.randrange(31 * 24 * 60 - 600))
        merged = {}
        for attempt in range(self.dice.choice([1, 1, 1, 2])):
            begin = start + timedelta(minutes=200 * attempt)
            merged = self.add_attempt(repo, run_id, begin, merged)
        self.final[repo, run_id] = merged
        if merged.get("artifact_url") and "/pull/" in merged["artifact_url"] and self.dice.random() < 0.6:
            opened = datetime.fromisoformat(merged["finished_at"].replace("Z", "+00:00"))
            closed = opened + timedelta(minutes=self.dice.randrange(1, 4000))
            state = self.dice.choice(["merged", "merged", "closed"])
            self.closings.append((repo, int(merged["artifact_url"].rsplit("/", 1)[1]), state, opened, closed))

    def add_attempt(self, repo, run_id, begin, merged):
        status = self.dice.choice(STATUSES)
        first = {"run_id": run_id, "repo": repo, "status": "running", "started_at": text(begin), "agent": "agent_one"}
        last = {**first, "status": status, "finished_at": text(begin + timedelta(minutes=self.dice.randrange(5, 90))),
                "input_tokens": self.dice.randrange(1000), "output_tokens": self.dice.randrange(1000),
                "test_status": self.dice.choice(["passed", "failed"])}
        if self.dice.random() < 0.8:
            last["cost_usd"] = self.dice.randrange(400) / 100
        if KINDS[status] == "failed":
            last["error"] = self.dice.choice(["tests fail in 17 s", "tests fail in 23 s", "no space"])
        if status in ("pr_opened", "issue_opened"):
            kind = "pull" if status == "pr_opened" else "issues"
            last["artifact_url"] = f"https://github.com/{repo}/{kind}/{run_id}"
        self.reports += [(repo, first), (repo, last)]
        merged = {**merged, **first, **last}
        if KINDS[status] != "failed":
            merged.pop("error", None)
        return merged

    def shuffled(self, items):
        """The items in random order, some twice."""
        chosen = items + self.dice.sample(items, len(items) // 4)
        self.dice.shuffle(chosen)
        return chosen

    # ---- the report, from the final state alone ----

    def kpis(self):
        runs = list(self.final.values())
        kinds = Counter(KINDS[run["status"]] for run in runs)
        costs = [round(run["cost_usd"] * 100) for run in runs if "cost_usd" in run]
        merges = [(closed - opened).total_seconds() / 3600 for _, _, state, opened, closed in self.closings
                  if state == "merged" and text(closed) < "2026-02"]
        return {
            "runs": len(runs), "pull_requests_opened": kinds["pull_request"], "pull_requests_merged": len(merges),
            "merge_rate": len(merges) / kinds["pull_request"], "issues_opened": kinds["issue"],
            "cost_usd": sum(costs) / 100, "runs_with_cost": len(costs),
            "cost_per_dispatched_run": sum(costs) / 100 / len(costs),
            "cost_per_merged_pull_request": sum(costs) / 100 / len(merges),
            "input_tokens": sum(run["input_tokens"] for run in runs),
            "output_tokens": sum(run["output_tokens"] for run in runs),
            "median_hours_to_merge": round(median(merges), 2),
            "failure_rate": kinds["failed"] / len(runs),
        }

    def timelines(self):
        """{repo: [(day, runs, pull requests, merged, failed, cost in cents or None)]}"""
        days = defaultdict(list)
        for (repo, _), run in self.final.items():
            days[repo, run["started_at"][:10]].append(run)
        merges = Counter((repo, text(closed)[:10]) for repo, _, state, _, closed in self.closings
                         if state == "merged" and text(closed) < "2026-02")
        found = defaultdict(list)
        for repo, day in sorted({*days, *merges}):
            runs = days[repo, day]
            kinds = Counter(KINDS[run["status"]] for run in runs)
            costs = [round(run["cost_usd"] * 100) for run in runs if "cost_usd" in run]
            found[repo].append((day, len(runs), kinds["pull_request"], merges[repo, day], kinds["failed"], sum(costs) if costs else None))
        return dict(found)

    def deliverables(self):
        """{url: (kind, stage)} of what was opened."""
        stages = {(repo, number): state for repo, number, state, _, _ in self.closings}
        found = {}
        for (repo, run_id), run in self.final.items():
            url = run.get("artifact_url")
            if url:
                kind = "pull_request" if "/pull/" in url else "issue"
                found[url] = (kind, stages.get((repo, run_id), "open") if kind == "pull_request" else "open")
        return found
