"""Keys that are limited to a repository or an interest."""

import pytest

ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
SCOPES = ["experiments:read", "experiments:write", "implement:read", "implement:write", "interests:read",
          "interests:write", "recommendations:read", "recommendations:write"]
REPO, OTHER_REPO = "acme/ranker", "acme/other"


def limited(api, **limits):
    body = {"name": "limited", "kind": "automation", "scopes": SCOPES, **limits}
    return api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])


@pytest.fixture
def interests(api):
    """(own, other): the ids of two interests."""
    return [api.post("/interests", {"name": name, "context": "Sparse attention."}, expect=201).json()["id"]
            for name in ("own", "other")]


@pytest.fixture
def of_interest(api, interests):
    return limited(api, interest_id=interests[0])


def test_another_interest_is_403(of_interest, interests):
    for interest in (interests[1], ABSENT):
        path = f"/interests/{interest}"
        of_interest.problem("GET", path, 403, "forbidden")
        of_interest.problem("PUT", path, 403, "forbidden", {"name": "mine"})
        of_interest.problem("DELETE", path, 403, "forbidden")
        of_interest.problem("POST", path + "/toggle", 403, "forbidden")
        of_interest.problem("GET", f"/papers/recommended?interest_id={interest}", 403, "forbidden")
        of_interest.problem("POST", "/papers/recommended/refresh", 403, "forbidden", {"interest_id": interest})
    of_interest.problem("POST", "/interests", 403, "forbidden", {"name": "new", "context": "c"})


def test_the_own_interest_is_allowed(of_interest, interests):
    path = f"/interests/{interests[0]}"
    of_interest.get(path, expect=200)
    of_interest.put(path, {"daily_count": 4}, expect=200)
    of_interest.post(path + "/toggle", expect=200)


def test_the_own_interest_keeps_its_place(of_interest, api, interests):
    """A key reaches what its interest's project and repository have, so it cannot choose others for it."""
    path = f"/interests/{interests[0]}"
    read = of_interest.get(path, expect=200).json()
    other = api.post("/projects", {"name": "other"}, expect=201).json()["id"]
    for change in ({"project_id": other}, {"source_repo_url": "https://github.com/acme/secret"}):
        of_interest.problem("PUT", path, 403, "forbidden", change)
        of_interest.problem("PUT", path, 403, "forbidden", {"daily_count": 4, **change})
    members = {name: read[name] for name in ("name", "context", "project_id", "source_repo_url")}
    of_interest.put(path, members, expect=200)
    assert of_interest.get(path, expect=200).json()["project_id"] is None


def test_lists_have_the_own_interest_only(of_interest, api, interests):
    listed = of_interest.get("/interests", expect=200)
    assert [interest["id"] for interest in listed.json()] == interests[:1]
    assert listed.headers["X-Total-Count"] == "1"
    assert len(api.get("/interests", expect=200).json()) == 2
    digest = of_interest.get("/papers/recommended/digest", expect=200).json()
    assert [interest["id"] for interest in digest["interests"]] == interests[:1]
    of_interest.get("/papers/recommended", expect=200)


def test_a_refresh_is_of_the_own_interest(of_interest, api, interests):
    """Also without interest_id, which means all interests for other keys."""
    started = of_interest.post("/papers/recommended/refresh", {}, expect=202)
    done = of_interest.wait_task(started)
    assert [row["interest_id"] for row in done["result"]["interests"]] == interests[:1]
    foreign = api.post("/papers/recommended/refresh", {"interest_id": interests[1]}, expect=202).json()
    of_interest.problem("GET", foreign["status_url"], 403, "forbidden")
    everything = api.post("/papers/recommended/refresh", {"num_results": 2}, expect=202).json()
    of_interest.problem("GET", everything["status_url"], 403, "forbidden")


def test_another_experiment_history_is_403(of_interest, api, interests):
    own, other = (api.get(f"/interests/{interest}", expect=200).json()["experiment_history_id"] for interest in interests)
    path = "/experiment-histories/{}/refit-preference-model"
    of_interest.problem("POST", path.format(other), 403, "forbidden")
    of_interest.problem("POST", f"/experiment-histories/{other}/score-candidates", 403, "forbidden", {})
    task = api.post(path.format(other), expect=202).json()["status_url"]
    of_interest.problem("GET", task, 403, "forbidden")
    of_interest.post(path.format(own), expect=202)
    of_interest.post(f"/experiment-histories/{own}/score-candidates", {}, expect=200)


def test_a_recommendation_for_another_interest_is_403(of_interest, api, interests, cluster):
    with cluster.postgres.connect("interests") as connection:
        connection.execute("INSERT INTO paper (arxiv_id, asset, abstract) VALUES ('2401.00001', '{}', '')"
                           " ON CONFLICT DO NOTHING")
        made = [connection.execute(
            "INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank,"
            " reasoning) SELECT id, account_id, '2401.00001', 1, 0.5, 1, 'r' FROM interest WHERE id = %s RETURNING id",
            [interest]).fetchone()[0] for interest in interests]
    of_interest.post(f"/papers/recommended/{made[0]}/feedback", {"signal": "like"}, expect=200)
    of_interest.problem("POST", f"/papers/recommended/{made[1]}/feedback", 403, "forbidden", {"signal": "like"})
    of_interest.problem("GET", f"/papers/recommended/{made[0]}/explanation", 404, "not_found")
    of_interest.problem("GET", f"/papers/recommended/{made[1]}/explanation", 403, "forbidden")


def experiment(api, repo):
    body = {"name": f"in {repo}", "launch_context": {"target_repo": repo} if repo else None}
    return api.post("/experiments", body, expect=201).json()["id"]


@pytest.fixture
def of_repo(api):
    return limited(api, repo=REPO)


def test_experiments_of_another_repository_are_403(of_repo, api):
    other = experiment(api, OTHER_REPO)
    path = f"/experiments/{other}"
    of_repo.problem("GET", path, 403, "forbidden")
    of_repo.problem("PUT", path, 403, "forbidden", {"name": "mine"})
    of_repo.problem("DELETE", path, 403, "forbidden")
    for call in ("context", "reference", "status"):
        of_repo.problem("GET", f"/implement{path}/{call}", 403, "forbidden")
    of_repo.problem("POST", f"/implement{path}/report", 403, "forbidden", {"status": "running"})
    of_repo.problem("POST", "/experiments", 403, "forbidden",
                    {"name": "new", "launch_context": {"target_repo": OTHER_REPO}})
    assert api.get(path, expect=200).json()["pipeline_status"] == "idle"


def test_experiments_of_the_own_repository_are_allowed(of_repo, api):
    """Names of repositories are compared without case."""
    own = f"/experiments/{experiment(api, REPO.upper())}"
    of_repo.get(own, expect=200)
    of_repo.put(own, {"status": "running"}, expect=200)
    for target in (OTHER_REPO, "", None):
        of_repo.problem("PUT", own, 403, "forbidden", {"launch_context": {"target_repo": target}})
    of_repo.problem("PUT", own, 403, "forbidden", {"launch_context": None})
    of_repo.post(f"/implement{own}/report", {"status": "running"}, expect=200)
    of_repo.post("/experiments", {"name": "new", "launch_context": {"target_repo": REPO}}, expect=201)


@pytest.mark.parametrize("context", [None, {}, {"target_repo": None}, {"target_repo": ""}])
def test_an_experiment_without_a_repository_is_not_the_keys(of_repo, api, context):
    one = api.post("/experiments", {"name": "none", "launch_context": context}, expect=201).json()["id"]
    path = f"/experiments/{one}"
    of_repo.problem("GET", path, 404, "not_found")
    of_repo.problem("PUT", path, 404, "not_found", {"launch_context": {"target_repo": REPO}})
    of_repo.problem("DELETE", path, 404, "not_found")
    for call in ("context", "reference", "status"):
        of_repo.problem("GET", f"/implement{path}/{call}", 404, "not_found")
    of_repo.problem("POST", f"/implement{path}/report", 404, "not_found", {"status": "completed"})
    of_repo.problem("POST", f"/implement{path}/run", 404, "not_found")
    of_repo.problem("POST", "/experiments", 403, "forbidden", {"name": "new", "launch_context": context})
    assert of_repo.get("/experiments", expect=200).json() == []
    assert of_repo.get("/implement/experiments/actionable", expect=200).json() == []
    assert api.get(path, expect=200).json()["pipeline_status"] == "idle"


@pytest.fixture
def projects(api, interests):
    """(own, other): the ids of two projects; the first is that of the own interest."""
    own, other = [api.post("/projects", {"name": name}, expect=201).json()["id"] for name in ("own", "other")]
    api.put(f"/interests/{interests[0]}", {"project_id": own}, expect=200)
    return own, other


def of_project(api, project, repo=None):
    body = {"name": f"in {project}", "project_id": project}
    body |= {"launch_context": {"target_repo": repo}} if repo else {}
    return api.post("/experiments", body, expect=201).json()["id"]


def test_experiments_of_the_interests_project_are_allowed(api, interests, projects):
    """Of a key with both limits those that have no other repository; of one with an interest alone, all."""
    own, other = projects
    in_own, in_other, elsewhere, none = (
        of_project(api, own), of_project(api, other), of_project(api, own, OTHER_REPO), of_project(api, None))
    both, of_interest = limited(api, repo=REPO, interest_id=interests[0]), limited(api, interest_id=interests[0])
    for key, listed in ((both, [in_own]), (of_interest, [elsewhere, in_own])):
        assert [one["id"] for one in key.get("/experiments", expect=200).json()] == listed
        key.put(f"/experiments/{in_own}", {"status": "running"}, expect=200)
        for foreign in (in_other, none):
            key.problem("GET", f"/experiments/{foreign}", 404, "not_found")
        key.problem("PUT", f"/experiments/{in_own}", 403, "forbidden", {"project_id": other})
        key.problem("PUT", f"/experiments/{in_own}", 403, "forbidden", {"project_id": None})
        key.problem("POST", "/experiments", 403, "forbidden", {"name": "n", "project_id": other})
        key.post("/experiments", {"name": "n", "project_id": own}, expect=201)
        key.problem("GET", "/projects", 403, "forbidden")
        key.problem("GET", f"/projects/{own}", 403, "forbidden")
        for made in key.get("/experiments", expect=200).json():
            if made["name"] == "n":
                api.delete(f"/experiments/{made['id']}", expect=200)
    both.problem("GET", f"/experiments/{elsewhere}", 403, "forbidden")
    api.delete(f"/interests/{interests[0]}", expect=200)
    assert both.get("/experiments", expect=200).json() == []
    both.problem("GET", f"/experiments/{in_own}", 404, "not_found")


def test_a_key_with_one_limit_is_closed_to_what_has_the_other(of_repo, of_interest, interests):
    of_repo.problem("GET", "/interests", 403, "forbidden")
    of_repo.problem("GET", f"/interests/{interests[0]}", 403, "forbidden")
    of_repo.problem("GET", "/papers/recommended", 403, "forbidden")
    of_repo.problem("POST", "/papers/recommended/refresh", 403, "forbidden", {})


def test_lists_leave_other_repositories_out(of_repo, api):
    own, none, other = (experiment(api, repo) for repo in (REPO, None, OTHER_REPO))
    listed = of_repo.get("/experiments", expect=200)
    assert [one["id"] for one in listed.json()] == [own]
    assert listed.headers["X-Total-Count"] == "1"
    actionable = of_repo.get("/implement/experiments/actionable", expect=200).json()
    assert [one["id"] for one in actionable] == [own]
    assert {none, other} < {one["id"] for one in api.get("/experiments", expect=200).json()}
