"""The app at the code host, made by one form: stored once, used by all replicas, and installed by those who may see it."""

import html
import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.check.leaks import Places
from lib.http import plain_http
from lib.http.contract import contract
from lib.http.identity import identity
from lib.outside.code_host_pages import install_app, make_app
from lib.outside.counterparts import consent, landing_of
from lib.outside.webhooks import Hook, signature
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

APP, CREATED, MANIFEST, INSTALLED = "/github/app", "/github/app/created", "/github/app/manifest", "/github/app/installed"
NO_APP = {f"CODE_HOST_{name}": "" for name in ("APP_ID", "APP_KEY", "CLIENT_ID", "CLIENT_SECRET", "WEBHOOK_SECRETS")}
PERMISSIONS = {"metadata": "read", "contents": "write", "pull_requests": "write", "issues": "write", "actions": "write",
               "secrets": "write", "workflows": "write"}  # fmt: skip
EVENTS = ["pull_request", "issues", "push", "workflow_run", "repository"]


class Replica:
    """A process of svc-integrations, asked past the gateway on behalf of an account."""

    def __init__(self, cluster, label, **changes):
        self.cluster = cluster
        self.process = cluster.separate("svc-integrations", label, OAUTH_REDIRECT_URIS="", **{**NO_APP, **changes})
        self.process.start()
        self.process.wait_ready()

    def ask(self, method, path, body=None, account=None, expect=200, **headers):
        auth = identity(self.cluster, "svc-integrations", account=account)
        url = f"{self.process.url}/api/v1.0{path}"
        answer = plain_http.request(method, url, json=body, auth=auth, headers=headers)
        contract().check(method, f"/api/v1.0{path}", answer)
        assert answer.status_code == expect, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def replicas(cluster, code_host):
    """Two processes without settings of an app."""
    made = [Replica(cluster, f"registration-{number}") for number in range(2)]
    before = code_host.control("GET", "/app")
    yield made
    for replica in made:
        replica.process.stop()
    code_host.control("PATCH", "/app", before)


@pytest.fixture
def first(replicas, db):
    """The first of them, while no app is registered."""
    integrations_tables.forget_app(db)
    yield replicas[0]
    integrations_tables.forget_app(db)


@pytest.fixture
def account():
    return str(uuid.uuid4())


def begin(replica, account, **body):
    return replica.ask("POST", MANIFEST, body, account)


def create(replica, account, expect=201, **body):
    """Make the app as a person does."""
    return replica.ask("POST", CREATED, make_app(begin(replica, account, **body)), account, expect)


def send(replica, body, account):
    """The status of taking the app."""
    auth = identity(replica.cluster, "svc-integrations", account=account)
    return plain_http.post(f"{replica.process.url}/api/v1.0{CREATED}", json=body, auth=auth).status_code


def fault(problem):
    (found,) = problem["errors"]
    return found["field"]


# ---- the form ----


def test_the_manifest_asks_for_what_the_service_needs(cluster, first, code_host, account):
    form = begin(first, account)
    site = cluster.gateway_url
    assert form["manifest"] == {
        "name": "expops 127.0.0.1",
        "url": site,
        "description": "Runs research agents on the repositories you choose.",
        "public": False,
        "hook_attributes": {"url": "https://example.com/github/webhooks", "active": False},
        "redirect_url": f"{site}/console/connect/created",
        "callback_urls": [f"{site}/console/connect/oauth"],
        "setup_url": f"{site}/console/connect/installed",
        "setup_on_update": True,
        "request_oauth_on_install": False,
        "default_permissions": PERMISSIONS,
        "default_events": EVENTS,
    }
    assert form["action"] == f"{code_host.url}/settings/apps/new?state={form['state']}"


def test_an_address_that_the_code_host_reaches_gets_deliveries(cluster, account):
    replica = Replica(cluster, "public", PUBLIC_URL="https://expops.example.org/")
    try:
        form = begin(replica, account, organization="acme", public=True, name="Ours")
    finally:
        replica.process.stop()
    manifest = form["manifest"]
    assert manifest["hook_attributes"] == {"url": "https://expops.example.org/api/v1.0/github/webhooks", "active": True}
    assert (manifest["public"], manifest["name"], manifest["url"]) == (True, "Ours", "https://expops.example.org")
    assert "/organizations/acme/settings/apps/new?" in form["action"]


@pytest.mark.parametrize("body, field", [({"organization": "acme/x"}, "organization"), ({"name": "x" * 35}, "name"), ({"public": 1}, "public")])
def test_a_wrong_member_is_named(first, account, body, field):
    assert fault(first.ask("POST", MANIFEST, body, account, 400)) == field


def test_it_is_the_operator_s(user):
    for method, path in [("GET", APP), ("DELETE", APP), ("POST", CREATED), ("POST", MANIFEST)]:
        assert user.api.problem(method, path, 403, "insufficient_scope")["scope"] == "service:any_user"


# ---- taking the app ----


def test_every_replica_uses_the_app_at_once(replicas, first, code_host, account):
    second = replicas[1]
    assert second.ask("GET", APP, None, account)["configured"] is False
    made = create(first, account)
    assert (made["app_id"], made["slug"], made["owner"]) == (code_host.APP_ID, code_host.SLUG, "nobody")
    assert made["html_url"] == f"{code_host.url}/apps/{code_host.SLUG}"
    assert made["install_url"].startswith(f"{made['html_url']}/installations/new?state=")
    for replica in replicas:
        assert replica.ask("GET", APP, None, account) == {
            "configured": True, "source": "stored", "slug": code_host.SLUG, "html_url": made["html_url"], "owner": "nobody",
            "permissions_missing": [], "events_missing": [],
            "webhook": {"active": False, "last_delivery_at": replica.ask("GET", APP, None, account)["webhook"]["last_delivery_at"]},
        }  # fmt: skip
    assert second.ask("GET", "/integrations/code_host/auth-url", None, account)["auth_url"]


def deliver(cluster, replica, secret):
    body, fields = b'{"zen": "x"}', {"Content-Type": "application/json", "X-GitHub-Event": "ping"}
    fields |= {"X-GitHub-Delivery": str(uuid.uuid4()), "X-Hub-Signature-256": signature(secret, body)}
    return Hook(cluster, url=replica.process.url).send(body, fields, auth=identity(cluster, "svc-integrations")).status_code


def test_its_client_is_that_of_the_provider(replicas, first, code_host, cluster):
    """A person connects, with the address that follows from PUBLIC_URL; the app's secret signs deliveries."""
    account = Account(cluster)
    create(first, account.id)
    (provider,) = [row for row in replicas[1].ask("GET", "/integrations/providers", None, account.id) if row["name"] == "code_host"]
    assert provider["configured"] is True
    login = code_host.user().login
    assert account.connect(replicas[1], login)["external_account"]["login"] == login
    assert deliver(cluster, first, code_host.webhook_secret) == 202
    assert deliver(cluster, first, "another secret, not the app's") == 401


def test_a_second_app_needs_to_be_asked_for(first, account):
    create(first, account)
    assert first.ask("POST", MANIFEST, {}, account, 409)["error"] == "app_exists"
    create(first, account, replace=True)


def test_the_settings_win(cluster, first, account):
    """Each group as a whole."""
    create(first, account)
    settings = cluster.code_host.settings()
    replica = Replica(cluster, "settings", CODE_HOST_APP_ID="4711", CODE_HOST_APP_KEY=settings["CODE_HOST_APP_KEY"])
    try:
        assert replica.ask("GET", APP, None, account)["source"] == "settings"
        problem = replica.ask("POST", MANIFEST, {"replace": True}, account, 409)
        assert problem["error"] == "app_exists" and "CODE_HOST_APP_ID" in problem["detail"]
    finally:
        replica.process.stop()


HALVES = {"CODE_HOST_APP_ID": "CODE_HOST_APP_KEY", "CODE_HOST_APP_KEY": "CODE_HOST_APP_ID", "CODE_HOST_CLIENT_SECRET": "CODE_HOST_CLIENT_ID"}


@pytest.mark.parametrize("name", HALVES)
def test_a_half_of_a_group_is_refused(cluster, name):
    """It would turn off the registered app, as where only its key is replaced."""
    with pytest.raises(RuntimeError, match=f"{HALVES[name]}: must be set too"):
        cluster.run("svc-integrations", "--show-config", **{**NO_APP, name: cluster.code_host.settings()[name]})


def test_the_key_and_the_secret_of_the_registered_app_are_replaced(cluster, first, account, code_host):
    """By settings that go before what is stored, as deploy/OPERATIONS.md says: for the webhook first beside it, then without it."""
    made, new = create(first, account), "a new secret of the webhook"
    key = {name: cluster.code_host.settings()[name] for name in ("CODE_HOST_APP_ID", "CODE_HOST_APP_KEY")}
    for secrets, statuses in ((f"{new},stored", [202, 202]), (new, [202, 401])):
        replica = Replica(cluster, f"replaced-{len(secrets)}", CODE_HOST_WEBHOOK_SECRETS=secrets, **key)
        try:
            assert [deliver(cluster, replica, secret) for secret in (new, code_host.webhook_secret)] == statuses
            shown = replica.ask("GET", APP, None, account)
            assert (shown["source"], shown["configured"], shown["slug"]) == ("settings", True, made["slug"])
        finally:
            replica.process.stop()
    assert deliver(cluster, first, code_host.webhook_secret) == 202


def test_forgetting_it(replicas, first, account):
    create(first, account)
    assert replicas[1].ask("DELETE", APP, None, account) == {"deleted": True}
    assert first.ask("GET", APP, None, account)["configured"] is False
    first.ask("DELETE", APP, None, account, 404)
    assert first.ask("GET", "/integrations/code_host/auth-url", None, account, 409)["error"] == "provider_not_configured"


def test_it_is_in_the_audit_log_of_operators(cluster, first, account):
    operator = cluster.user(operator=True).api
    actions = lambda: [entry["action"] for entry in operator.get("/account/audit?action=app.&limit=100", expect=200).json()]  # noqa: E731
    before = actions()
    create(first, account)
    first.ask("DELETE", APP, None, account)
    wait_for(lambda: len(actions()) >= len(before) + 2, "both are in the log")
    assert actions()[:2] == ["app.deleted", "app.created"]


def test_what_it_lacks_is_named_and_asked_for_once_a_minute(replicas, first, code_host, account, db):
    create(first, account)
    fewer = {**PERMISSIONS, "contents": "read"}
    del fewer["workflows"]
    code_host.control("PATCH", "/app", {"permissions": fewer, "events": EVENTS[:3]})
    before = code_host.last_number()
    for replica in replicas:
        found = replica.ask("GET", APP, None, account)
        assert found["permissions_missing"] == ["contents", "workflows"]
        assert found["events_missing"] == ["workflow_run", "repository"]
    assert len(code_host.requests(before, "GET", "^/app$")) == 1
    integrations_tables.age_app_facts(db)
    first.ask("GET", APP, None, account)
    assert len(code_host.requests(before, "GET", "^/app$")) == 2


# ---- states and codes ----


def test_a_state_works_once_and_for_its_account(first, account):
    came = make_app(begin(first, account))
    assert fault(first.ask("POST", CREATED, came, str(uuid.uuid4()), 400)) == "state"
    first.ask("POST", CREATED, came, account, 201)
    assert fault(first.ask("POST", CREATED, came, account, 400)) == "state"


@pytest.mark.parametrize("state", ["made-up", "", None])
def test_a_forged_state_is_refused(first, account, state):
    came = make_app(begin(first, account))
    assert fault(first.ask("POST", CREATED, {**came, "state": state}, account, 400)) == "state"


def test_a_state_lives_an_hour(first, account, db):
    came = make_app(begin(first, account))
    integrations_tables.expire_landings(db, account)
    assert fault(first.ask("POST", CREATED, came, account, 400)) == "state"


def test_a_state_of_an_installation_makes_no_app(first, account):
    state = create(first, account)["install_url"].partition("state=")[2]
    form = make_app(begin(first, account, replace=True))
    assert fault(first.ask("POST", CREATED, {**form, "state": state}, account, 400)) == "state"


def test_a_code_works_once(first, account):
    code = make_app(begin(first, account))["code"]
    state = begin(first, account)["state"]
    first.ask("POST", CREATED, {"code": code, "state": state}, account, 201)
    state = begin(first, account, replace=True)["state"]
    assert fault(first.ask("POST", CREATED, {"code": code, "state": state}, account, 400)) == "code"


def test_a_code_is_in_no_log(first, code_host, account):
    came = make_app(begin(first, account))
    code_host.fail("POST", "^/app-manifests/", drop=True, before=True)
    first.ask("POST", CREATED, came, account, 503)
    assert "call failed" in first.process.log() and came["code"] not in first.process.log()


def test_a_code_lives_an_hour(first, code_host, account):
    came = make_app(begin(first, account))
    code_host.control("POST", "/app/expire")
    assert fault(first.ask("POST", CREATED, came, account, 400)) == "code"
    assert first.ask("GET", APP, None, account)["configured"] is False


@pytest.mark.parametrize("failure", [{"status": 503}, {"drop": True, "before": True}, {"status": 403}], ids=["away", "connection lost", "forbidden"])
def test_a_code_host_that_does_not_answer_uses_up_nothing(first, code_host, account, failure):
    came = make_app(begin(first, account))
    code_host.fail("POST", "^/app-manifests/", **failure)
    first.ask("POST", CREATED, came, account, 502 if failure.get("status") == 403 else 503)
    first.ask("POST", CREATED, came, account, 201)
    assert fault(first.ask("POST", CREATED, came, account, 400)) == "state"


@pytest.mark.parametrize("codes", [1, 2])
def test_a_state_that_is_used_twice_at_once_makes_one_app(cluster, replicas, first, account, codes):
    """With one code, and with two."""
    came = [make_app(begin(first, account)) for _ in range(codes)]
    with cluster.postgres.connect("integrations") as holder, cluster.postgres.connect("integrations") as seen, ThreadPoolExecutor(2) as pool:
        bodies = [{"code": came[number % codes]["code"], "state": came[0]["state"]} for number in range(2)]
        with holder.transaction():
            integrations_tables.lock_landings(holder, account)
            asked = [pool.submit(send, replica, body, account) for replica, body in zip(replicas, bodies)]
            wait_for(lambda: common.blocked(seen, "integrations") == codes, "whoever has an app waits for the state")
        assert sorted(one.result() for one in asked) == [201, 400]


def test_an_app_that_came_between_is_not_replaced(first, account):
    early = make_app(begin(first, account))
    create(first, account)
    assert first.ask("POST", CREATED, early, account, 409)["error"] == "app_exists"


# ---- installing ----


class Account:
    """An account of its own, which connects to the code host by a replica."""

    def __init__(self, cluster):
        self.user = cluster.user()
        self.id = self.user.account

    def connect(self, replica, login):
        begun = replica.ask("GET", "/integrations/code_host/auth-url", None, self.id)
        code, state = consent(begun["auth_url"], login)
        body = {"code": code, "state": state, "redirect_uri": landing_of(begun["auth_url"])}
        return replica.ask("POST", "/integrations/code_host/callback", body, self.id)["connection"]


@pytest.fixture
def ready(cluster, first, code_host):
    """(replica, account, login): an app, and an account that is connected as a user of the code host."""
    account, login = Account(cluster), code_host.user().login
    create(first, account.id)
    account.connect(first, login)
    return first, account.id, login


def install(replica, account, login, repositories=()):
    address = replica.ask("GET", "/github/app/install-url", None, account)["install_url"]
    came = install_app(address, login, repositories)
    return {**came, "installation_id": int(came["installation_id"])}


def test_an_installation_is_confirmed(ready, code_host):
    replica, account, login = ready
    repo = code_host.repository(login)
    code_host.repository(login)
    assert replica.ask("GET", f"/github/app/installation?repo={repo}", None, account)["installed"] is False
    came = install(replica, account, login, [repo])
    assert replica.ask("POST", INSTALLED, came, account) == {
        "installed": True, "installation_id": came["installation_id"], "account": login, "repositories": [repo],
        "repository_selection": "selected",
    }  # fmt: skip
    assert replica.ask("GET", f"/github/app/installation?repo={repo}", None, account)["installed"] is True
    assert fault(replica.ask("POST", INSTALLED, came, account, 400)) == "state"


def test_a_forged_installation_is_not_yours(ready, code_host):
    replica, account, _ = ready
    stranger = code_host.user().login
    code_host.repository(stranger)
    forged = code_host.install(stranger)
    for number in (forged, 9007199254740991):
        answer = replica.ask("POST", INSTALLED, {"installation_id": number, "setup_action": "install"}, account)
        assert answer == {"installed": False, "reason": "not_yours"}


def test_without_a_connection_nothing_is_confirmed(ready, cluster, code_host):
    replica, account, login = ready
    came = install(replica, account, login)
    other = Account(cluster).id
    body = {"installation_id": came["installation_id"], "setup_action": "install"}
    assert replica.ask("POST", INSTALLED, body, other) == {"installed": False, "reason": "connect_first"}
    assert fault(replica.ask("POST", INSTALLED, came, other, 400)) == "state"
    code_host.drop_tokens(login)
    assert replica.ask("POST", INSTALLED, body, account) == {"installed": False, "reason": "connect_first"}


def test_an_installation_can_be_confirmed_again_while_the_code_host_is_away(ready, code_host):
    replica, account, login = ready
    came = install(replica, account, login)
    for path in ("^/user/installations\\?", "^/user/installations/[0-9]+/"):
        code_host.fail("GET", path, status=503)
        replica.ask("POST", INSTALLED, came, account, 503)
    assert replica.ask("POST", INSTALLED, came, account)["installed"] is True
    assert fault(replica.ask("POST", INSTALLED, came, account, 400)) == "state"


def test_what_an_owner_must_approve_is_told(ready):
    replica, account, _ = ready
    assert replica.ask("POST", INSTALLED, {"setup_action": "request"}, account) == {"installed": False, "reason": "requested"}


@pytest.mark.parametrize("body, field", [
    ({}, "installation_id"), ({"installation_id": "7"}, "installation_id"), ({"installation_id": 0}, "installation_id"),
    ({"installation_id": 7, "setup_action": "steal"}, "setup_action"), ({"installation_id": 7, "state": "made-up"}, "state"),
])  # fmt: skip
def test_a_wrong_installation_is_named(first, account, body, field):
    assert fault(first.ask("POST", INSTALLED, body, account, 400)) == field


# ---- secrets ----


def test_its_secrets_are_sealed_and_resealed(cluster, first, code_host, account, db, tmp_path):
    create(first, account)
    known = {"key": code_host.app_key.splitlines()[3], "secret": code_host.client["client_secret"], "hook": code_host.webhook_secret}
    assert Places(cluster, tmp_path).find(known) == set()
    keys = cluster.seal_key("new"), cluster.seal_key("test")
    cluster.run("svc-integrations", "reseal", SEAL_KEYS=",".join(keys))
    try:
        assert integrations_tables.app_secrets(db)[:4] == b"\x03new"
        assert first.ask("GET", "/integrations/code_host/auth-url", None, account, 409)["error"] == "conflict"
    finally:
        cluster.run("svc-integrations", "reseal", SEAL_KEYS=",".join(reversed(keys)))
    first.ask("GET", "/integrations/code_host/auth-url", None, account)


# ---- without the console ----


def page_of(text):
    action = html.unescape(re.search('action="([^"]*)"', text).group(1))
    return {"action": action, "manifest": json.loads(html.unescape(re.search('value="([^"]*)"', text).group(1)))}


def test_the_command_makes_the_app_too(cluster, first, account, tmp_path):
    file = tmp_path / "app.html"
    told = cluster.run("svc-integrations", "app-page", file, **NO_APP)
    came = make_app(page_of(file.read_text()))
    assert f"--state {came['state']} --code CODE" in told
    assert file.stat().st_mode & 0o777 == 0o600
    assert fault(first.ask("POST", CREATED, came, account, 400)) == "state"
    told = cluster.run("svc-integrations", "app-page", "--state", came["state"], "--code", came["code"], **NO_APP)
    assert "installations/new" in told
    assert first.ask("GET", APP, None, account)["source"] == "stored"
    with pytest.raises(RuntimeError, match="state: is none that this account got"):
        cluster.run("svc-integrations", "app-page", "--state", came["state"], "--code", came["code"], **NO_APP)
    with pytest.raises(RuntimeError, match="there is an app"):
        cluster.run("svc-integrations", "app-page", file, **NO_APP)


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--state", "x"], ["--state", "x", "--code", "y", "file"], ["--what", "file"]])
def test_wrong_arguments_of_the_command_print_its_usage(cluster, arguments):
    with pytest.raises(RuntimeError, match="usage: svc-integrations app-page"):
        cluster.run("svc-integrations", "app-page", *arguments)
