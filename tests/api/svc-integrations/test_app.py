"""The public operations of the code-host app: install-url, installation, installation-token."""

import base64
import json
import time
from datetime import datetime, timedelta, timezone

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from lib.http import plain_http
from lib.outside.counterparts import connect
from lib.http.identity import identity
from lib.outside.webhooks import pull_request
from lib.tables import fleet as fleet_tables
from lib.tables import gateway as gateway_tables
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

TOKEN = "/github/installation-token"
NO_APP = {"CODE_HOST_APP_ID": "", "CODE_HOST_APP_KEY": ""}


def installation_of(developer, repo, **options):
    return developer.api.get("/github/app/installation", params={"repo": repo}, **options)


def token_of(developer, repo, **options):
    return developer.api.post(TOKEN, {"repo": repo}, **options)


def forget_access(cluster):
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_access(db)


# ---- the address that installs the app ----


def test_the_install_address_names_the_app_and_a_new_state(ada, code_host):
    first, second = (ada.api.get("/github/app/install-url", expect=200).json() for _ in range(2))
    assert first["configured"] is True and first["app_slug"] == code_host.SLUG
    assert first["install_url"] == f"{code_host.url}/apps/{code_host.SLUG}/installations/new?state={first['state']}"
    assert first["state"] != second["state"] and len(first["state"]) >= 40


def test_without_an_app_nothing_is_configured(cluster, ada, repo):
    process = cluster.separate("svc-integrations", "no-app", **NO_APP)
    process.start()
    try:
        process.wait_ready()
        ada.call("files/put", {"repo": repo, "branch": "main", "path": "x", "content": "", "message": "x"}, 409, url=process.url)
        problem = ada.call("installation", {"repo": repo}, 409, url=process.url)
        assert problem["error"] == "provider_not_configured"
    finally:
        process.stop()


# ---- the JWT ----


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_jwt_is_signed_with_rs256_and_lives_ten_minutes(cluster, ada, code_host):
    before = code_host.last_number()
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.forget_app_facts(db)
    ada.api.get("/github/app/install-url", expect=200)
    (request,) = code_host.requests(before, "GET", "^/app$")
    header, claims, signature = request["headers"]["authorization"].removeprefix("Bearer ").split(".")
    key = serialization.load_pem_private_key(code_host.app_key.encode(), None).public_key()
    key.verify(decode(signature), f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    assert json.loads(decode(header)) == {"alg": "RS256", "typ": "JWT"}
    claims, now = json.loads(decode(claims)), time.time()
    assert claims["iss"] == str(code_host.APP_ID)
    assert now - 70 < claims["iat"] <= now - 60 + 1
    assert now < claims["exp"] <= claims["iat"] + 600


# ---- installations ----


def test_an_installed_app_is_found(ada, code_host, installation, repo):
    found = installation_of(ada, repo, expect=200).json()
    assert found.pop("permissions")["contents"] == "write"
    assert found == {"installed": True, "installation_id": installation, "account": ada.login, "repo": repo, "suspended_at": None}


def nothing_of(repo):
    """The answer where the app is not installed, or nothing is the caller's."""
    return {"installed": False, "installation_id": None, "account": None, "repo": repo, "permissions": {}, "suspended_at": None}


def test_an_app_that_is_not_installed_is_not_found(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login)
    assert installation_of(bob, repo, expect=200).json() == nothing_of(repo)
    assert "not installed" in token_of(bob, repo, expect=404).json()["detail"]


@pytest.mark.parametrize("name", ["", "acme", "acme/", "/ranker", "acme/ranker/x", "acme/..", "a b/c", "acme/ranker?x=1", "a" * 201])
def test_a_name_of_another_form_is_400(ada, name):
    assert installation_of(ada, name).status_code == 400
    assert token_of(ada, name).status_code == 400


def lookups(code_host, before, owner):
    """How often the code host was asked whether the app is installed on a repository of the owner."""
    return len(code_host.requests(before, "GET", f"(?i)^/repos/{owner}/[^/]+/installation$"))


def test_that_an_app_is_not_installed_is_remembered_for_a_minute(cluster, new_developer, code_host, without_events):
    bob = new_developer()
    repo, before = code_host.repository(bob.login), code_host.last_number()
    for name in (repo, repo.upper(), repo):
        assert installation_of(bob, name, expect=200).json()["installed"] is False
    token_of(bob, repo, expect=404)
    assert lookups(code_host, before, bob.login) == 1
    code_host.install(bob.login)
    assert installation_of(bob, repo, expect=200).json()["installed"] is False
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_absences(db)
    assert installation_of(bob, repo, expect=200).json()["installed"] is True


def test_an_install_is_seen_at_once(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login)
    assert installation_of(bob, repo, expect=200).json()["installed"] is False
    code_host.install(bob.login)
    assert installation_of(bob, repo, expect=200).json()["installed"] is True


@pytest.fixture
def few_lookups(cluster):
    """A process that asks the code host about the app three times an hour for an account."""
    process = cluster.separate("svc-integrations", "few", CODE_HOST_LOOKUPS="3")
    process.start()
    try:
        process.wait_ready()
        yield process
    finally:
        process.stop()


def test_an_account_cannot_use_up_the_app_s_rate_limit_by_install_addresses(cluster, new_developer, code_host, few_lookups):
    bob, carol = new_developer(), new_developer()

    def ask(developer):
        auth = identity(cluster, "svc-integrations", account=developer.account)
        return plain_http.get(f"{few_lookups.url}/api/v1.0/github/app/install-url", auth=auth)

    assert [ask(bob).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert ask(carol).status_code == 200


def test_an_account_cannot_use_up_the_app_s_rate_limit_by_tokens(cluster, new_developer, code_host, few_lookups):
    bob, before = new_developer(), code_host.last_number()
    repo = code_host.repository(bob.login)
    code_host.install(bob.login)
    auth = identity(cluster, "svc-integrations", account=bob.account)

    def ask():
        url = f"{few_lookups.url}/api/v1.0{TOKEN}"
        return plain_http.post(url, json={"repo": repo}, auth=auth)

    # The first one also asks for the installation.
    assert [ask().status_code for _ in range(3)] == [200, 200, 429]
    assert ask().headers["Retry-After"]
    assert len(code_host.requests(before, "POST", "^/app/installations/")) == 2


def test_an_account_cannot_use_up_the_app_s_rate_limit_by_many_repositories(cluster, new_developer, code_host, few_lookups):
    """Of tokens that are kept there may be four times as many."""
    bob, carol = new_developer(), new_developer()
    code_host.install(bob.login)
    repo = code_host.repository(bob.login)
    code_host.collaborate(repo, carol.login)
    repos = [code_host.repository(bob.login) for _ in range(2)]
    for name in (repo, repos[0]):
        bob.call("repository", {"repo": name}, url=few_lookups.url)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.count_tokens(db, bob.account, 12)
    bob.call("repository", {"repo": repo}, url=few_lookups.url)
    assert bob.call("repository", {"repo": repos[1]}, 429, url=few_lookups.url)["error"] == "rate_limited"
    carol.call("secrets/get", {"repo": repo, "name": "KEY"}, url=few_lookups.url)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_lookups(db)
    bob.call("repository", {"repo": repos[1]}, url=few_lookups.url)


def test_an_account_cannot_use_up_the_limit_of_an_installation_by_lists(cluster, new_developer, code_host, few_lookups):
    bob, carol = new_developer(), new_developer()
    code_host.install(bob.login)
    repo = code_host.repository(bob.login)
    code_host.collaborate(repo, carol.login)
    lists = ("pull-requests/list", "issues/list", "runs/list")

    def read(developer, name, expect=200):
        return developer.call(name, {"repo": repo}, expect, "svc-fleet", url=few_lookups.url)

    for name in lists:
        read(bob, name)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.count_lists(db, bob.account, 11)
    read(bob, lists[0])
    for name in lists:
        assert read(bob, name, 429)["error"] == "rate_limited"
    read(carol, lists[0])
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_lookups(db)
    read(bob, lists[0])


def test_an_account_cannot_use_up_the_app_s_rate_limit(cluster, new_developer, code_host, few_lookups):
    bob, carol, before = new_developer(), new_developer(), code_host.last_number()
    repos = [code_host.repository(bob.login) for _ in range(5)]
    for name in repos[:3]:
        assert bob.call("installation", {"repo": name}, url=few_lookups.url)["installed"] is False
    for name in repos[3:]:
        assert bob.call("installation", {"repo": name}, 429, url=few_lookups.url)["error"] == "rate_limited"
    assert lookups(code_host, before, bob.login) == 3
    assert bob.call("installation", {"repo": repos[0]}, url=few_lookups.url)["installed"] is False
    carol.call("installation", {"repo": code_host.repository(carol.login)}, url=few_lookups.url)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_lookups(db)
    assert bob.call("installation", {"repo": repos[4]}, url=few_lookups.url)["installed"] is False


# ---- tokens ----


def test_a_token_is_for_one_repository(ada, code_host, repo):
    other = code_host.repository(ada.login, private=True)
    answer = token_of(ada, repo, expect=200)
    token = answer.json()
    assert token["repository"] == repo
    assert answer.headers["cache-control"] == "no-store"
    ends = datetime.fromisoformat(token["expires_at"].replace("Z", "+00:00"))
    assert ends - datetime.now(timezone.utc) >= timedelta(minutes=55)
    assert code_host.api("GET", f"/repos/{repo}", token["token"]).status_code == 200
    assert code_host.api("GET", f"/repos/{other}", token["token"]).status_code in (403, 404)


def test_a_token_has_no_more_than_an_agent_needs(ada, repo):
    permissions = token_of(ada, repo, expect=200).json()["permissions"]
    assert permissions["contents"] == "write" and permissions["pull_requests"] == "write"
    assert "secrets" not in permissions and "workflows" not in permissions and permissions.get("actions") != "write"


def test_permissions_that_the_app_lacks_are_left_out(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login)
    code_host.install(bob.login, permissions={"contents": "read", "metadata": "read"})
    assert token_of(bob, repo, expect=200).json()["permissions"] == {"contents": "read", "metadata": "read"}


def test_an_installation_without_any_of_them_gives_no_token(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login)
    code_host.install(bob.login, permissions={"checks": "write"})
    before = code_host.last_number()
    assert "lacks the permission" in token_of(bob, repo, expect=409).json()["detail"]
    assert not code_host.requests(before, "POST", "access_tokens")


def test_a_suspended_installation_is_not_installed_and_gives_no_token(new_developer, code_host):
    bob = new_developer()
    repo, installation = code_host.repository(bob.login), code_host.install(bob.login)
    before = datetime.now(timezone.utc) - timedelta(seconds=1)
    code_host.suspend(installation)
    found = installation_of(bob, repo, expect=200).json()
    assert (found["installed"], found["installation_id"], found["account"]) == (False, installation, bob.login)
    assert before <= datetime.fromisoformat(found["suspended_at"].replace("Z", "+00:00")) <= datetime.now(timezone.utc)
    assert installation_of(bob, repo, expect=200).json() == found
    assert f"suspended on {repo}" in token_of(bob, repo, expect=409).json()["detail"]
    code_host.suspend(installation, False)
    assert installation_of(bob, repo, expect=200).json()["suspended_at"] is None
    token_of(bob, repo, expect=200)


def test_a_suspension_without_an_event_is_learned_from_a_refused_token(cluster, new_developer, code_host, without_events):
    """Its end is seen within a minute."""
    bob = new_developer()
    repo, installation = code_host.repository(bob.login), code_host.install(bob.login)
    token_of(bob, repo, expect=200)
    code_host.suspend(installation)
    assert f"suspended on {repo}" in token_of(bob, repo, expect=409).json()["detail"]
    assert installation_of(bob, repo, expect=200).json()["installed"] is False
    code_host.suspend(installation, False)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_installations(db)
    assert installation_of(bob, repo, expect=200).json()["installed"] is True


def test_a_suspension_in_another_form_is_one(new_developer, code_host):
    bob = new_developer()
    repo, installation = code_host.repository(bob.login), code_host.install(bob.login)
    found = {"id": installation, "account": {"login": bob.login}, "permissions": {"contents": "write"}, "suspended_at": True}
    code_host.fail("GET", f"^/repos/{repo}/installation$", status=200, body=found)
    answer = installation_of(bob, repo, expect=200).json()
    assert answer["installed"] is False and answer["suspended_at"]


# ---- repositories that take no changes ----


@pytest.mark.parametrize("state", ["archived", "disabled"])
def test_what_a_repository_that_takes_no_changes_is_asked_for(ada, code_host, repo, state):
    """Though the account's access to it is remembered; and it is seen at once when it takes changes again."""
    file = {"repo": repo, "branch": "main", "path": "x", "content": "x", "message": "x"}
    dispatch = {"repo": repo, "workflow": "agent.yml", "key": state}
    change = {"repo": repo, "purpose": "change"}
    assert ada.call("installation", change)["obstacle"] is None
    code_host.change_repository(repo, **{state: True})
    for operation, body in (("workflows/dispatch", dispatch), ("files/put", file), ("secrets/put", {"repo": repo, "name": "X", "value": "x"})):
        assert f"{repo} is {state}" in ada.call(operation, body, 409)["detail"]
    assert ada.call("installation", change)["obstacle"].startswith(f"{repo} is {state}")
    ada.call("files/get", {"repo": repo, "path": "README.md"})
    assert installation_of(ada, repo, expect=200).json()["installed"] is True
    code_host.change_repository(repo, **{state: False})
    ada.call("files/put", file)
    assert ada.call("installation", change)["obstacle"] is None


@pytest.fixture
def without_events(code_host):
    """The code host's events do not arrive, which would make what is remembered of installations be forgotten."""
    with code_host.held_deliveries():
        yield


def test_an_installation_that_is_gone_is_looked_up_once_more(new_developer, code_host, without_events):
    bob = new_developer()
    repo, first = code_host.repository(bob.login), code_host.install(bob.login)
    assert installation_of(bob, repo, expect=200).json()["installation_id"] == first
    code_host.uninstall(first)
    second = code_host.install(bob.login)
    before = code_host.last_number()
    token_of(bob, repo, expect=200)
    asked = [row["target"] for row in code_host.requests(before, "POST", "access_tokens")]
    assert asked == [f"/app/installations/{number}/access_tokens" for number in (first, second)]
    code_host.uninstall(second)
    token_of(bob, repo, expect=404)
    assert installation_of(bob, repo, expect=200).json()["installed"] is False


def test_an_event_makes_an_installation_be_looked_up_again(new_developer, code_host):
    bob = new_developer()
    repo, first = code_host.repository(bob.login), code_host.install(bob.login)
    assert installation_of(bob, repo, expect=200).json()["installation_id"] == first
    code_host.uninstall(first)
    assert installation_of(bob, repo, expect=200).json()["installed"] is False


def test_a_renamed_repository_is_found_by_its_former_name(ada, code_host, repo):
    now = code_host.rename(repo, repo.split("/")[1] + "-renamed")
    for _ in range(2):
        token = token_of(ada, repo, expect=200).json()
        assert token["repository"] == now
        assert code_host.api("GET", f"/repos/{now}", token["token"]).status_code == 200


def test_a_token_that_ends_too_early_is_not_handed_out(ada, code_host, repo):
    soon = (datetime.now(timezone.utc) + timedelta(minutes=54)).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"token": "ghs_soon", "expires_at": soon, "permissions": {"contents": "write"}}
    code_host.fail("POST", "access_tokens$", status=201, body=body)
    assert "ghs_soon" not in token_of(ada, repo, expect=502).text


def test_an_app_that_the_code_host_refuses_is_not_taken_for_absent(ada, code_host, repo):
    code_host.fail("GET", f"^/repos/{repo}/installation$", status=401, body={"message": "Bad credentials"})
    assert "Bad credentials" in installation_of(ada, repo, expect=503).json()["detail"]


def test_a_code_host_that_is_away_is_503(ada, code_host, repo):
    code_host.fail("GET", f"^/repos/{repo}$", status=502)
    assert token_of(ada, repo, expect=503).headers["retry-after"]
    code_host.fail("GET", f"^/repos/{repo}$", drop=True, before=True, times=100)
    token_of(ada, repo, expect=503)
    code_host.stop_failing()
    token_of(ada, repo, expect=200)


def test_a_read_whose_connection_breaks_is_made_again(ada, code_host, repo):
    code_host.fail("GET", f"^/repos/{repo}$", drop=True, before=True, times=100)
    token_of(ada, repo, expect=503)  # leaves no connection that libcurl would replace by itself
    code_host.stop_failing()
    code_host.fail("GET", f"^/repos/{repo}$", drop=True, before=True, times=1)
    token_of(ada, repo, expect=200)


# ---- whose a repository is ----


def assert_shut(developer, repo):
    assert installation_of(developer, repo, expect=200).json() == nothing_of(repo)
    token_of(developer, repo, expect=404)


def test_an_account_without_a_connection_gets_nothing(cluster, ada, user, repo):
    token_of(ada, repo, expect=200)
    ada_without = type(ada)(cluster, user, ada.at_host)
    assert_shut(ada_without, repo)


def test_another_user_gets_nothing(ada, stranger, code_host, repo):
    token_of(ada, repo, expect=200)
    before = code_host.last_number()
    assert_shut(stranger, repo)
    assert not code_host.requests(before, path="installation")


@pytest.mark.parametrize("permission, status", [("pull", 404), ("push", 200), ("admin", 200)])
def test_push_access_decides(ada, stranger, code_host, repo, permission, status):
    code_host.collaborate(repo, stranger.login, permission)
    assert token_of(stranger, repo).status_code == status


def test_push_access_is_remembered_for_five_minutes(cluster, ada, new_developer, code_host, repo):
    bob = new_developer()
    collaborator = code_host.collaborate(repo, bob.login)
    before = code_host.last_number()
    for name in (repo, repo.upper()):
        token_of(bob, name, expect=200)
    assert len(code_host.requests(before, "GET", f"(?i)^/repos/{repo}$")) == 1
    code_host.leave(collaborator)
    token_of(bob, repo, expect=200)
    forget_access(cluster)
    assert_shut(bob, repo)


def test_a_no_is_not_remembered(stranger, code_host, repo):
    assert_shut(stranger, repo)
    code_host.collaborate(repo, stranger.login)
    token_of(stranger, repo, expect=200)


def test_push_access_ends_with_the_connection(ada, new_developer, code_host, repo):
    bob = new_developer()
    code_host.collaborate(repo, bob.login)
    token_of(bob, repo, expect=200)
    connect(bob.api, "code_host", code_host.user().login)
    assert_shut(bob, repo)
    connect(bob.api, "code_host", bob.login)
    token_of(bob, repo, expect=200)
    bob.api.delete("/integrations/code_host", expect=200)
    assert_shut(bob, repo)


@pytest.mark.parametrize("between", ["5 minutes", "7 days"])
def test_a_connection_that_the_code_host_refuses_says_so(db, new_developer, code_host, between):
    """It refuses good ones, too, for some minutes in its incidents."""
    bob = new_developer()
    repo = code_host.repository(bob.login)
    code_host.drop_tokens(bob.login)
    for _ in range(2):
        for _ in range(3):
            assert "connect again" in token_of(bob, repo, expect=503).json()["detail"]
        integrations_tables.age_refusal_of_code_host(db, bob.account, between)
    for _ in range(2):
        assert "connect again" in token_of(bob, repo, expect=409).json()["detail"]
        integrations_tables.age_refusal_of_code_host(db, bob.account, "2 days")
    connect(bob.api, "code_host", bob.login)
    code_host.fail("GET", f"^/repos/{repo}$", status=401)
    token_of(bob, repo, expect=503)


def test_a_refusal_now_and_then_is_no_end_of_a_connection(db, new_developer, code_host, repo):
    """It is accepted in between, though for another's repository."""
    bob = new_developer()
    own = code_host.repository(bob.login)
    for _ in range(4):
        code_host.fail("GET", f"^/repos/{own}$", status=401)
        token_of(bob, own, expect=503)
        integrations_tables.age_refusal_of_code_host(db, bob.account, "10 hours")
        token_of(bob, repo, expect=404)


@pytest.mark.parametrize("status", [401, 403, 451])
def test_an_answer_that_is_no_no_takes_nothing_from_an_account(cluster, collaborator, code_host, repo, status):
    bob, _, key = collaborator
    key.post("/fleet/runs", {"run_id": 1, "repo": repo}, expect=201)
    forget_access(cluster)
    code_host.fail("GET", f"^/repos/{repo}$", status=status, body={"message": "Not now"}, actor=f"user {bob.login}", times=2)
    key.problem("POST", TOKEN, 503, "unavailable", {"repo": repo})
    bob.call("access", {"repo": repo}, 503, "svc-fleet")
    with cluster.postgres.connect("integrations") as db:
        assert not integrations_tables.has_lost_access(db, bob.account)
    assert bob.call("access", {"repo": repo}, sender="svc-fleet") == {"access": True}


# ---- automation keys ----


@pytest.fixture
def automation(cluster):
    """automation(api, repo, is_verified): a new automation key of the account, as an Api."""

    def make(api, repo, is_verified):
        body = {"name": "agent", "kind": "automation", **({"repo": repo} if repo else {})}
        key = api.post("/account/api-keys", body, expect=201).json()
        with cluster.postgres.connect("account") as db:
            gateway_tables.set_repo_verified(db, key["id"], is_verified)
        return api.as_key(key["key"])

    return make


def test_a_verified_key_opens_its_own_repository(ada, automation, repo):
    key = automation(ada.api, repo, True)
    assert key.post(TOKEN, {"repo": repo}, expect=200).json()["repository"] == repo
    assert key.post(TOKEN, {"repo": repo.upper()}, expect=200)


def inbox(api, kind="access_lost"):
    return [item for item in api.get("/fleet/agents/inbox", expect=200).json() if item["kind"] == kind]


@pytest.fixture
def collaborator(new_developer, code_host, automation, repo):
    """Somebody whom ada let into her repository, and the verified key of an agent of theirs: (developer, id to leave, key)."""
    bob = new_developer()
    let_in = code_host.collaborate(repo, bob.login)
    return bob, let_in, automation(bob.api, repo, True)


def test_a_verified_key_opens_nothing_once_its_account_was_removed(cluster, collaborator, code_host, repo):
    bob, let_in, key = collaborator
    key.post(TOKEN, {"repo": repo}, expect=200)
    code_host.leave(let_in)
    forget_access(cluster)
    for _ in range(2):
        key.problem("POST", TOKEN, 404, "not_found", {"repo": repo})
    item, = wait_for(lambda: inbox(bob.api), "the inbox says so")
    assert (item["repo"], item["href"]) == (repo, f"{code_host.url}/{repo}") and repo in item["title"]
    key.post("/fleet/runs", {"run_id": 1, "repo": repo}, expect=201)
    code_host.collaborate(repo, bob.login)
    key.post("/fleet/runs", {"run_id": 1, "repo": repo}, expect=200)
    assert not inbox(bob.api)
    key.post(TOKEN, {"repo": repo}, expect=200)


def test_a_verified_key_opens_nothing_once_its_account_is_disconnected(collaborator, repo):
    bob, _, key = collaborator
    key.post("/fleet/runs", {"run_id": 1, "repo": repo}, expect=201)
    bob.api.delete("/integrations/code_host", expect=200)
    item, = wait_for(lambda: inbox(bob.api), "the inbox says so")
    assert item["repo"] == repo
    key.problem("POST", TOKEN, 404, "not_found", {"repo": repo})
    key.post("/fleet/runs", {"run_id": 1, "repo": repo, "status": "running"}, expect=200)
    assert [item["repo"] for item in inbox(bob.api)] == [repo]


def test_a_verified_key_opens_nothing_once_the_code_host_refuses_the_connection(cluster, collaborator, code_host, repo):
    bob, _, key = collaborator
    code_host.drop_tokens(bob.login)
    forget_access(cluster)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.refuse_twice(db, bob.account)
    assert "connect again" in key.problem("POST", TOKEN, 409, "conflict", {"repo": repo})["detail"]
    wait_for(lambda: inbox(bob.api), "the inbox says so")


def test_an_owner_that_was_removed_is_told_nothing_more(cluster, collaborator, code_host, hook, repo):
    bob, let_in, key = collaborator
    for number in (1, 2):
        url = f"https://github.com/{repo}/pull/{number}"
        key.post("/fleet/runs", {"run_id": number, "repo": repo, "status": "pr_opened", "artifact_url": url}, expect=201)

    def tell_merge(number):
        payload = pull_request(repo, number, "closed", "2026-01-03T09:00:00Z", state="closed", merged=True)
        hook.deliver("pull_request", payload)

    def stages():
        items = bob.api.get("/fleet/agents/report", expect=200).json()["deliverables"]
        return {item["url"].rsplit("/", 1)[1]: item["stage"] for item in items}

    tell_merge(1)
    wait_for(lambda: stages()["1"] == "merged", "an owner is told")
    code_host.leave(let_in)
    forget_access(cluster)
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.age_access(db, repo)
    tell_merge(2)
    wait_for(lambda: inbox(bob.api), "the access has ended")
    assert stages() == {"1": "merged", "2": "open"}


def test_access_does_not_end_while_the_code_host_is_away(cluster, collaborator, code_host, repo):
    bob, _, key = collaborator
    key.post("/fleet/runs", {"run_id": 1, "repo": repo}, expect=201)
    forget_access(cluster)
    code_host.fail("GET", f"/repos/{repo}$", status=502, times=20)
    key.problem("POST", TOKEN, 503, "unavailable", {"repo": repo})
    code_host.stop_failing()
    key.post(TOKEN, {"repo": repo}, expect=200)
    assert not inbox(bob.api)


def test_a_verified_key_opens_no_other_repository(ada, automation, code_host, repo):
    other = code_host.repository(ada.login)
    key = automation(ada.api, repo, True)
    key.problem("POST", TOKEN, 403, "forbidden", {"repo": other})
    key.problem("POST", "/github/fork", 403, "forbidden", {"repo": other})


def test_a_key_that_is_not_verified_opens_nothing_by_itself(user, automation, installation, repo):
    key = automation(user.api, repo, False)
    key.problem("POST", TOKEN, 404, "not_found", {"repo": repo})


def test_a_key_that_is_not_verified_needs_the_account_s_access(ada, automation, repo):
    key = automation(ada.api, repo, False)
    key.post(TOKEN, {"repo": repo}, expect=200)


def test_a_key_that_is_bound_to_no_repository_opens_nothing(ada, automation, repo):
    token_of(ada, repo, expect=200)
    key = automation(ada.api, None, False)
    key.problem("POST", TOKEN, 404, "not_found", {"repo": repo})


def test_the_scope_is_needed(ada, repo):
    key = ada.api.post("/account/api-keys", {"name": "reader", "preset": "read_only"}, expect=201).json()["key"]
    ada.api.as_key(key).problem("POST", TOKEN, 403, "insufficient_scope", {"repo": repo})


# ---- rate limits ----


@pytest.fixture
def bob(new_developer, code_host):
    """A developer with an installation of his own: (developer, repository, installation)."""
    developer = new_developer()
    return developer, code_host.repository(developer.login), code_host.install(developer.login)


@pytest.fixture
def replica(cluster):
    """A second replica of svc-integrations, with its own address."""
    process = cluster.separate("svc-integrations", "second")
    process.start()
    process.wait_ready()
    yield process
    process.stop()


@pytest.mark.parametrize("limit", ["limit", "limit_secondary"])
@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_is_obeyed_by_all_replicas(bob, replica, ada, code_host, repo, limit, status):
    developer, own, installation = bob
    body = {"repo": own}
    developer.call("repository", body)
    getattr(code_host, limit)(120, status=status, path=f"^/repos/{own}$", actor=f"installation {installation}")
    problem = developer.call("repository", body, 503)
    assert "rate limit" in problem["detail"]
    before = code_host.last_number()
    for url in (None, replica.url):
        assert developer.call("repository", body, 503, url=url)["error"] == "unavailable"
    assert not code_host.requests(before, path=f"^/repos/{own}$")
    ada.call("repository", {"repo": repo})


def test_a_client_is_told_how_long_to_wait(bob, code_host):
    developer, own, _ = bob
    code_host.limit_secondary(77, path=f"^/repos/{own}$", actor=f"user {developer.login}")
    first, second = (token_of(developer, own, expect=503) for _ in range(2))
    assert first.headers["retry-after"] == "77"
    assert 60 <= int(second.headers["retry-after"]) <= 77


def test_a_call_that_uses_up_the_limit_has_succeeded(bob, code_host):
    developer, own, installation = bob
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 120)}
    code_host.fail("GET", f"^/repos/{own}/readme$", headers=headers)
    assert developer.call("repository", {"repo": own})["readme"]
    developer.call("repository", {"repo": own}, 503)


def test_a_refusal_that_is_no_rate_limit_is_none(bob, code_host):
    developer, own, _ = bob
    code_host.fail("GET", f"^/repos/{own}/pulls", status=403, body={"message": "Resource not accessible by integration"})
    body = {"repo": own, "head": "x", "base": "main", "title": "x"}
    assert "not accessible" in developer.call("pull-requests/open", body, 409)["detail"]
    developer.call("repository", {"repo": own})
