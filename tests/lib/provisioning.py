"""An account with a repository at the code host and an interest, for the tests of provisioning."""

import secrets
from dataclasses import dataclass

from lib.client import Api
from lib.cluster import Cluster
from lib.counterparts import CodeHost

KEY = "EXPOPS_KEY"
FILE = ".github/workflows/expops.yml"


@dataclass
class Team:
    """An account that can push to a repository on which the app is installed, with an interest."""

    cluster: Cluster
    host: CodeHost
    api: Api
    login: str
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
        token = self.host.user().token
        return self.host.api("GET", f"/repos/{self.repo}/pulls?state=all", token).json()

    def pool_is_ready(self):
        return self.api.get(f"/interests/{self.interest}", expect=200).json()["pool_status"] == "ready"

    def connect_model(self, provider="anthropic"):
        self.api.post(f"/integrations/{provider}/connect", {"api_key": f"good-{secrets.token_hex(16)}"}, expect=200)
