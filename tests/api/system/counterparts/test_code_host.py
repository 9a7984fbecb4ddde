"""The code host of the tests: it judges requests, its own answers are right, and it refuses what the real one refuses."""

import base64
import ctypes
import hashlib
import hmac
import json
import secrets
import time

import pytest

from lib.outside.counterparts import REDIRECT_URI, app_jwt, consent
from lib.wait import wait_for

WORKFLOW = """
name: Agent
on:
  workflow_dispatch:
    inputs:
      direction: {required: true, type: string}
      effort: {type: choice, options: [low, high], default: low}
"""
RUN = ".github/workflows/agent.yml"
FULL = {"contents": "write", "secrets": "write", "actions": "write", "pull_requests": "write", "workflows": "write"}


@pytest.fixture
def repo(host):
    """A repository with a workflow, whose owner has installed the app: (owner, full name, installation)."""
    owner = host.user()
    name = host.repository(owner.login, files={RUN: WORKFLOW})
    return owner, name, host.install(owner.login)


def jwt(host, **changes):
    return app_jwt(host.app_key, host.APP_ID, **changes)


def token_of(host, installation, repo, permissions=None):
    body = {"repositories": [repo.split("/")[1]], "permissions": permissions or FULL}
    answer = host.api("POST", f"/app/installations/{installation}/access_tokens", jwt(host), json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["token"]


def test_right_requests_are_no_violations(host, repo, faults):
    owner, name, installation = repo
    assert host.api("GET", f"/repos/{name}", owner.token).json()["permissions"]["push"]
    assert host.api("GET", f"/repos/{name}/installation", jwt(host)).json()["id"] == installation
    token = token_of(host, installation, name)
    assert host.api("GET", f"/repos/{name}/contents/{RUN}", token).json()["path"] == RUN
    assert host.api("GET", f"/repos/{name}/git/ref/heads/main", token).status_code == 200
    assert faults() == []


@pytest.mark.parametrize(
    "method, path, options",
    [
        ("GET", "/repos/{repo}?page_size=3", {}),
        ("GET", "/repos/{repo}/nowhere", {}),
        ("PATCH", "/repos/{repo}/git/ref/heads/main", {}),
        ("GET", "/repos/{repo}/issues?state=any", {}),
        ("POST", "/repos/{repo}/git/refs", {"json": {"ref": "refs/heads/x"}}),
        ("POST", "/repos/{repo}/pulls", {"json": {"base": "main", "head": 5}}),
        ("POST", "/repos/{repo}/pulls", {"json": {"base": "main", "head": "x", "titel": "?"}}),
        ("POST", "/repos/{repo}/pulls", {"content": "{", "headers": {"Content-Type": "application/json"}}),
        ("POST", "/repos/{repo}/forks", {"content": "a=b", "headers": {"Content-Type": "text/plain"}}),
        ("PUT", "/repos/{repo}/actions/secrets/KEY", {"json": {"encrypted_value": "no base64!", "key_id": "1"}}),
        ("POST", "/repos/{repo}/actions/workflows/agent.yml/dispatches", {"json": {"inputs": {}}}),
    ],
)
def test_a_wrong_request_is_a_violation(host, repo, faults, method, path, options):
    host.api(method, path.format(repo=repo[1]), repo[0].token, **options)
    assert len(faults()) >= 1


def test_a_request_without_user_agent_is_a_violation(host, repo, faults):
    host.api("GET", f"/repos/{repo[1]}", repo[0].token, headers={"User-Agent": ""})
    assert any("user-agent" in fault for fault in faults())


def test_requests_and_answers_are_judged(host, repo):
    before = host.control("GET", "/violations")["judged"]
    host.api("GET", f"/repos/{repo[1]}/actions/secrets/public-key", repo[0].token)
    after = host.control("GET", "/violations")["judged"]
    assert {name: after[name] - before[name] for name in after} == {"requests": 1, "answers": 1}
    path = f"/repos/{repo[1]}/actions/secrets/public-key"
    for body, is_right in (({"key_id": "1", "key": "a"}, True), ({"key_id": 1, "key": "a"}, False), ({"key": "a"}, False)):
        found = host.control("POST", "/judge", {"method": "GET", "path": path, "status": 200, "body": body})
        assert (found == []) == is_right, found


def test_the_jwt_is_verified(host, repo):
    now = int(time.time())
    assert host.api("GET", "/app", jwt(host)).json()["slug"] == host.SLUG
    for wrong in ({"exp": now - 1}, {"exp": now + 700}, {"iat": now + 60}, {"iss": "1"}):
        assert host.api("GET", "/app", jwt(host, **wrong)).status_code == 401, wrong
    text = jwt(host)
    assert host.api("GET", "/app", text[:-8] + "AAAAAAAA").status_code == 401
    assert host.api("GET", f"/repos/{repo[1]}/installation", repo[0].token).status_code == 401


def test_unknown_tokens_and_strangers_are_refused(host, repo, faults):
    owner, name, _ = repo
    stranger = host.user()
    private = host.repository(owner.login, private=True)
    assert host.api("GET", "/user", "gho_unknown").status_code == 401
    assert host.api("GET", f"/repos/{private}", stranger.token).status_code == 404
    told = host.api("GET", f"/repos/{name.upper()}", stranger.token).json()
    assert (told["full_name"], told["permissions"]["push"]) == (name, False)
    answer = host.api("GET", f"/repos/{name}/actions/secrets/public-key", stranger.token)
    assert answer.status_code == 403
    host.collaborate(name, stranger.login)
    assert host.api("GET", f"/repos/{name}", stranger.token).json()["permissions"]["push"]
    host.drop_tokens(stranger.login)
    assert host.api("GET", "/user", stranger.token).status_code == 401
    assert faults() == []


def test_a_token_is_limited_to_its_repository_and_permissions(host, repo):
    owner, name, installation = repo
    other = host.repository(owner.login, private=True)
    token = token_of(host, installation, name, {"contents": "read"})
    assert host.api("GET", f"/repos/{other}", token).status_code == 404
    body = {"message": "x", "content": base64.b64encode(b"x").decode()}
    assert host.api("PUT", f"/repos/{name}/contents/x", token, json=body).status_code == 403
    assert host.api("GET", f"/repos/{name}/actions/secrets/public-key", token).status_code == 403
    assert host.api("DELETE", "/installation/token", token).status_code == 204
    assert host.api("GET", f"/repos/{name}", token).status_code == 401


def test_an_installation_can_be_suspended_and_removed(host, repo):
    _, name, installation = repo
    token = token_of(host, installation, name)
    host.suspend(installation)
    answer = host.api("POST", f"/app/installations/{installation}/access_tokens", jwt(host), json={})
    assert answer.status_code == 403
    host.uninstall(installation)
    assert host.api("GET", f"/repos/{name}/installation", jwt(host)).status_code == 404
    assert host.api("GET", f"/repos/{name}", token).status_code == 401
    told = [row["payload"] for row in host.deliveries() if row["event"] == "installation"]
    mine = [row for row in told if row["installation"]["id"] == installation]
    assert [row["action"] for row in mine] == ["created", "suspend", "deleted"]
    assert [row["full_name"] for row in mine[0]["repositories"]] == [name]


def test_a_user_sees_the_installations_of_own_repositories(host, repo, faults):
    owner, name, installation = repo
    member = host.user()
    org = host.organisation(member.login)
    host.repository(org, "shared")
    theirs = host.install(org, ["shared"])

    def seen(user):
        return {row["id"] for row in host.api("GET", "/user/installations", user.token).json()["installations"]}

    assert seen(owner) == {installation} and seen(member) == {theirs} and seen(host.user()) == set()
    assert faults() == []


def seal(key, text):
    """A sealed box, by libsodium."""
    sodium = ctypes.CDLL("libsodium.so.23")
    sealed = ctypes.create_string_buffer(len(text) + 48)
    assert sodium.crypto_box_seal(sealed, text, ctypes.c_ulonglong(len(text)), base64.b64decode(key)) == 0
    return base64.b64encode(sealed.raw).decode()


def test_a_secret_is_stored_and_can_be_opened(host, repo, faults):
    _, name, installation = repo
    token, path = token_of(host, installation, name), f"/repos/{name}/actions/secrets"
    key = host.api("GET", f"{path}/public-key", token).json()
    for text, status in (("one", 201), ("zwei €", 204)):
        body = {"encrypted_value": seal(key["key"], text.encode()), "key_id": key["key_id"]}
        assert host.api("PUT", f"{path}/MODEL_KEY", token, json=body).status_code == status
        assert host.secret(name, "MODEL_KEY") == text
    for wrong in ({**body, "key_id": "1"}, {**body, "encrypted_value": base64.b64encode(bytes(60)).decode()}):
        assert host.api("PUT", f"{path}/MODEL_KEY", token, json=wrong).status_code == 422
    assert host.secret(name, "OTHER") is None
    assert faults() == []


def test_a_file_becomes_a_workflow_and_a_dispatch_a_run(host, repo, receiver, faults):
    _, name, installation = repo
    token, path = token_of(host, installation, name), f"/repos/{name}/actions/workflows/agent.yml"
    assert host.api("POST", f"{path[:-9]}none.yml/dispatches", token, json={"ref": "main"}).status_code == 404
    for wrong in ({"ref": "nowhere"}, {"ref": "main"}, {"ref": "main", "inputs": {"direction": "x", "effort": "most"}},
                  {"ref": "main", "inputs": {"direction": "x", "other": "y"}}):
        assert host.api("POST", f"{path}/dispatches", token, json=wrong).status_code == 422, wrong
    assert host.api("POST", f"{path}/dispatches", token, json={"ref": "main", "inputs": {"direction": "up"}}).status_code == 204
    run = host.api("GET", f"{path}/runs?per_page=1", token).json()["workflow_runs"][0]
    assert run["status"] == "queued" and host.runs(name)[0]["inputs"] == {"direction": "up"}
    host.change_run(run["id"], "in_progress")
    host.change_run(run["id"], "completed", "success")
    told = host.api("GET", f"/repos/{name}/actions/runs/{run['id']}", token).json()
    assert (told["status"], told["conclusion"]) == ("completed", "success")
    assert host.api("POST", f"/repos/{name}/actions/runs/{run['id']}/cancel", token).status_code == 409
    mine = [row["payload"] for row in host.deliveries() if row["event"] == "workflow_run"]
    assert [row["action"] for row in mine if row["repository"]["full_name"] == name] == ["requested", "in_progress", "completed"]
    assert faults() == []


def test_a_fork_shares_commits_and_follows_its_source(host, repo, faults):
    _, name, _ = repo
    forker = host.user()
    answer = host.api("POST", f"/repos/{name}/forks", forker.token, json={"default_branch_only": True})
    assert answer.status_code == 202
    fork = answer.json()["full_name"]
    told = host.api("GET", f"/repos/{fork}", forker.token).json()
    assert told["parent"]["full_name"] == told["source"]["full_name"] == name
    assert host.files(fork) == host.files(name)
    merge = f"/repos/{fork}/merge-upstream"
    assert host.api("POST", merge, forker.token, json={"branch": "main"}).json()["merge_type"] == "none"
    host.put_files(name, {"new.txt": "1"})
    assert host.api("POST", merge, forker.token, json={"branch": "main"}).json()["merge_type"] == "fast-forward"
    assert host.files(fork)["new.txt"] == "1"
    sha = host.api("GET", f"/repos/{name}/git/ref/heads/main", forker.token).json()["object"]["sha"]
    body = {"ref": "refs/heads/agent/one", "sha": sha}
    assert host.api("POST", f"/repos/{fork}/git/refs", forker.token, json=body).status_code == 201
    assert host.api("GET", f"/repos/{fork}/git/ref/heads/agent/one", forker.token).status_code == 200
    host.put_files(fork, {"mine.txt": "1"})
    host.put_files(name, {"theirs.txt": "1"})
    assert host.api("POST", merge, forker.token, json={"branch": "main"}).status_code == 409
    assert faults() == []


def open_pull(host, name, token):
    sha = host.api("GET", f"/repos/{name}/git/ref/heads/main", token).json()["object"]["sha"]
    host.api("POST", f"/repos/{name}/git/refs", token, json={"ref": "refs/heads/change", "sha": sha})
    body = {"message": "x", "content": base64.b64encode(b"x").decode(), "branch": "change"}
    assert host.api("PUT", f"/repos/{name}/contents/x.txt", token, json=body).status_code == 201
    body = {"title": "x", "head": "change", "base": "main"}
    return host.api("POST", f"/repos/{name}/pulls", token, json=body).json()["number"]


def test_events_are_signed_listed_and_sent_again(host, repo, receiver, faults):
    _, name, installation = repo
    number = open_pull(host, name, token_of(host, installation, name))

    def closed():
        rows = [row for row in host.deliveries() if row["event"] == "pull_request" and row["payload"]["action"] == "closed"]
        return [row for row in rows if row["payload"]["repository"]["full_name"] == name]

    with host.held_deliveries():
        host.merge(name, number)
        failed = wait_for(closed, "the merge was told")[0]
    assert failed["status_code"] == 0
    listed = host.api("GET", "/app/hook/deliveries?per_page=5&status=failure", jwt(host)).json()
    assert failed["guid"] in [row["guid"] for row in listed]
    assert host.api("POST", f"/app/hook/deliveries/{failed['id']}/attempts", jwt(host)).status_code == 202
    received = lambda: [r for r in receiver.requests if r[2].get("x-github-delivery") == failed["guid"]]  # noqa: E731
    _, _, headers, body = wait_for(received, "the event was sent again")[0]
    signature = hmac.new(host.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == f"sha256={signature}"
    payload = json.loads(body)
    assert payload["pull_request"]["merged"] and payload["installation"]["id"] == installation
    assert faults() == []


def test_requests_fail_on_demand(host, repo):
    owner, name, _ = repo
    after = host.last_number()
    host.limit(30, path=f"^/repos/{name}$", actor=f"user {owner.login}")
    answer = host.api("GET", f"/repos/{name}", owner.token)
    assert answer.status_code == 403 and answer.headers["x-ratelimit-remaining"] == "0"
    assert host.api("GET", f"/repos/{name}", owner.token).status_code == 200
    rows = host.requests(after, "GET", name)
    assert [(row["actor"], row["status"]) for row in rows] == [(f"user {owner.login}", 403), (f"user {owner.login}", 200)]


def exchange(host, code, verifier, redirect_uri=REDIRECT_URI):
    fields = {**host.client, "code": code, "code_verifier": verifier, "redirect_uri": redirect_uri}
    fields.pop("redirect_uris")
    answer = host.api("POST", "/login/oauth/access_token", data=fields, headers={"Accept": "application/json"})
    return answer.json()


def authorize(host, login, verifier):
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = f"client_id={host.client['client_id']}&redirect_uri={REDIRECT_URI}&state={secrets.token_hex(8)}"
    return consent(f"{host.url}/login/oauth/authorize?{query}&code_challenge={challenge}&code_challenge_method=S256", login)[0]


def test_pkce_and_the_redirect_address_are_checked(host):
    user, verifier = host.user(), secrets.token_urlsafe(48)
    code = authorize(host, user.login, verifier)
    assert exchange(host, code, "x" * 43)["error"] == "bad_verification_code"
    assert exchange(host, code, verifier, "http://127.0.0.1:1/other")["error"] == "redirect_uri_mismatch"
    token = exchange(host, code, verifier)["access_token"]
    assert host.api("GET", "/user", token).json()["login"] == user.login
    assert exchange(host, code, verifier)["error"] == "bad_verification_code"


def test_a_refresh_token_works_once(host):
    user, verifier = host.user(), secrets.token_urlsafe(48)
    host.set_token_lifetime(3600)
    made = exchange(host, authorize(host, user.login, verifier), verifier)
    host.set_token_lifetime(None)
    fields = {**host.client, "grant_type": "refresh_token", "refresh_token": made["refresh_token"]}
    fields.pop("redirect_uris")
    host.set_token_lifetime(3600)
    first = host.api("POST", "/login/oauth/access_token", data=fields).json()
    again = host.api("POST", "/login/oauth/access_token", data=fields).json()
    host.set_token_lifetime(None)
    assert again["error"] == "bad_refresh_token"
    assert host.api("GET", "/user", made["access_token"]).status_code == 401
    assert host.api("GET", "/user", first["access_token"]).status_code == 200
