"""The operations of /internal/code-host/, which other services use on behalf of an account."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.http import api_def, plain_http
from lib.http.identity import identity
from lib.outside.stub_server import StubServer
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

FILE = ".github/workflows/agent.yml"
WORKFLOW = """
name: Agent
on:
  workflow_dispatch:
    inputs:
      direction: {type: string}
"""


def file_of(repo, **changes):
    return {"repo": repo, "branch": "expops/agent", "path": FILE, "content": WORKFLOW, "message": "Add the agent", **changes}


def put(developer, repo, expect=200, url=None, **changes):
    return developer.call("files/put", file_of(repo, **changes), expect, url=url)


@pytest.fixture
def workflow(ada, repo):
    """A repository whose default branch has a workflow."""
    put(ada, repo, branch="main")
    return repo


# ---- who may ----

OPERATIONS = {
    "installation": {},
    "repository": {},
    "secrets/put": {"name": "KEY", "value": "x"},
    "secrets/get": {"name": "KEY"},
    "files/put": {"branch": "main", "path": "x", "content": "x", "message": "x"},
    "files/get": {"path": "x"},
    "pull-requests/open": {"head": "x", "base": "main", "title": "x"},
    "pull-requests/merge": {"number": 1},
    "workflows/dispatch": {"workflow": "agent.yml", "ref": "main", "key": "k"},
    "runs/latest": {},
    "runs/list": {},
    "runs/cancel": {"run_id": 1},
    "pull-requests/list": {},
    "issues/list": {},
}
FLEET = ("pull-requests/list", "issues/list", "runs/list", "runs/latest")
CALLERS = {"runs/cancel": "svc-experiments", **dict.fromkeys(FLEET, "svc-fleet")}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_another_account_gets_nothing_and_changes_nothing(stranger, code_host, workflow, operation):
    before = code_host.last_number()
    body = {"repo": workflow, **OPERATIONS[operation]}
    sender = CALLERS.get(operation, "svc-interests")
    problem = stranger.call(operation, body, 404, sender)
    assert problem["detail"] == "no such repository of this account; connect the code host as a user who can push to it"
    assert {row["actor"] for row in code_host.requests(before)} == {f"user {stranger.login}"}


def test_a_service_that_is_not_listed_gets_nothing(ada, repo):
    table = {path.removeprefix("/internal/code-host/"): callers for _, path, _, callers in api_def.internal_operations()}
    for operation, members in OPERATIONS.items():
        for sender in {"svc-interests", "svc-experiments", "svc-fleet"} - set(table[operation]):
            ada.call(operation, {"repo": repo, **members}, 404, sender)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_members_are_checked(ada, operation):
    sender = CALLERS.get(operation, "svc-interests")
    problem = ada.call(operation, {"repo": 5}, 400, sender)
    assert {fault["field"] for fault in problem["errors"]} >= {"repo"}


def test_access_is_told_to_svc_fleet_alone(ada, stranger, repo):
    assert ada.call("access", {"repo": repo.upper()}, sender="svc-fleet") == {"access": True}
    assert stranger.call("access", {"repo": repo}, sender="svc-fleet") == {"access": False}
    for sender in ("svc-interests", "svc-experiments"):
        ada.call("access", {"repo": repo}, 404, sender)


def test_the_proof_of_a_key_is_passed_on(cluster, user, ada, installation, repo, new_developer):
    without = type(ada)(cluster, user, ada.at_host)
    without.call("files/put", file_of(repo), 404)
    without.call("files/put", file_of(repo), 404, claims={"repo": repo})
    changed = ada.call("files/put", file_of(repo), claims={"repo": repo.upper()})
    assert changed["changed"] is True
    ada.call("files/put", file_of(repo), 403, claims={"repo": "acme/other"})


def test_a_repository_without_the_app_is_404(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login)
    assert "not installed" in put(bob, repo, 404)["detail"]


# ---- facts ----


def tokens_made(code_host, before):
    return len(code_host.requests(before, "POST", "/access_tokens$"))


def test_a_token_is_used_again(ada, new_developer, code_host, installation, repo):
    bob = new_developer()
    code_host.collaborate(repo, bob.login)
    before = code_host.last_number()
    for developer in (ada, ada, bob):
        developer.call("repository", {"repo": repo})
    assert tokens_made(code_host, before) == 1
    ada.call("files/put", file_of(repo))
    ada.call("repository", {"repo": code_host.repository(ada.login)})
    assert tokens_made(code_host, before) == 3


def test_a_new_token_that_is_not_known_everywhere_is_used_again(ada, code_host, installation, workflow):
    before = code_host.last_number()
    code_host.fail("POST", "/dispatches$", status=401, body={"message": "Bad credentials"}, before=True)
    made = dispatch(ada, workflow, "new")
    assert [run["id"] for run in code_host.runs(workflow)] == [made["run_id"]]
    assert tokens_made(code_host, before) == 1


def test_a_token_that_stays_refused_is_replaced(ada, code_host, installation, repo):
    """That is no fault of the account: a task tries again."""
    path = f"^/repos/{repo}$"
    code_host.fail("GET", path, status=401, body={"message": "Bad credentials"}, actor=f"installation {installation}", times=3)
    problem = ada.call("repository", {"repo": repo}, 503)
    assert problem["error"] == "unavailable" and "Bad credentials" in problem["detail"]
    before = code_host.last_number()
    ada.call("repository", {"repo": repo})
    assert tokens_made(code_host, before) == 1


def test_the_app_s_own_refusal_is_no_mistake_of_the_caller(ada, code_host, installation, repo):
    code_host.fail("POST", "/access_tokens$", status=401, body={"message": "Bad credentials"})
    assert ada.call("repository", {"repo": repo}, 503)["error"] == "unavailable"
    ada.call("repository", {"repo": repo})


def test_the_installation(ada, installation, repo):
    found = ada.call("installation", {"repo": repo})
    assert found["installed"] is True and found["installation_id"] == installation


def test_facts_and_readme(ada, code_host, installation):
    repo = code_host.repository(ada.login, description="Ranks papers", files={"README.md": "# Ranker\n\nžluťoučký\n"})
    facts = ada.call("repository", {"repo": repo.upper()})
    assert facts["repo"] == repo and facts["description"] == "Ranks papers" and facts["default_branch"] == "main"
    assert facts["readme"] == {"path": "README.md", "text": "# Ranker\n\nžluťoučký\n", "is_cut": False}


def test_facts_need_no_installation(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login, private=True, auto_init=False)
    facts = bob.call("repository", {"repo": repo})
    assert facts["private"] is True and facts["readme"] is None


def test_a_long_readme_is_cut(ada, code_host, installation):
    repo = code_host.repository(ada.login, files={"README.md": "word " * 100_000})
    readme = ada.call("repository", {"repo": repo})["readme"]
    assert readme["is_cut"] is True and len(readme["text"]) == 256 * 1024


def test_a_readme_that_is_no_text_is_read_to_its_end(ada, code_host, installation):
    repo = code_host.repository(ada.login, files={"README.md": "R\0a\0nker"})
    assert ada.call("repository", {"repo": repo})["readme"]["text"] == "R\ufffda\ufffdnker"


# ---- secrets ----


def test_a_secret_is_sealed_for_the_repository(ada, code_host, repo):
    body = {"repo": repo, "name": "EXPOPS_KEY", "value": "auto_" + "x" * 5000}
    assert ada.call("secrets/put", body) == {"repo": repo, "name": "EXPOPS_KEY", "outcome": "created", "base_url": None}
    assert code_host.secret(repo, "EXPOPS_KEY") == body["value"]
    assert ada.call("secrets/put", {**body, "value": "ž"})["outcome"] == "updated"
    assert code_host.secret(repo, "EXPOPS_KEY") == "ž"
    assert not [row for row in code_host.requests() if "auto_xxx" in row["body"]]


def test_whether_a_secret_is_there(ada, repo):
    body = {"repo": repo, "name": "EXPOPS_KEY"}
    assert ada.call("secrets/get", body) == {**body, "found": False}
    ada.call("secrets/put", {**body, "value": "x"})
    assert ada.call("secrets/get", body) == {**body, "found": True}
    ada.call("secrets/get", {**body, "name": "A/B"}, 400)


@pytest.mark.parametrize("name", ["1KEY", "GITHUB_TOKEN", "github_x", "A-B", "A B", "A/B", ""])
def test_a_name_that_the_code_host_refuses_is_400(ada, repo, name):
    ada.call("secrets/put", {"repo": repo, "name": name, "value": "x"}, 400)


def test_a_secret_has_one_source(ada, repo):
    for body in ({}, {"value": "x", "model_provider": "openai"}):
        ada.call("secrets/put", {"repo": repo, "name": "KEY", **body}, 400)


def test_the_model_key_of_the_account(cluster, ada, code_host, repo):
    body = {"repo": repo, "name": "MODEL_KEY", "model_provider": "custom"}
    assert ada.call("secrets/put", body)["outcome"] == "model_key_missing"
    assert code_host.secret(repo, "MODEL_KEY") is None
    models = StubServer(lambda request: request.reply(200, '{"object": "list", "data": []}', Content_Type="application/json"))
    process = cluster.separate("svc-integrations", "models", FETCH_ALLOW="127.0.0.0/8")
    process.start()
    try:
        process.wait_ready()
        auth = identity(cluster, "svc-integrations", account=ada.account)
        url, key = f"{process.url}/api/v1.0/integrations/custom/connect", {"api_key": "sk-test", "base_url": f"{models.url}/v1"}
        assert plain_http.post(url, json=key, auth=auth).status_code == 200
    finally:
        process.stop()
        models.close()
    put_key = ada.call("secrets/put", body)
    assert put_key["outcome"] == "created" and put_key["base_url"] == f"{models.url}/v1"
    assert code_host.secret(repo, "MODEL_KEY") == "sk-test"
    ada.call("secrets/put", {**body, "model_provider": "tracker_a"}, 409)
    ada.call("secrets/put", {**body, "model_provider": "nobody"}, 404)


# ---- files ----


def test_a_file_comes_on_a_new_branch(ada, code_host, repo):
    made = put(ada, repo)
    commit = made.pop("commit_sha")
    assert re.fullmatch("[0-9a-f]{40}", commit)
    assert made == {"repo": repo, "branch": "expops/agent", "branch_created": True, "path": FILE, "changed": True}
    assert code_host.files(repo, "expops/agent")[FILE] == WORKFLOW
    assert FILE not in code_host.files(repo)


def test_a_repeated_put_changes_nothing(ada, code_host, repo):
    first, second = put(ada, repo), put(ada, repo)
    assert second == {**first, "branch_created": False, "changed": False}


def test_a_put_replaces_another_content(ada, code_host, repo):
    put(ada, repo)
    for content in ("", "ž\n" * 1000, WORKFLOW):
        assert put(ada, repo, content=content)["changed"] is True
        assert code_host.files(repo, "expops/agent")[FILE] == content


def test_a_branch_begins_at_its_base(ada, code_host, repo):
    put(ada, repo, branch="first", path="a b/ž.txt", content="1")
    put(ada, repo, branch="second", base="first", content="2")
    files = code_host.files(repo, "second")
    assert files["a b/ž.txt"] == "1" and files[FILE] == "2"


def test_a_file_is_read(ada, code_host, repo):
    put(ada, repo)
    body = {"repo": repo, "path": FILE, "branch": "expops/agent"}
    assert ada.call("files/get", body) == {"repo": repo, "path": FILE, "found": True, "content": WORKFLOW}
    absent = {"found": False, "content": None}
    assert ada.call("files/get", {**body, "branch": None}) == {"repo": repo, "path": FILE, **absent}
    assert ada.call("files/get", {**body, "branch": "nowhere"}) == {"repo": repo, "path": FILE, **absent}
    folder = ada.call("files/get", {**body, "path": ".github/workflows"})
    assert folder["found"] is True and folder["content"] is None
    ada.call("files/get", {**body, "path": "../x"}, 400)


@pytest.mark.parametrize(
    "member, value",
    [("base", "nowhere"), ("branch", "a..b"), ("branch", "-x"), ("branch", "a b"), ("branch", "x.lock"), ("branch", "x/"),
     ("path", "/x"), ("path", "a//b"), ("path", "../x"), ("path", "a/./b"), ("path", ".git/config"), ("path", "a/"),
     ("message", ""), ("content", None), ("content", "x" * (512 * 1024 + 1))],
)  # fmt: skip
def test_what_git_does_not_take_is_400(ada, repo, member, value):
    problem = put(ada, repo, 400, **{member: value})
    assert [fault["field"] for fault in problem["errors"]] == [member]


def test_a_folder_at_the_path_is_409(ada, repo):
    put(ada, repo)
    assert "folder" in put(ada, repo, 409, path=".github/workflows")["detail"]


def test_somebody_else_s_write_is_looked_at_again(ada, code_host, repo):
    put(ada, repo)
    code_host.fail("PUT", "/contents/", status=409, body={"message": "does not match"})
    assert put(ada, repo, content="on: push\n")["changed"] is True


def test_a_lost_answer_of_a_write_converges(ada, code_host, repo):
    put(ada, repo)
    code_host.fail("PUT", "/contents/", drop=True)
    assert put(ada, repo, 503, content="on: push\n")["error"] == "outcome_uncertain"
    assert put(ada, repo, content="on: push\n")["changed"] is False


@pytest.mark.parametrize("failure", [{"status": 502}, {"hang": True}])
def test_a_change_without_an_answer_is_uncertain(cluster, ada, code_host, repo, failure):
    process = cluster.separate("svc-integrations", "hasty", REQUEST_TIMEOUT="3s")
    process.start()
    try:
        process.wait_ready()
        code_host.fail("PUT", "/contents/", **failure)
        assert put(ada, repo, 503, url=process.url)["error"] == "outcome_uncertain"
    finally:
        process.stop()
    assert put(ada, repo)["commit_sha"]


def test_a_token_that_was_not_answered_changes_nothing(ada, code_host, repo):
    code_host.fail("POST", "access_tokens$", status=502)
    assert put(ada, repo, 503)["error"] == "unavailable"


def test_a_lost_answer_of_a_new_branch_converges(ada, code_host, repo):
    code_host.fail("POST", "/git/refs$", drop=True)
    assert put(ada, repo, 503)["error"] == "outcome_uncertain"
    assert put(ada, repo)["changed"] is True


def test_a_workflow_needs_its_permission(new_developer, code_host):
    bob = new_developer()
    repo = code_host.repository(bob.login)
    code_host.install(bob.login, permissions={"contents": "write", "metadata": "read"})
    put(bob, repo, path="notes.md")
    put(bob, repo, 409)


def test_a_branch_is_written_by_one_at_a_time(ada, cluster, code_host, repo):
    """Two replicas, and a code host that answers slowly: no write begins before the last one has ended."""
    second = cluster.separate("svc-integrations", "writer")
    second.start()
    try:
        second.wait_ready()
        put(ada, repo)
        before = code_host.last_number()
        urls = [cluster.url("svc-integrations"), second.url]
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda n: put(ada, repo, path=f"{n}.txt", content=str(n), url=urls[n % 2]), range(8)))
    finally:
        second.stop()
    assert all(row["changed"] for row in made)
    files = code_host.files(repo, "expops/agent")
    assert [files[f"{n}.txt"] for n in range(8)] == [str(n) for n in range(8)]
    rows = [(row["method"], row["target"].split("?")[0]) for row in code_host.requests(before, path="/contents/")]
    assert [method for method, _ in rows] == ["GET", "PUT"] * 8
    assert all(looked == written for (_, looked), (_, written) in zip(rows[::2], rows[1::2]))


# ---- pull requests ----


def open_pull(developer, repo, expect=200, **changes):
    body = {"repo": repo, "head": "expops/agent", "title": "Add the agent", "body": "A workflow.", **changes}
    return developer.call("pull-requests/open", body, expect)


def test_a_pull_request_is_opened_once(ada, repo):
    commit = put(ada, repo)["commit_sha"]
    first = open_pull(ada, repo)
    pull = first["pull_request"]
    assert first["created"] is True and first["repo"] == repo
    assert (pull["state"], pull["merged"], pull["head"], pull["base"]) == ("open", False, "expops/agent", "main")
    assert pull["head_sha"] == commit and pull["title"] == "Add the agent"
    again = open_pull(ada, repo, title="Another title", base="main")
    assert again["created"] is False and again["pull_request"]["number"] == pull["number"]
    assert again["pull_request"]["title"] == "Add the agent"


def test_a_lost_answer_of_a_pull_request_converges(ada, code_host, repo):
    put(ada, repo)
    code_host.fail("POST", "/pulls$", drop=True)
    open_pull(ada, repo, 503)
    assert open_pull(ada, repo)["created"] is False


def test_a_merged_branch_finds_its_pull_request(ada, code_host, repo):
    put(ada, repo)
    number = open_pull(ada, repo)["pull_request"]["number"]
    code_host.merge(repo, number)
    refusal = {"message": "Validation Failed", "errors": [{"message": "No commits between main and expops/agent"}]}
    code_host.fail("POST", "/pulls$", status=422, body=refusal)
    found = open_pull(ada, repo)
    assert found["created"] is False and found["pull_request"]["number"] == number
    assert found["pull_request"]["merged"] is True


def test_nothing_to_merge_is_409(ada, code_host, repo):
    put(ada, repo)
    refusal = {"message": "Validation Failed", "errors": [{"message": "No commits between main and expops/agent"}]}
    code_host.fail("POST", "/pulls$", status=422, body=refusal)
    assert "No commits between" in open_pull(ada, repo, 409)["detail"]


def test_a_pull_request_is_merged_once(ada, code_host, repo):
    commit = put(ada, repo)["commit_sha"]
    number = open_pull(ada, repo)["pull_request"]["number"]
    body = {"repo": repo, "number": number, "sha": commit}
    for _ in range(2):
        merged = ada.call("pull-requests/merge", body)
        assert merged["merged"] is True and merged["pull_request"]["state"] == "closed"
    assert code_host.files(repo)[FILE] == WORKFLOW
    assert len(code_host.requests(method="PUT", path=f"^/repos/{repo}/pulls/{number}/merge$")) == 1


def test_a_lost_answer_of_a_merge_converges(ada, code_host, repo):
    put(ada, repo)
    body = {"repo": repo, "number": open_pull(ada, repo)["pull_request"]["number"]}
    code_host.fail("PUT", "/merge$", drop=True)
    ada.call("pull-requests/merge", body, 503)
    assert ada.call("pull-requests/merge", body)["merged"] is True


def test_a_branch_that_has_moved_on_is_not_merged(ada, repo):
    put(ada, repo)
    number = open_pull(ada, repo)["pull_request"]["number"]
    ada.call("pull-requests/merge", {"repo": repo, "number": number, "sha": "0" * 40}, 409)
    ada.call("pull-requests/merge", {"repo": repo, "number": 9999}, 404)


def test_open_pull_requests_are_listed_in_pages(ada, repo):
    for branch in ("one", "two", "three"):
        put(ada, repo, branch=branch, path=f"{branch}.txt", content=branch)
        open_pull(ada, repo, head=branch, title=branch)
    options = {"sender": "svc-fleet"}
    first = ada.call("pull-requests/list", {"repo": repo, "per_page": 2}, **options)
    second = ada.call("pull-requests/list", {"repo": repo, "per_page": 2, "page": first["next_page"]}, **options)
    assert second["next_page"] is None
    titles = [pull["title"] for pull in first["pull_requests"] + second["pull_requests"]]
    assert sorted(titles) == ["one", "three", "two"]


def test_issues_are_listed_without_pull_requests(ada, code_host, repo):
    put(ada, repo)
    open_pull(ada, repo)
    answer = code_host.api("POST", f"/repos/{repo}/issues", ada.at_host.token, json={"title": "Slow", "labels": ["bug"]})
    assert answer.status_code == 201, answer.text
    (issue,) = ada.call("issues/list", {"repo": repo}, sender="svc-fleet")["issues"]
    assert (issue["title"], issue["labels"], issue["state"], issue["author"]) == ("Slow", ["bug"], "open", ada.login)


def test_what_changed_since_a_time_is_listed(ada, code_host, repo):
    for branch in ("one", "two"):
        put(ada, repo, branch=branch, path=f"{branch}.txt", content=branch)
        open_pull(ada, repo, head=branch, title=branch)
    pulls = ada.call("pull-requests/list", {"repo": repo}, sender="svc-fleet")["pull_requests"]
    code_host.merge(repo, pulls[1]["number"])
    body = {"repo": repo, "state": "all", "since": "2020-01-01T00:00:00Z"}
    changed = ada.call("pull-requests/list", body, sender="svc-fleet")["pull_requests"]
    assert {pull["title"]: (pull["state"], pull["merged"]) for pull in changed} == {"one": ("closed", True), "two": ("open", False)}
    for operation, member in (("pull-requests/list", "pull_requests"), ("issues/list", "issues")):
        later = ada.call(operation, {**body, "since": "2100-01-01T00:00:00Z", "per_page": 1}, sender="svc-fleet")
        assert later[member] == [] and later["next_page"] is None
    for wrong in ({"state": "closed"}, {"since": "yesterday"}):
        ada.call("pull-requests/list", {"repo": repo, **wrong}, 400, sender="svc-fleet")


def test_a_repository_without_issues_has_none(ada, code_host, repo):
    code_host.fail("GET", f"^/repos/{repo}/issues", status=410, body={"message": "Issues are disabled for this repo"})
    assert ada.call("issues/list", {"repo": repo}, sender="svc-fleet")["issues"] == []


# ---- runs ----


def dispatch(developer, repo, key, expect=200, **changes):
    body = {"repo": repo, "workflow": "agent.yml", "ref": "main", "inputs": {"direction": "up"}, "key": key, **changes}
    return developer.call("workflows/dispatch", body, expect)


def test_a_key_starts_one_run(ada, code_host, workflow):
    first, second = dispatch(ada, workflow, "a"), dispatch(ada, workflow, "a")
    assert second == {**first, "repeated": True}
    (run,) = code_host.runs(workflow)
    assert (run["id"], run["inputs"]) == (first["run_id"], {"direction": "up"})
    other = dispatch(ada, workflow, "b")
    assert other["run_id"] != first["run_id"] and other["repeated"] is False
    assert dispatch(ada, workflow, "b", 409, workflow="other.yml")


def test_a_key_starts_one_run_for_many_requests_at_once(ada, cluster, code_host, workflow):
    """Two replicas, and the name of the repository in other cases."""
    second = cluster.separate("svc-integrations", "dispatcher")
    second.start()
    try:
        second.wait_ready()
        calls = [(name, url) for name in (workflow, workflow.upper()) for url in (None, second.url)]
        with ThreadPoolExecutor(len(calls)) as pool:
            body = {"workflow": "agent.yml", "ref": "main", "key": "many"}
            made = pool.map(lambda call: ada.call("workflows/dispatch", {"repo": call[0], **body}, url=call[1]), calls)
            numbers = {run["run_id"] for run in made}
    finally:
        second.stop()
    assert [run["id"] for run in code_host.runs(workflow)] == list(numbers)


def test_keys_belong_to_an_account(ada, new_developer, code_host, workflow):
    bob = new_developer()
    code_host.collaborate(workflow, bob.login)
    assert dispatch(ada, workflow, "c")["run_id"] != dispatch(bob, workflow, "c")["run_id"]


def test_a_lost_answer_of_a_dispatch_is_not_sent_again(ada, code_host, workflow):
    dispatch(ada, workflow, "before")
    code_host.fail("POST", "/dispatches$", drop=True)
    assert dispatch(ada, workflow, "lost", 503)["error"] == "outcome_uncertain"
    found = dispatch(ada, workflow, "lost")
    assert found["repeated"] is True
    assert [run["id"] for run in code_host.runs(workflow)][1:] == [found["run_id"]]


RUNS = "/workflows/agent.yml/runs"


def test_a_dispatch_is_not_sent_again_when_nobody_can_look_for_its_run(ada, code_host, workflow):
    code_host.fail("POST", "/dispatches$", drop=True)
    dispatch(ada, workflow, "unseen", 503)
    for failure in ({"path": RUNS, "status": 502}, {"path": f"^/repos/{workflow}$", "status": 502}):
        code_host.fail("GET", **failure)
        assert dispatch(ada, workflow, "unseen", 503)["error"] == "outcome_uncertain"
    found = dispatch(ada, workflow, "unseen")
    assert [run["id"] for run in code_host.runs(workflow)] == [found["run_id"]]


def test_a_dispatch_is_sent_again_only_when_its_run_would_be_there(ada, db, code_host, workflow):
    """The code host has not taken the first."""
    code_host.fail("POST", "/dispatches$", drop=True, before=True)
    dispatch(ada, workflow, "early", 503)
    before = code_host.last_number()
    problem = dispatch(ada, workflow, "early", 503)
    assert problem["error"] == "outcome_uncertain" and not code_host.requests(before, "POST", "/dispatches$")
    integrations_tables.pass_dispatch(db, "early")
    made = dispatch(ada, workflow, "early")
    assert [run["id"] for run in code_host.runs(workflow)] == [made["run_id"]]


def test_a_dispatch_that_is_sent_again_has_its_time_from_then_on(ada, db, code_host, workflow):
    """Both answers are lost, and the second run is not shown yet."""
    for _ in range(2):
        code_host.fail("POST", "/dispatches$", drop=True, before=True)
        dispatch(ada, workflow, "twice", 503)
        before = code_host.last_number()
        assert dispatch(ada, workflow, "twice", 503)["error"] == "outcome_uncertain"
        assert not code_host.requests(before, "POST", "/dispatches$")
        integrations_tables.pass_dispatch(db, "twice")
    made = dispatch(ada, workflow, "twice")
    assert [run["id"] for run in code_host.runs(workflow)] == [made["run_id"]]


def test_a_dispatch_that_was_not_sent_takes_no_run_of_somebody_else(ada, db, code_host, workflow):
    path = f"/repos/{workflow}/actions/workflows/agent.yml/dispatches"
    code_host.limit_secondary(77, path="/dispatches$")
    assert dispatch(ada, workflow, "limited", 503)["error"] == "unavailable"
    assert code_host.api("POST", path, ada.at_host.token, json={"ref": "main"}).status_code == 204
    integrations_tables.end_limits(db)
    made = dispatch(ada, workflow, "limited")
    assert made["repeated"] is False
    assert [run["id"] for run in code_host.runs(workflow)][1:] == [made["run_id"]]


def test_a_run_that_was_started_is_never_said_to_be_undone(ada, db, code_host, workflow):
    with integrations_tables.answers_refused(db):
        assert dispatch(ada, workflow, "answered", 503)["error"] == "outcome_uncertain"
    found = dispatch(ada, workflow, "answered")
    assert [run["id"] for run in code_host.runs(workflow)] == [found["run_id"]]


def test_the_run_of_a_key_can_be_asked_for(ada, code_host, workflow):
    """As who cancels it does: nothing is started, then or later."""
    made = dispatch(ada, workflow, "made")
    assert dispatch(ada, workflow, "made", only_known=True)["run_id"] == made["run_id"]
    code_host.fail("POST", "/dispatches$", drop=True)
    dispatch(ada, workflow, "perhaps", 503)
    assert dispatch(ada, workflow, "perhaps", only_known=True)["run_id"] == code_host.runs(workflow)[-1]["id"]
    for only_known in (True, False):
        assert dispatch(ada, workflow, "ended", only_known=only_known)["run_id"] is None
    assert len(code_host.runs(workflow)) == 2


def test_a_dispatch_that_was_refused_can_be_tried_again(ada, code_host, workflow):
    assert "Unexpected inputs" in dispatch(ada, workflow, "d", 409, inputs={"speed": "high"})["detail"]
    assert dispatch(ada, workflow, "d")["repeated"] is False
    dispatch(ada, workflow, "e", 404, workflow="nowhere.yml")
    dispatch(ada, workflow, "f", 409, ref="nowhere")


def test_a_code_host_that_does_not_name_the_run(ada, code_host, workflow):
    """It answers 204, and the run comes to be a moment later."""
    dispatch(ada, workflow, "named")
    path, before = f"/repos/{workflow}/actions/workflows/agent.yml/dispatches", code_host.last_number()
    code_host.fail("POST", "/dispatches$", status=204, body="")
    with ThreadPoolExecutor(1) as pool:
        unnamed = pool.submit(dispatch, ada, workflow, "unnamed")
        wait_for(lambda: code_host.requests(before, "POST", path), "the dispatch was sent")
        assert code_host.api("POST", path, ada.at_host.token, json={"ref": "main"}).status_code == 204
        made = unnamed.result()
    assert made["run_id"] == code_host.runs(workflow)[-1]["id"]


@pytest.mark.parametrize("inputs", [{"a": 1}, {f"i{n}": "x" for n in range(26)}, []])
def test_inputs_are_at_most_25_texts(ada, workflow, inputs):
    dispatch(ada, workflow, "g", 400, inputs=inputs)


def test_the_latest_run(ada, code_host, workflow):
    assert ada.call("runs/latest", {"repo": workflow}, sender="svc-fleet")["run"] is None
    assert ada.call("runs/latest", {"repo": workflow, "workflow": "nowhere.yml"}, sender="svc-fleet")["run"] is None
    first, second = dispatch(ada, workflow, "h")["run_id"], dispatch(ada, workflow, "i")["run_id"]
    code_host.change_run(second, "completed", "success")
    for body in ({}, {"workflow": "agent.yml"}, {"branch": "main"}, {"run_id": second}):
        run = ada.call("runs/latest", {"repo": workflow, **body}, sender="svc-fleet")["run"]
        assert (run["run_id"], run["status"], run["conclusion"]) == (second, "completed", "success")
        assert run["event"] == "workflow_dispatch" and run["branch"] == "main"
    assert ada.call("runs/latest", {"repo": workflow, "branch": "nowhere"}, sender="svc-fleet")["run"] is None
    assert ada.call("runs/latest", {"repo": workflow, "run_id": first}, sender="svc-fleet")["run"]["status"] == "queued"
    ada.call("runs/latest", {"repo": workflow, "run_id": 987654321}, 404, sender="svc-fleet")


def test_runs_are_listed_in_pages(ada, workflow):
    made = [dispatch(ada, workflow, key)["run_id"] for key in "klm"]
    body = {"repo": workflow, "workflow": "agent.yml", "per_page": 2}
    first = ada.call("runs/list", body, sender="svc-fleet")
    second = ada.call("runs/list", {**body, "page": first["next_page"]}, sender="svc-fleet")
    found = [run["run_id"] for run in first["workflow_runs"] + second["workflow_runs"]]
    assert sorted(found) == made and second["next_page"] is None
    for later in ({"since": "2100-01-01T00:00:00Z"}, {"workflow": "nowhere.yml"}):
        assert ada.call("runs/list", {**body, **later}, sender="svc-fleet")["workflow_runs"] == []


def test_a_run_without_a_ref_is_of_the_default_branch(ada, code_host, workflow):
    assert dispatch(ada, workflow, "n", ref=None)["ref"] == "main"


def test_a_run_is_cancelled_once(ada, code_host, workflow):
    body = {"repo": workflow, "run_id": dispatch(ada, workflow, "j")["run_id"]}
    assert ada.call("runs/cancel", body, sender="svc-experiments")["accepted"] is True
    code_host.change_run(body["run_id"], "completed", "cancelled")
    again = ada.call("runs/cancel", body, sender="svc-experiments")
    assert again["accepted"] is False and again["run"]["conclusion"] == "cancelled"
    ada.call("runs/cancel", {**body, "run_id": 987654321}, 404, sender="svc-experiments")


# ---- renamed repositories, as the code host redirects them ----


class Renamed:
    """A code host at which acme/old, number 77, became acme/new. It redirects to the number, or to the name. replace() gives
    the former name to another repository, number 88 of another installation."""

    def __init__(self, by_number=True):
        self.moved = "/repositories/77" if by_number else "/repos/acme/new"
        self.is_replaced, self.seen = False, []
        self.stub = StubServer(self.answer)

    def replace(self):
        self.is_replaced = True

    def tokens(self):
        """The requests for tokens so far: (path, body)."""
        return [(path, json.loads(body)) for method, path, body in self.seen if method == "POST"]

    def answer(self, request):
        path, method = request.path, request.command
        self.seen.append((method, path, request.body.decode()))
        if path.startswith("/repos/acme/old") and not self.is_replaced:
            location = self.stub.url + self.moved + path.removeprefix("/repos/acme/old")
            return request.reply(301, '{"message": "Moved Permanently"}', Location=location)
        new = {"id": 77, "full_name": "acme/new", "default_branch": "main", "permissions": {"push": True}}
        old = {"id": 88, "full_name": "acme/old", "default_branch": "main", "permissions": {"push": True}}
        token = {"token": "ghs_x", "permissions": {"contents": "write"}}
        installation = {"id": 9, "account": {"login": "acme"}, "permissions": {"contents": "write"}}
        answers = {
            f"{self.moved}/installation": installation,
            "/repos/acme/new/installation": installation,
            self.moved: new,
            "/repos/acme/new": new,
            "/repos/acme/old": old,
            "/repos/acme/old/installation": {"id": 10, "account": {"login": "acme"}, "permissions": {"contents": "write"}},
            "/app/installations/9/access_tokens": token,
            "/app/installations/10/access_tokens": token,
        }
        status = 201 if method == "POST" else 200 if path in answers else 404
        return request.reply(status, json.dumps(answers.get(path, {"message": "Not Found"})))


@pytest.fixture
def renamed(cluster):
    """renamed(**options): a Renamed, and the address of a replica that uses it."""
    started = []

    def start(**options):
        host = Renamed(**options)
        process = cluster.separate("svc-integrations", f"renamed{len(started)}", CODE_HOST_API_URL=host.stub.url)
        process.start()
        started.append((process, host.stub))
        process.wait_ready()
        return host, process.url

    yield start
    for process, stub in started:
        process.stop()
        stub.close()
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.forget_repositories(db, "acme", [77, 88])


def test_a_redirect_to_the_number_of_a_repository(new_developer, renamed):
    """The code host redirects a renamed repository to its number, and takes it in a token."""
    host, url = renamed()
    bob = new_developer()
    for _ in range(2):
        facts = bob.call("repository", {"repo": "acme/old"}, url=url, claims={"repo": "acme/old"})
        assert facts["repo"] == "acme/new"
    body = {"repository_ids": [77], "permissions": {"contents": "read"}}
    assert host.tokens() == [("/app/installations/9/access_tokens", body)] * 2
    assert sum(path == "/repositories/77" for _, path, _ in host.seen) == 1  # who can push; the answer has its name


@pytest.mark.parametrize("by_number", [True, False])
def test_what_is_remembered_of_a_renamed_repository_is_not_used_for_its_successor(new_developer, renamed, by_number):
    """Who can push to the repository that has the former name now gets a token of that one, not of the renamed one."""
    host, url = renamed(by_number=by_number)
    bob, carol = new_developer(), new_developer()
    assert carol.call("repository", {"repo": "acme/old"}, url=url, claims={"repo": "acme/old"})["repo"] == "acme/new"
    host.replace()
    for _ in range(2):
        assert bob.call("repository", {"repo": "acme/old"}, url=url)["repo"] == "acme/old"
        body = {"repository_ids": [88], "permissions": {"contents": "read"}}
        assert host.tokens()[-1] == ("/app/installations/10/access_tokens", body)


@pytest.mark.parametrize("by_number", [True, False])
def test_a_renamed_repository_is_used_for_who_can_push_to_it(new_developer, renamed, by_number):
    host, url = renamed(by_number=by_number)
    bob = new_developer()
    for _ in range(2):
        assert bob.call("repository", {"repo": "acme/old"}, url=url)["repo"] == "acme/new"
    body = {"repository_ids": [77], "permissions": {"contents": "read"}}
    assert host.tokens() == [("/app/installations/9/access_tokens", body)] * 2


def test_an_access_without_the_number_is_asked_again(cluster, ada, code_host, repo):
    """Rows from before the number was kept, and of replicas that do not keep it yet."""
    ada.call("installation", {"repo": repo})
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.forget_number(db, repo)
    before = code_host.last_number()
    for _ in range(2):
        ada.call("installation", {"repo": repo})
    assert len(code_host.requests(before, "GET", f"^/repos/{repo}$")) == 1
