"""POST /github/fork."""

import pytest

FORK = "/github/fork"


@pytest.fixture
def source(code_host, ada):
    """A repository of ada's with a branch beside the default one."""
    repo = code_host.repository(ada.login, files={"a.txt": "a"})
    ref = code_host.api("GET", f"/repos/{repo}/git/ref/heads/main", ada.at_host.token).json()
    body = {"ref": "refs/heads/more/things", "sha": ref["object"]["sha"]}
    assert code_host.api("POST", f"/repos/{repo}/git/refs", ada.at_host.token, json=body).status_code == 201
    return repo


def test_a_fork_is_made_once(code_host, stranger, source):
    body = {"repo": source, "branches": ["main", "more/things"]}
    name = f"{stranger.login}/{source.split('/')[1]}"
    first = stranger.api.post(FORK, body, expect=200).json()
    assert first["html_url"].endswith(f"/{name}")
    assert (first["full_name"], first["created"]) == (name, True)
    assert [row["name"] for row in first["branches"]] == body["branches"]
    second = stranger.api.post(FORK, body, expect=200).json()
    seen = [{"name": branch, "created": False} for branch in body["branches"]]
    assert second == {**first, "created": False, "branches": seen}
    assert code_host.files(name, "more/things")["a.txt"] == "a"


def test_a_branch_that_came_later_is_created(code_host, ada, stranger, source):
    fork = stranger.api.post(FORK, {"repo": source}, expect=200).json()
    ref = code_host.api("GET", f"/repos/{source}/git/ref/heads/main", ada.at_host.token).json()
    body = {"ref": "refs/heads/later", "sha": ref["object"]["sha"]}
    assert code_host.api("POST", f"/repos/{source}/git/refs", ada.at_host.token, json=body).status_code == 201
    again = stranger.api.post(FORK, {"repo": source, "branches": ["later"]}, expect=200).json()
    assert again == {**fork, "created": False, "branches": [{"name": "later", "created": True}]}
    assert code_host.files(fork["full_name"], "later")["a.txt"] == "a"


def test_a_repeated_key_gets_the_first_answer(stranger, source):
    headers = {"Idempotency-Key": source}
    first, second = (stranger.api.post(FORK, {"repo": source}, headers=headers, expect=200) for _ in range(2))
    assert second.json() == first.json() and second.json()["created"] is True


def test_a_lost_answer_converges(code_host, stranger, source):
    code_host.fail("POST", "/forks$", drop=True)
    assert stranger.api.post(FORK, {"repo": source}, expect=503).json()["error"] == "outcome_uncertain"
    assert stranger.api.post(FORK, {"repo": source}, expect=200).json()["created"] is False


def test_a_fork_is_waited_for(code_host, stranger, source):
    code_host.fail("GET", "/commits", status=409, body={"message": "Git Repository is empty."}, times=2)
    assert stranger.api.post(FORK, {"repo": source}, expect=200).json()["created"] is True


@pytest.mark.parametrize("path", ["^/user$", "^/repos/[^/]+/[^/]+$", "/forks$"])
def test_one_refusal_of_the_connection_ends_no_fork(code_host, stranger, source, path):
    code_host.fail(path=path, status=401, body={"message": "Bad credentials"}, before=True)
    assert stranger.api.post(FORK, {"repo": source}, expect=503).json()["error"] == "unavailable"
    code_host.fail("GET", "/commits", status=401, body={"message": "Bad credentials"})
    assert stranger.api.post(FORK, {"repo": source}, expect=200).json()["created"] is True


def test_a_branch_that_the_source_lacks_is_400(stranger, source):
    problem = stranger.api.problem("POST", FORK, 400, "invalid_request", {"repo": source, "branches": ["main", "nowhere"]})
    assert [fault["field"] for fault in problem["errors"]] == ["branches[1]"]


def test_a_renamed_source_is_found(code_host, stranger, source):
    now = code_host.rename(source, source.split("/")[1] + "-2")
    fork = stranger.api.post(FORK, {"repo": source}, expect=200).json()
    assert fork["full_name"] == f"{stranger.login}/{now.split('/')[1]}"


def test_a_fork_of_another_name_is_found(code_host, ada, stranger, source):
    fork = stranger.api.post(FORK, {"repo": source}, expect=200).json()
    code_host.rename(source, source.split("/")[1] + "-2")
    existing = code_host.api("GET", f"/repos/{fork['full_name']}", stranger.at_host.token).json()
    code_host.fail("POST", "/forks$", status=202, body={**existing, "created_at": "2020-01-31T09:30:00Z"}, before=True)
    again = stranger.api.post(FORK, {"repo": source}, expect=200).json()
    assert again == {**fork, "created": False}


@pytest.mark.parametrize("limits", [(), ("repo",), ("interest_id",), ("repo", "interest_id")], ids=str)
def test_a_key_that_proves_no_repository_forks_nothing(code_host, stranger, source, limits):
    """Not even the repository that it names."""
    values = {"repo": source, "interest_id": "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"}
    body = {"name": "k", "kind": "automation", "scopes": ["code_host:write"], **{name: values[name] for name in limits}}
    key = stranger.api.as_key(stranger.api.post("/account/api-keys", body, expect=201).json()["key"])
    key.problem("POST", FORK, 403, "forbidden", {"repo": source})
    assert code_host.requests(method="POST", path=f"{source}/forks$") == []


def test_what_cannot_be_forked(cluster, code_host, ada, stranger, source):
    hidden = code_host.repository(ada.login, private=True)
    stranger.api.problem("POST", FORK, 404, "not_found", {"repo": hidden})
    stranger.api.problem("POST", FORK, 404, "not_found", {"repo": f"{ada.login}/nowhere"})
    ada.api.problem("POST", FORK, 409, "conflict", {"repo": source})
    cluster.user().api.problem("POST", FORK, 404, "not_found", {"repo": source})
