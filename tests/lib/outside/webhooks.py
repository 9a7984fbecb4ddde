"""Deliveries of the code host's webhooks.

    hook = Hook(cluster)
    answer = hook.deliver("issues", {"action": "opened", ...})     # signed as the code host does
    hook.events(answer.json()["delivery_id"])                       # the events that it made
"""

import hashlib
import hmac
import json
import subprocess
import uuid
from pathlib import Path

from lib.http import plain_http
from lib.http.contract import contract
from lib.tables import common
from lib.tables import integrations as integrations_tables

PATH = "/api/v1.0/github/webhooks"
NAME = "repository_name"
LIB = Path(__file__).parent


def signature(secret, body):
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def examples(secret):
    """[{event, body, signature}]: the examples of @octokit/webhooks-examples, signed by the code host's own library."""
    command = ["node", LIB / "sign_examples.mjs", secret]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def pull_request(repo="acme/ranker", number=7, action="closed", at="2026-01-31T09:30:00Z", **members):
    """The members of a delivery that are read."""
    row = {"number": number, "html_url": f"https://github.com/{repo}/pull/{number}", "state": "closed", "merged": True}
    row |= {"head": {"ref": "expops/agent"}, "updated_at": at, **members}
    return {"action": action, "repository": {"full_name": repo}, "pull_request": row}


class Hook:
    """Sends deliveries to a cluster and reads what they leave."""

    def __init__(self, cluster, url=None):
        self.cluster, self.url = cluster, url or cluster.gateway_url
        self.secret = cluster.code_host.webhook_secret
        self.http = plain_http.client()
        self.connection = cluster.postgres.connect("integrations")
        self.connection.execute("SET ROLE expops_integrations")

    def send(self, body, headers, auth=None):
        """Send bytes with headers; the answer is checked against the description."""
        answer = self.http.post(self.url + PATH, content=body, headers=headers, auth=auth)
        contract().check("POST", PATH, answer)
        return answer

    def deliver(self, event, payload, delivery=None, secret=None, expect=202, **headers):
        """Deliver an object, or bytes as they are."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        fields = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
            "X-Hub-Signature-256": signature(secret or self.secret, body),
        }
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.send(body, {name: value for name, value in fields.items() if value is not None})
        assert answer.status_code == expect, answer.text
        return answer

    def counts(self):
        """Rows of everything that a delivery can leave."""
        return integrations_tables.left_by_deliveries(self.connection)

    def row(self, delivery):
        """(status, reason) of the ledger; None: it is not there."""
        row = integrations_tables.delivery(self.connection, delivery)
        return row and (row.status, row.reason)

    def events(self, delivery):
        """The data of the events that a delivery has made, as they wait to be sent; without those of names()."""
        events = common.outbox(self.connection, delivery_id=delivery)
        return [event.data for event in events if event.data["event"] != NAME]

    def names(self, number):
        """[(name, former)] of the events that tell the names of the repository of this number."""
        events = common.outbox(self.connection, repository_id=number)
        return [(event.data["repo"], event.data["former"]) for event in events if event.type == NAME]

    def sent(self):
        """[(id, data)] of what deliveries have sent to the stream, as often as it was sent; without those of names()."""
        entries = self.cluster.redis.client().xrange("events.code_host")
        events = [(fields["id"], json.loads(fields["data"])) for _, fields in entries if fields["type"] != NAME]
        return [(event, data) for event, data in events if "delivery_id" in data]
