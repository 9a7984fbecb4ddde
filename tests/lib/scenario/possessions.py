"""An account with one of everything that operations show or change, whose texts have a mark that nobody else knows."""

import copy
import json
import re
import secrets
from functools import cached_property

from lib.scenario.provisioning import new_team
from lib.tables import interests as interests_tables

MARK = f"mark{secrets.token_hex(8)}"
PAPER = "2401.00001"
RUN = "run-of-the-victim"
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
EXTERNAL_ID = "tracker-user-of-the-victim"


class Possessions:
    """`ids`: {path parameter, or `OPERATION.PARAMETER` where that is of another kind: value}. What is made of it takes place in a private repository."""

    def __init__(self, cluster, host, mark=MARK, external_id=EXTERNAL_ID):
        self.cluster, self.mark, self.external_id = cluster, mark, external_id
        self.team = new_team(cluster, host, is_private=True, name=f"interest {self.mark}")
        self.api, self.repo, self.interest = self.team.api, self.team.repo, self.team.interest
        provisioned = self.team.provision(auto_merge=True)
        assert provisioned["status"] == "completed", provisioned
        self.installation = provisioned["result"]["installation_id"]
        self.ids = {
            "interest_id": self.interest, "installation_id": self.installation, "provider_name": "openai",
            "provision_task_get.task_id": provisioned["task_id"], "fleet_run_delete.run_id": RUN, "link_id": self.link(), "key_id": self.key["id"], "project_id": self.project["id"],
            "experiment_id": self.experiment["id"], "template_id": self.template["template_id"],
            "build_id": self.build["build_id"], "run_id": self.run["run_id"], "recommendation_id": self.recommendation(),
            "arxiv_id": PAPER, "feed_id": self.feed["id"], "token": "x" * 43, "webhook_id": self.webhook["id"], "delivery_id": self.delivery(),
            "experiments_compare.other": self.make("/experiments", name=f"other {self.mark}")["id"],
            "session_id": self.session(), "budget_id": self.budget(), "person_id": self.person(), "invitation_id": self.invitation(),
            **self.preference(),
        }  # fmt: skip
        self.team.connect_model("openai")
        self.report()

    def make(self, path, **body):
        return self.api.post(path, body, expect=201).json()

    def session(self):
        """The id of a session of a browser."""
        self.api.post("/session", {"key": self.api.key}, expect=200)
        return self.api.get("/sessions", expect=200).json()[0]["id"]

    def person(self):
        """The owner, of an account that has a name."""
        return self.api.patch("/team", {"name": f"team {self.mark}"}, expect=200).json()["you"]["person_id"]

    def invitation(self):
        return self.make("/team/invitations", email=f"{self.mark}@example.org", role="viewer")["id"]

    def budget(self):
        return self.api.put("/fleet/budgets", {"scope": "account", "period": "month", "usd": 1}, expect=200).json()["budget_id"]

    @cached_property
    def key(self):
        return self.make("/account/api-keys", name=f"key {self.mark}")

    @cached_property
    def project(self):
        return self.make("/projects", name=f"project {self.mark}", description=self.mark)

    @cached_property
    def experiment(self):
        context = {"target_repo": self.repo, "task_description": self.mark, "implementation_plan": self.mark, "code_repository": self.mark}
        made = self.make("/experiments", name=f"experiment {self.mark}", hypothesis=self.mark, project_id=self.project["id"],
                         ticket_source="tracker_a", external_ticket_id=f"{self.mark}-1",
                         status="draft", launch_context=context, ab_test_config={"metrics": [{"key": self.mark, "kind": "mean"}]})
        rows = [{"arm": arm, "metrics": {self.mark: 1}} for arm in ("control", "treatment")]
        self.api.post(f"/experiments/{made['id']}/results", {"rows": rows}, expect=201)
        return made

    @cached_property
    def template(self):
        spec = {"image": f"registry.example.com/{self.mark}:1", "command": "evaluate", "metrics": ["recall"], "env": {"TOKEN": self.mark}}
        return self.make("/eval-env/templates", name=f"template {self.mark}", description=self.mark, spec=spec, repo=self.repo)

    @cached_property
    def build(self):
        return self.make("/eval-env/builds", repo=self.repo, containerfile=f"FROM scratch\nLABEL name={self.mark}\n")

    @cached_property
    def run(self):
        return self.make("/eval-env/runs", template_id=self.template["template_id"], name=f"run {self.mark}", params={"of": self.mark})

    @cached_property
    def webhook(self):
        return self.make("/webhooks", kind="webhook", name=f"webhook {self.mark}", url=f"https://{self.mark}.example.org/", events=["*"])

    def delivery(self):
        """A message that waits for the webhook, which is paused: its host does not exist."""
        self.api.patch(f"/webhooks/{self.webhook['id']}", {"status": "paused"}, expect=200)
        with self.cluster.postgres.connect("integrations") as db:
            db.execute("SELECT message_take(account_id, uuid_v7(), 'test.ping', now(), %s, NULL, NULL, 30, 10000)"
                       " FROM endpoint WHERE id = %s", [json.dumps({"data": self.mark}), self.webhook["id"]])
            return str(db.execute("SELECT id FROM message_delivery WHERE endpoint_id = %s", [self.webhook["id"]]).fetchone()[0])

    @cached_property
    def feed(self):
        return self.make("/papers/recommended/feeds", interest_id=self.interest)

    def recommendation(self):
        with self.cluster.postgres.connect("interests") as db:
            made = interests_tables.add_recommendation(db, self.interest, PAPER, reasoning=f"reasoning {self.mark}")
            interests_tables.add_explanation(db, made, json.dumps({"embedder": self.mark}))
            return made

    def preference(self):
        history = self.api.get(f"/interests/{self.interest}", expect=200).json()["experiment_history_id"]
        refit = self.api.post(f"/experiment-histories/{history}/refit-preference-model", expect=202)
        refresh = self.api.post("/papers/recommended/refresh", {"interest_id": self.interest}, expect=202)
        tasks = {"refit_task_get.task_id": refit, "refresh_task_get.task_id": refresh}
        return {"history_id": history} | {name: self.api.wait_task(answer)["task_id"] for name, answer in tasks.items()}

    def link(self):
        link = self.make("/integrations/identity/link", source="tracker_a", external_id=self.external_id, external_login=self.mark,
                         external_email=f"{self.mark}@example.org")
        self.account = link["user_id"]
        return link["id"]

    def report(self):
        """A failed run, which is in the inbox, too."""
        run = {"run_id": RUN, "repo": self.repo, "status": "failed", "error": f"error {self.mark}", "agent": self.mark,
               "artifact_url": f"https://github.com/{self.repo}/pull/{self.mark}"}
        self.team.agent().post("/fleet/runs", run, expect=201)

    def in_capitals(self):
        """The same, whose ids and repository are written in another form."""
        made = copy.copy(self)
        made.repo, made.interest = self.repo.upper(), self.interest.upper()
        made.ids = {name: value.upper() if UUID.fullmatch(value) else value for name, value in self.ids.items()}
        return made

    @property
    def inbox(self):
        return [item["id"] for item in self.api.get("/fleet/agents/inbox", expect=200).json()]
