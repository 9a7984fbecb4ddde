"""What a client knows of the money of its account's runs. Each run asks before it begins, and reports its end and cost; either answer can
be lost. At the end every run has ended, so nothing may be reserved any more, and what is spent is the sum of the costs."""

import secrets

from lib.wait import wait_for

REPO = "acme/ranker"
BUDGET = {"scope": "account", "period": "month", "usd": 1_000_000, "action": "stop"}
OPEN_MAX = 5  # runs at once: more than ten are refused
PAIR = {"agent": "agent_three", "provider": "openai"}


class BudgetLedger:
    """Of one kill.Client."""

    def __init__(self, client):
        self.client = client
        self.key = None  # of the agent
        self.open, self.ended = [], {}  # runs that may have reserved; {run: USD} of those whose end was accepted

    def step(self):
        """A run begins or ends, or the budget is changed."""
        if self.key is None:
            self.begin()
        elif self.client.choice.random() < 0.1:
            self.change_budget()
        elif len(self.open) < OPEN_MAX and self.client.choice.random() < 0.6:
            self.admit()
        elif self.open:
            self.report(self.client.choice.choice(self.open))

    def begin(self):
        made = self.client.repeat("PUT", "/fleet/budgets", BUDGET)
        if made is None or not self.client.expect(made, 200):
            return
        agent = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": REPO}
        made = self.client.create_once("/account/api-keys", agent)
        self.key = made and made.json()["key"]

    def change_budget(self):
        body = {**BUDGET, "usd": self.client.choice.randrange(500_000, 1_000_000)}
        answer = self.client.send("PUT", "/fleet/budgets", body)
        if answer is not None:
            self.client.expect(answer, 200)

    def send(self, path, body):
        return self.client.send("POST", path, {"repo": REPO, **PAIR, **body}, {"Authorization": f"Bearer {self.key}"})

    def admit(self):
        run = secrets.randbits(40)
        self.open.append(run)
        answer = self.send("/fleet/runs/admit", {"run_id": run, "run_attempt": 1})
        if answer is not None:
            self.client.expect(answer, 200)

    def report(self, run):
        """Whether the end of the run was accepted."""
        cost = run % 400 / 100
        answer = self.send("/fleet/runs", {"run_id": run, "status": "pr_opened", "cost_usd": cost})
        if answer is None or not self.client.expect(answer, 200, 201):
            return False
        self.open.remove(run)
        self.ended[run] = cost
        return True

    def broken(self):
        """The promises that were broken, once all runs have ended."""
        if self.key is None:
            return
        for run in list(self.open):
            wait_for(lambda run=run: self.report(run), "the end of a run is accepted")
        state = self.client.read("/fleet/budgets").json()[0]["state"]
        if state["reserved_usd"]:
            yield f"{state['reserved_usd']} USD are reserved of runs that have ended"
        if abs(state["spent_usd"] - sum(self.ended.values())) > 1e-6 or state["runs"] != len(self.ended):
            yield f"{len(self.ended)} runs have cost {sum(self.ended.values()):.2f} USD; the budget has {state['runs']} of {state['spent_usd']} USD"
