"""Secrets are in no log, metric, Redis key or dump of the database after every operation of svc-integrations was used."""

import json
import re
import secrets
import uuid
from contextlib import contextmanager

import pytest

from lib.http import api_def, plain_http
from lib.outside.counterparts import REDIRECT_URI, consent
from lib.http.identity import identity
from lib.check.leaks import Places, secrets_of_requests
from lib.outside.stub_server import StubServer
from lib.tables import common
from lib.wait import wait_for

SERVICE = "svc-integrations"
WORKFLOW = "name: Agent\non:\n  workflow_dispatch:\n    inputs:\n      direction: {type: string}\n"
PATH = ".github/workflows/agent.yml"
OWNER = re.compile(r"^(?:gateway=|svc-\w+=|\w+:)")  # of a part of a list of secrets
CANARY = "canary-7c1f09ab54de"
KINDS = ["authorization Bearer eyJ", "authorization Bearer gh", "authorization Basic", "code_verifier", "refresh_token",
         "encrypted_value", "client_secret", "line 20 of the app's key", "token 0", "SEAL_KEYS 0", "CODE_HOST_WEBHOOK_SECRETS 0"]  # fmt: skip


@pytest.fixture
def model():
    """A model provider that accepts every key."""
    stub = StubServer(lambda request: request.reply(200, '{"data": []}', Content_Type="application/json"))
    yield stub
    stub.close()


@contextmanager
def changed(cluster, **settings):
    """Run svc-integrations with other settings, and the gateway with debug logs."""
    processes = {SERVICE: {"LOG_LEVEL": "debug", **settings}, "gateway": {"LOG_LEVEL": "debug"}}
    before = {name: dict(cluster[name][0].env) for name in processes}
    for name, changes in processes.items():
        cluster[name][0].env.update(changes)
        cluster.restart(name)
    cluster.wait_ready()
    yield
    for name in processes:
        cluster[name][0].env = before[name]
        cluster.restart(name)
    cluster.wait_ready()


class Everything:
    """A run of all operations; `done` has the ids of the public ones and the paths of the internal ones."""

    def __init__(self, cluster, host, provider):
        self.cluster, self.host, self.provider = cluster, host, provider
        self.user = cluster.user(operator=True)
        self.done, self.known = set(), {"key of the account": self.user.key}
        self.operations = {op.id: op for op in api_def.operations() if op.process == SERVICE}

    def call(self, operation, body=None, expect=200, headers=None, **values):
        """A public operation; a POST has an idempotency key, whose stored answer is searched, too."""
        row = self.operations[operation]
        self.done.add(operation)
        query = values.pop("query", None)
        headers = {"Idempotency-Key": secrets.token_hex(8), **(headers or {})} if row.method == "POST" else {}
        path = row.target(**values)
        answer = self.user.api.request(row.method, path, body, expect=expect, headers=headers, params=query)
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    def call_internal(self, path, body, expect=200):
        _, _, _, callers = next(row for row in api_def.internal_operations() if row[1] == path)
        self.done.add(path)
        sender = sorted(callers)[-1]
        auth = identity(self.cluster, SERVICE, "service", sender=sender, account=self.user.account)
        url = f"{self.cluster.url(SERVICE)}{path}"
        answer = plain_http.post(url, json=body, auth=auth)
        assert answer.status_code == expect, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def connect(self, provider, login):
        begun = self.call("auth_url_get", provider_name=provider)
        code, state = consent(begun["auth_url"], login)
        self.known |= {f"code of {provider}": code, f"state of {provider}": state}
        self.call("connection_create", {"code": code, "redirect_uri": REDIRECT_URI, "state": state}, provider_name=provider)
        self.call("connection_create", {"code": code, "redirect_uri": REDIRECT_URI, "state": state}, 400, provider_name=provider)
        self.provider.set_lifetime(3600)
        self.known[f"token of {provider}"] = self.call("connection_token_get", provider_name=provider)["access_token"]

    def connections(self):
        login = self.host.user().login
        self.provider.set_lifetime(1)  # so that the token is refreshed at its first use
        self.connect("tracker_b", "ada")
        self.connect("code_host", login)
        self.connect("tracker_a", self.host.tracker_user())
        self.known["model key"] = f"sk-{secrets.token_hex(16)}"
        self.call("model_key_connect", {"api_key": self.known["model key"]}, provider_name="openai")
        self.call("providers_list")
        self.call("connections_list")
        self.call("connection_status_get", provider_name="tracker_a")
        link = {"source": "code_host", "external_id": login}
        made = self.call("identity_link_create", link, 201)
        self.call("identity_links_list")
        self.call("identity_resolve", query=link)
        self.call("identity_link_delete", link_id=made["id"])
        return login

    def app(self, login):
        repo, other = self.host.repository(login), self.host.repository(self.host.user().login)
        installed = self.call("app_install_url_get")
        self.known["state of the installation"] = installed["state"]
        confirmed = {"installation_id": self.host.install(login), "state": installed["state"]}
        self.call("app_installation_confirm", confirmed)
        self.call("app_get")
        self.call("app_manifest_create", {}, 409)  # the settings name an app
        self.call("app_create", {"code": "c", "state": "s"}, 400)
        self.call("app_delete", expect=404)
        self.call("app_installation_get", query={"repo": repo})
        self.known["installation token"] = self.call("installation_token_create", {"repo": repo})["token"]
        self.call("installation_token_create", {"repo": other}, 404)
        self.call("fork_create", {"repo": other, "branches": ["main"]})
        return repo

    def repository(self, repo):
        base = "/internal/code-host"
        self.known["secret of the repository"] = secrets.token_hex(16)
        value = {"value": self.known["secret of the repository"]}
        self.call_internal(f"{base}/installation", {"repo": repo})
        self.call_internal(f"{base}/repository", {"repo": repo})
        self.call_internal(f"{base}/access", {"repo": repo})
        self.call_internal(f"{base}/names", {"repo": repo, "other": f"{repo}-2"})
        self.call_internal(f"{base}/secrets/put", {"repo": repo, "name": "EXPOPS_KEY", **value})
        self.call_internal(f"{base}/secrets/put", {"repo": repo, "name": "MODEL_KEY", "model_provider": "openai"})
        self.call_internal(f"{base}/secrets/get", {"repo": repo, "name": "EXPOPS_KEY"})
        self.call_internal(f"{base}/files/get", {"repo": repo, "path": PATH})
        self.call_internal(f"{base}/status", {})
        file = {"repo": repo, "path": PATH, "content": WORKFLOW, "message": "Add"}
        self.call_internal(f"{base}/files/put", {**file, "branch": "expops/agent"})
        opened = self.call_internal(f"{base}/pull-requests/open", {"repo": repo, "head": "expops/agent", "title": "Agent"})
        self.call_internal(f"{base}/pull-requests/list", {"repo": repo})
        self.call_internal(f"{base}/issues/list", {"repo": repo})
        self.call_internal(f"{base}/pull-requests/merge", {"repo": repo, "number": opened["pull_request"]["number"]})
        dispatch = {"repo": repo, "workflow": "agent.yml", "ref": "main", "key": "one"}
        run = self.call_internal(f"{base}/workflows/dispatch", dispatch)["run_id"]
        self.call_internal(f"{base}/runs/latest", {"repo": repo, "workflow": "agent.yml"})
        self.call_internal(f"{base}/runs/list", {"repo": repo, "workflow": "agent.yml"})
        self.call_internal(f"{base}/runs/cancel", {"repo": repo, "run_id": run})

    def tickets(self):
        """The tracker is asked for a ticket that there is none of."""
        ticket = {"source": "tracker_a", "ticket": "ENG-4711"}
        self.call_internal("/internal/tickets/get", ticket, 404)
        self.call_internal("/internal/tickets/comment", {**ticket, "text": "Decision: ship"}, 404)

    def tasks(self):
        """What the gateway asks of every service for an operator."""
        self.call_internal("/internal/tasks/find", {"limit": 10})
        self.call_internal("/internal/tasks/summarize", {})
        self.call_internal("/internal/tasks/repeat", {"limit": 10, "dry_run": True})

    def messages(self):
        """An endpoint of messages, and what can be done with it."""
        body = {"kind": "webhook", "url": "http://127.0.0.2:1999/hook", "events": ["test.ping"]}
        made = self.call("webhook_create", body, 201)
        self.known["secret of the endpoint"] = made["secret"].removeprefix("whsec_")
        one, absent = {"webhook_id": made["id"]}, {"webhook_id": made["id"], "delivery_id": str(uuid.uuid4())}
        self.call("webhooks_list")
        self.call("webhook_event_types_list")
        self.call("webhook_get", **one)
        self.call("webhook_update", {"name": "renamed"}, **one)
        self.call("webhook_test", {}, **one)
        rotated = self.call("webhook_secret_rotate", {}, **one)
        self.known["next secret of the endpoint"] = rotated["secret"].removeprefix("whsec_")
        self.call("webhook_recover", {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"}, **one)
        self.call("webhook_deliveries_list", **one)
        self.call("webhook_delivery_get", expect=404, **absent)
        self.call("webhook_delivery_replay", {}, 404, **absent)
        self.call("webhook_confirmation_create", None, 404, **absent)
        self.call("webhook_delete", **one)
        for page in ("email_confirm_page_get", "email_unsubscribe_page_get"):
            self.call(page, None, 404, token="x" * 43)
        for button in ("email_confirm", "email_unsubscribe"):
            self.call(button, None, 404, token="x" * 43)
        self.call_internal("/internal/mail/status", {})

    def webhooks(self):
        """The code host has sent its events meanwhile; one more has a wrong signature."""
        self.done.add("code_host_webhook")
        assert self.host.deliveries()[-1]["status_code"] == 202
        headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": secrets.token_hex(8), "X-Hub-Signature-256": "sha256=" + "0" * 64}
        url = f"{self.cluster.gateway_url}/api/v1.0/github/webhooks"
        assert plain_http.post(url, content=b"{}", headers={**headers, "Content-Type": "application/json"}).status_code == 401

    def disconnect(self):
        for provider in ("openai", "tracker_a", "tracker_b", "code_host"):
            self.call("connection_delete", provider_name=provider)
        wait_for(lambda: self.host.requests(method="DELETE", path="/grant$"), "the grant was deleted")

    def settings(self):
        """The secrets of the settings."""
        env = self.cluster[SERVICE][0].env
        names = [name for name in env if name.endswith(("_SECRET", "_SECRETS", "SEAL_KEYS"))]
        parts = {name: re.split("[ ,]", env[name]) for name in names}
        found = {f"{name} {index}": OWNER.sub("", part) for name in names for index, part in enumerate(parts[name])}
        lines = env["CODE_HOST_APP_KEY"].splitlines()[1:-1]
        return found | {f"line {number} of the app's key": line for number, line in enumerate(lines)}

    def secrets(self):
        seen = secrets_of_requests(self.host.requests(), "the code host")
        seen |= secrets_of_requests(self.host.requests(url=self.host.tracker_url), "the tracker")
        seen |= secrets_of_requests(self.provider.requests(), "the OAuth provider")
        valid = {f"token {number} of the code host": token for number, token in enumerate(self.host.tokens())}
        return {**self.known, **self.settings(), **seen, **valid}


def plant(cluster, db):
    """Put the canary where a secret would be found; returns what takes it away."""
    common.plant_canary(db, CANARY + "-text", (CANARY + "-bytes").encode())
    redis = cluster.redis.client()
    redis.xadd("canary", {"body": json.dumps({"token": CANARY + "-stream"})})
    process = cluster[SERVICE][0]
    with open(process.log_path, "a", encoding="utf-8") as log:
        line = {"time": "2026-01-01T00:00:00.000Z", "level": "info", "process": SERVICE, "group": "app", "message": f"{CANARY}-log"}
        log.write(json.dumps(line) + "\n")

    def remove():
        common.drop_canary(db)
        redis.delete("canary")

    return remove


PLANTED = {"text": "pg_dump", "bytes": "pg_dump", "stream": "redis", "log": f"log-{SERVICE}-0"}


def test_no_secret_is_written_anywhere(cluster, code_host, oauth_provider, model, tmp_path):
    run = Everything(cluster, code_host, oauth_provider)
    with changed(cluster, OPENAI_URL=model.url), cluster.postgres.connect("integrations") as db:
        process = cluster[SERVICE][0]
        repo = run.app(run.connections())
        run.repository(repo)
        run.tickets()
        run.tasks()
        run.messages()
        run.webhooks()
        run.disconnect()
        known = run.secrets()
        folder = tmp_path / "places"
        folder.mkdir()
        remove = plant(cluster, db)
        try:
            wait_for(lambda: process.log().count("request finished") >= len(run.done), "the log is written")
            places = Places(cluster, folder)
        finally:
            remove()
    internal = {path for _, path, service, _ in api_def.internal_operations() if service == SERVICE}
    public = set(run.operations)
    assert run.done == public | internal
    assert all(any(name.startswith(kind) for name in known) for kind in KINDS)
    found = places.find({**known, **{name: f"{CANARY}-{name}" for name in PLANTED}})
    assert found == set(PLANTED.items())
