"""What an account does with a paper, from its recommendation to the decision of an experiment, and the graph that shows it."""

import hashlib
import json
import secrets
from datetime import datetime, timedelta, timezone

from lib.tables import fleet as fleet_tables
from lib.tables import interests as interests_tables

PLAN = {"arms": [{"key": "control", "control": True}, {"key": "new"}], "metrics": [{"key": "ndcg", "kind": "proportion", "role": "primary"}]}
SUMS = {"metrics": [{"key": "ndcg", "arms": [{"arm": "control", "n": 1000, "successes": 300}, {"arm": "new", "n": 1000, "successes": 400}]}]}


def new_paper():
    return f"2{secrets.randbelow(100):02}{1 + secrets.randbelow(9)}.{secrets.randbelow(100000):05}"


class Steps:
    """What an account does with a paper."""

    def __init__(self, cluster, user, papers):
        self.cluster, self.user, self.api, self.papers = cluster, user, user.api, papers
        self.repo = f"acme/repo-{secrets.token_hex(4)}"
        self.agents = {}

    def interest(self, **body):
        made = self.api.post("/interests", {"name": f"I {secrets.token_hex(4)}", "context": "Ranking.", "is_active": False, **body}, expect=201)
        return made.json()["id"]

    def recommend(self, paper, interest=None):
        with self.cluster.postgres.connect("interests") as db:
            return interests_tables.add_recommendation(db, interest or self.interest(), paper)

    def agent(self, repo):
        if repo not in self.agents:
            body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": repo}
            self.agents[repo] = self.api.as_key(self.api.post("/account/api-keys", body, expect=201).json()["key"])
        return self.agents[repo]

    def report(self, run_id, repo=None, **members):
        repo = repo or self.repo
        self.agent(repo).post("/fleet/runs", {"run_id": run_id, "repo": repo, "status": "skipped_old", **members}, expect=201)

    def open(self, number, paper, **members):
        """A run on the paper that opens a pull request. Returns the address."""
        url = f"https://github.com/{self.repo}/pull/{number}"
        self.report(number, arxiv_id=paper, status="pr_opened", artifact_url=url, **members)
        return url

    def settle(self, number, state, days=0):
        """The code host tells what became of a pull request, so many days ago."""
        self.settle_in(self.repo, number, state, days)

    def settle_in(self, repo, number, state, days=0):
        at = datetime.now(timezone.utc) - timedelta(days=days)
        with self.cluster.postgres.connect("fleet") as db:
            fleet_tables.own_repository(db, self.user.account, repo)
            fleet_tables.tell_item(db, repo, "pull_request", number, state, at - timedelta(days=1), at)

    def revert(self, number, by, days=0):
        """The code host tells that a merged pull request was reverted by another one, so many days ago."""
        at = datetime.now(timezone.utc) - timedelta(days=days)
        with self.cluster.postgres.connect("fleet") as db:
            fleet_tables.revert_item(db, self.repo, number, at, by)

    def experiment(self, paper, **members):
        context = {"resource": {"arxiv_id": paper}, "target_repo": self.repo}
        body = {"name": f"E {secrets.token_hex(4)}", "launch_context": context, "status": "running", **members}
        return self.api.post("/experiments", body, expect=201).json()["id"]

    def decide(self, experiment, decision="It ranks better."):
        self.api.put(f"/experiments/{experiment}", {"ab_test_config": PLAN}, expect=200)
        self.api.post(f"/experiments/{experiment}/results", SUMS, expect=201)
        self.api.put(f"/experiments/{experiment}", {"outcome": "ship", "decision": decision, "status": "shipped"}, expect=200)

    def evidence(self, experiment, api=None, **query):
        return Graph((api or self.api).get(f"/experiments/{experiment}/evidence", params=query, expect=200).json())

    def evidence_if(self, experiment, missing):
        """Each worker leaves a service that failed alone for a while, so it is not at once that only this is missing."""
        graph = self.evidence(experiment)
        return graph if graph.missing == missing else None

    def outcomes(self, paper, api=None):
        return (api or self.api).get(f"/search/assets/{paper}/outcomes", expect=200).json()

    def key(self, scopes, **limits):
        body = {"name": "reader", "kind": "automation", "scopes": scopes, **limits}
        return self.api.as_key(self.api.post("/account/api-keys", body, expect=201).json()["key"])


def canonical(value):
    """The canonical form of JSON (RFC 8785) of what these graphs have: names in ASCII, and numbers that Python writes as ECMAScript does."""
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def digest_of(answer):
    return hashlib.sha256(canonical({name: answer[name] for name in ("root", "nodes", "edges")}).encode()).hexdigest()


class Graph:
    def __init__(self, answer):
        self.answer, self.summary, self.missing = answer, answer["summary"], answer["missing"]
        self.nodes = {node["id"]: node for node in answer["nodes"]}
        assert len(self.nodes) == len(answer["nodes"])
        self.edges = {(edge["from"], edge["kind"], edge["to"]): edge for edge in answer["edges"]}
        assert all(end in self.nodes for edge in answer["edges"] for end in (edge["from"], edge["to"]))

    def of(self, kind):
        return [node for node in self.nodes.values() if node["kind"] == kind]

    def one(self, kind):
        (node,) = self.of(kind)
        return node

    def is_connected(self):
        reached, waiting = set(), {self.answer["root"]}
        while waiting:
            reached |= waiting
            waiting = {end for start, _, to in self.edges for end in (start, to) if {start, to} & reached} - reached
        return reached == set(self.nodes)
