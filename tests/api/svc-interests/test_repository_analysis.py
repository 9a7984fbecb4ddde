"""An interest is proposed for a repository without being made, by rules or by a language model; or made from a project."""

import json

import pytest

from lib.http import plain_http
from lib.http.contract import contract
from lib.http.identity import identity
from lib.outside.counterparts import connect
from lib.outside.language_model import UNUSABLE_ANSWERS, LanguageModel, run_with

PATH = "/interests/analyze-repo"
README = "# Ranker\n\nRanks passages for a question with late interaction.\n"


@pytest.fixture
def repo(api, code_host):
    at_host = code_host.user()
    connect(api, "code_host", at_host.login)
    return code_host.repository(at_host.login, name="ranker", description="Passage ranking", files={"README.md": README})


@pytest.fixture
def url(code_host, repo):
    return f"{code_host.url}/{repo}"


@pytest.fixture(scope="module")
def model():
    made = LanguageModel()
    yield made
    made.close()


@pytest.fixture(scope="module")
def replica(cluster, model):
    with run_with(model, cluster, "svc-interests", "analyst") as process:
        yield process


@pytest.fixture
def analyze(cluster, replica, user):
    """analyze(url): the proposal of a process that has a language model."""

    def ask(url):
        auth = identity(cluster, "svc-interests", account=user.account)
        answer = plain_http.post(f"{replica.url}/api/v1.0{PATH}", json={"repo_url": url}, auth=auth)
        contract().check("POST", f"/api/v1.0{PATH}", answer)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def field(problem):
    (found,) = problem.json()["errors"]
    return found["field"]


def test_the_proposal_is_an_interest(api, url):
    before = api.get("/interests", expect=200).json()
    proposal = api.post(PATH, {"repo_url": f"{url}.git"}, expect=200).json()
    assert proposal["name"] == "ranker" and proposal["sources"] is None
    assert "Passage ranking" in proposal["context"] and "late interaction" in proposal["context"]
    assert proposal["context"].endswith(f"\n\n{url}")
    assert api.get("/interests", expect=200).json() == before
    made = api.post("/interests", {**proposal, "source_repo_url": url}, expect=201).json()
    assert (made["name"], made["context"]) == (proposal["name"], proposal["context"])


@pytest.mark.parametrize("place", ["", "/orgs/acme", "/nobody/nothing"])
def test_what_is_no_repository_or_cannot_be_read_is_refused(api, code_host, place):
    assert field(api.post(PATH, {"repo_url": f"{code_host.url}{place}"}, expect=400)) == "repo_url"


def test_a_repository_of_others_is_not_shown(other_user, code_host):
    owner = code_host.user()
    secret = code_host.repository(owner.login, private=True, files={"README.md": README})
    assert field(other_user.api.post(PATH, {"repo_url": f"{code_host.url}/{secret}"}, expect=400)) == "repo_url"


def test_a_model_words_the_proposal(analyze, model, url):
    said = {"name": "Late interaction", "context": "Rerankers for passages.", "sources": ["arxiv", "x", 1, "medrxiv"], "other": 5}
    model.say(f"Here it is:\n```json\n{json.dumps(said)}\n```")
    assert analyze(url) == {"name": said["name"], "context": f"{said['context']}\n\n{url}", "sources": ["arxiv", "medrxiv"]}
    instruction, shown = [message["content"] for message in model.prompts[-1]["messages"]]
    assert "late interaction" in shown and "late interaction" not in instruction


@pytest.mark.parametrize("said", ["", "no idea", "{}", '{"name": "x"}', '{"name": " ", "context": "y"}', '{"name": 5, "context": "y"}',
                                  json.dumps({"name": "x" * 201, "context": "y"}), "[1]", '{"name": "x", "context"'])  # fmt: skip
def test_an_answer_that_no_interest_can_have_is_not_used(analyze, model, url, said):
    model.say(said)
    assert analyze(url)["name"] == "ranker"


@pytest.mark.parametrize("name", sorted(UNUSABLE_ANSWERS))
def test_a_broken_model_leaves_the_rules(analyze, model, url, name):
    model.reply = UNUSABLE_ANSWERS[name]
    assert analyze(url)["name"] == "ranker"


# ---- from a project ----


@pytest.fixture
def project(api):
    return api.post("/projects", {"name": "Search"}, expect=201).json()["id"]


def plan(api, name, **members):
    return api.post("/experiments", {"name": name, **members}, expect=201).json()


def test_an_interest_is_made_from_a_project(api, other_user, project):
    for name, hypothesis in (("Late interaction", "Scores rise with token vectors"), ("Query rewriting", None)):
        plan(api, name, hypothesis=hypothesis, target_metric="nDCG", project_id=project, decision="No more of this", outcome="abandon")
    plan(api, "Of no project")
    body = {"project_id": project, "mode": "project"}
    made = api.post("/interests", body, expect=201).json()
    assert (made["name"], made["project_id"]) == ("Search", project) and "mode" not in made
    assert made["context"].split("\n\n") == [
        "Query rewriting. Measured by nDCG", "Late interaction. Scores rise with token vectors. Measured by nDCG"]  # fmt: skip
    own = api.post("/interests", {**body, "name": "Mine", "context": "My own words."}, expect=201).json()
    assert (own["name"], own["context"]) == ("Mine", "My own words.")
    other = api.post("/interests", {**body, "name": " Trimmed ", "source_repo_url": "https://GitHub.com/acme/ranker"}, expect=201).json()
    assert (other["name"], other["source_repo_url"]) == ("Trimmed", "https://github.com/acme/ranker")
    assert field(other_user.api.post("/interests", body, expect=400)) == "project_id"


def test_the_context_of_a_large_project_is_one_that_an_interest_can_have(api, project):
    for number in range(31):
        plan(api, f"Number {number}.", hypothesis="x" * 5000, project_id=project)
    context = api.post("/interests", {"project_id": project, "mode": "project"}, expect=201).json()["context"]
    assert len(context.split("\n\n")) == 30 and "Number 0." not in context and "Number 30." in context


@pytest.mark.parametrize("change, name", [({}, "project_id"), ({"project_id": None}, "project_id"), ({"mode": "repository"}, "mode"),
                                          ({"name": None}, "name")])  # fmt: skip
def test_a_project_without_experiments_and_wrong_members_are_named(api, project, change, name):
    body = {"project_id": project, "mode": "project", **change}
    assert name in [fault["field"] for fault in api.post("/interests", body, expect=400).json()["errors"]]


def test_a_repeated_request_makes_one_interest(api, project):
    plan(api, "Late interaction", project_id=project)
    body, key = {"project_id": project, "mode": "project"}, {"Idempotency-Key": project}
    first, again = (api.post("/interests", body, headers=key, expect=201).json() for _ in range(2))
    assert first["id"] == again["id"]
