"""An account whose agent works at the code host, for the tests of svc-fleet."""

import json

from lib.http import plain_http
from lib.http.identity import identity

INPUTS = ["agent", "provider", "interest_id", "model", "pin_arxiv", "start_from_ref", "lead_content",
          "test_integration_policy", "fidelity_policy"]
WORKFLOW = json.dumps({"name": "Agent", "on": {"workflow_dispatch": {"inputs": {name: {"type": "string"} for name in INPUTS}}}})

# The workflow of the agents, {path: text}.
FILES = {".github/workflows/expops.yml": WORKFLOW}


class Replica:
    """A replica of svc-fleet with settings of its own, asked as the gateway asks for an account; for `with`."""

    def __init__(self, cluster, account, label="lone", **settings):
        self.cluster, self.account = cluster, account
        self.process = cluster.separate("svc-fleet", label, **settings)

    def __enter__(self):
        self.process.start()
        self.process.wait_ready()
        return self

    def __exit__(self, *error):
        self.process.stop()

    def call(self, method, path, body=None, **headers):
        auth = identity(self.cluster, "svc-fleet", account=self.account)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return plain_http.request(method, f"{self.process.url}/api/v1.0{path}", json=body, auth=auth, headers=fields)
