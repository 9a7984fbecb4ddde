"""An account with a repository at the code host and an interest, for the tests of provisioning."""

import secrets
from dataclasses import dataclass

from lib.http.client import Api
from lib.system.cluster import Cluster
from lib.outside.counterparts import CodeHost, CodeHostUser, connect
from lib.wait import wait_for

KEY = "EXPOPS_KEY"
FILE = ".github/workflows/expops.yml"


@dataclass
class Team:
    """An account that can push to a repository on which the app is installed, with an interest."""

    cluster: Cluster
    host: CodeHost
    api: Api
    at_host: CodeHostUser
    app: int  # installation of the app
    repo: str
    interest: str

    def path(self, suffix):
        return f"/interests/{self.interest}/{suffix}"

    def start(self, expect=202, **body):
        return self.api.post(self.path("provision"), body, expect=expect)

    def provision(self, **body):
        """Provision to the end; returns the task."""
        return self.api.wait_task(self.start(**body))

    def status(self):
        return self.api.get(self.path("provision-status"), expect=200).json()

    def keys(self):
        """The valid keys of agents."""
        keys = self.api.get("/account/api-keys", expect=200).json()["keys"]
        return [key for key in keys if key["kind"] == "automation" and key["status"] == "active"]

    def installations(self):
        return self.api.get("/fleet/installations", expect=200).json()

    def agent(self):
        """A client with the key in the repository's secret."""
        return Api(self.api.url, self.host.secret(self.repo, KEY))

    def agent_works(self):
        """Whether the key in the repository's secret is valid, by a report of a run."""
        return self.agent().post("/fleet/runs", {"run_id": "probe", "repo": self.repo}).status_code in (200, 201)

    def pulls(self):
        return self.host.api("GET", f"/repos/{self.repo}/pulls?state=all", self.at_host.token).json()

    def pool_is_ready(self):
        return self.api.get(f"/interests/{self.interest}", expect=200).json()["pool_status"] == "ready"

    def connect_model(self, provider="anthropic"):
        self.api.post(f"/integrations/{provider}/connect", {"api_key": f"good-{secrets.token_hex(16)}"}, expect=200)

    def dispatch(self, **inputs):
        """Start the workflow by hand, as people do at the code host, with inputs that the API might refuse; returns the run."""
        path = f"/repos/{self.repo}/actions/workflows/expops.yml/dispatches"
        answer = self.host.api("POST", path, self.at_host.token, json={"ref": "main", "inputs": inputs})
        assert answer.status_code == 204, answer.text
        return self.host.runs(self.repo)[-1]

    def trigger(self, expect=200, **body):
        """Start the workflow through the API; returns the run."""
        self.api.post("/fleet/trigger", {"repo": self.repo, **body}, expect=expect)
        return self.host.runs(self.repo)[-1]

    def reported(self, run):
        """What was reported of a run."""
        rows = self.api.get(f"/fleet/runs?repo={self.repo}&limit=100", expect=200).json()
        (found,) = [row for row in rows if str(row["run_id"]) == str(run["id"])]
        return found

    def pull_of(self, run):
        (found,) = [pull for pull in self.pulls() if pull["head"]["ref"] == f"expops/run-{run['id']}"]
        return found

    def work(self, runner, **inputs):
        """Start a run, by default with a task in words, and run it: (what came of it, what was reported, the run's row)."""
        row = self.dispatch(**({"lead_content": "Do better"} | inputs))
        return runner.run(self.repo, row), self.reported(row), row


def new_team(cluster, host, has_app=True, has_model_key=True, is_private=False, **members):
    """A new team whose interest, with these members, has its papers; nothing is provisioned."""
    api, at_host = cluster.user().api, host.user()
    connect(api, "code_host", at_host.login)
    app = host.install(at_host.login) if has_app else 0
    repo = host.repository(at_host.login, private=is_private)
    body = {"name": "Better ranking", "context": f"Ranking of documents in {host.url}/{repo}.", **members}
    interest = api.post("/interests", body, expect=201).json()["id"]
    team = Team(cluster, host, api, at_host, app, repo, interest)
    if has_model_key:
        team.connect_model()
    wait_for(team.pool_is_ready, "the pool is ready")
    return team
