"""Keys that are limited to a repository or an interest."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lib.http import api_def
from lib.http.api_def import absent_target, by_id
from lib.tables import common
from lib.tables import experiments as experiments_tables
from lib.tables import interests as interests_tables
from lib.wait import wait_for

ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
EVALUATION = ["eval:read", "eval:write", "eval:report", "integrations:read"]
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


def test_the_own_interest_gets_no_other_repositories(cluster, api, interests, of_interest):
    """Those that its context links to are read with the rights of the account."""
    path, web = f"/interests/{interests[0]}", cluster.code_host.url
    secret, other = f"See {web}/Acme/secret.git for more.", f"And {web}/{OTHER_REPO}."
    of_interest.problem("PUT", path, 403, "forbidden", {"context": secret})
    with_paper = f"Sparse attention, https://arxiv.org/abs/2205.14135, {web}/acme/secret/issues/3"
    of_interest.put(path, {"context": with_paper}, expect=200)
    api.put(path, {"context": secret, "source_repo_url": f"{web}/{REPO}"}, expect=200)
    of_interest.put(path, {"context": f"{secret} And {web}/ACME/secret, {web}/{REPO}"}, expect=200)
    of_interest.problem("PUT", path, 403, "forbidden", {"context": f"{secret} {other}"})
    limited(api, repo=OTHER_REPO, interest_id=interests[0]).put(path, {"context": f"{secret} {other}"}, expect=200)
    many = [f"{web}/acme/one-{n}" for n in range(12)]
    api.put(path, {"context": " ".join(many)}, expect=200)
    of_interest.put(path, {"context": " ".join(many[1:])}, expect=200)


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
    with cluster.postgres.connect("interests") as db:
        made = [interests_tables.add_recommendation(db, interest, "2401.00001") for interest in interests]
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


def test_the_history_of_an_interest_has_no_experiments_of_others(cluster, api, interests, projects):
    """Those of papers can be of any project, and those of the project of any repository."""
    paper, (own, other) = "2401.00001", projects
    with cluster.postgres.connect("interests") as db:
        interests_tables.add_recommendation(db, interests[0], paper)
    places = {"of the project": (own, None), "of the project elsewhere": (own, OTHER_REPO), "of the paper": (other, OTHER_REPO)}
    for name, (project, repo) in places.items():
        context = {"launch_context": {"target_repo": repo}} if repo else {}
        body = {"name": name, "project_id": project, "source_type": "arxiv_paper", "source_ref": paper, **context}
        api.post("/experiments", body, expect=201)

    def names(key):
        history = key.get(f"/interests/{interests[0]}", expect=200).json()["experiment_history"]
        return {name for name in places if f"- {name} (" in history}

    wait_for(lambda: names(api) == set(places), "the experiments are known")
    assert names(limited(api, interest_id=interests[0])) == {"of the project", "of the project elsewhere"}
    assert names(limited(api, repo=REPO, interest_id=interests[0])) == set()


@contextmanager
def locked(cluster, lock, *arguments):
    """Call lock(connection, *arguments) in a transaction that ends with the block. Yields a function that waits for so many
    transactions that wait."""
    with cluster.postgres.connect("experiments") as db, cluster.postgres.connect() as other, db.transaction():
        lock(db, *arguments)
        yield lambda count: wait_for(lambda: common.blocked(other, "experiments") == count, f"{count} wait")


def test_two_changes_at_once_leave_the_experiment_to_the_key(cluster, api, interests, projects):
    """Each alone is allowed, since the experiment stays the key's by its other place."""
    both = limited(api, repo=REPO, interest_id=interests[0])
    one = of_project(api, projects[0], REPO)
    with ThreadPoolExecutor(2) as pool:
        with locked(cluster, experiments_tables.lock_experiment, one) as wait_waiting:
            changes = [pool.submit(both.put, f"/experiments/{one}", body) for body in ({"launch_context": {}}, {"project_id": None})]
            wait_waiting(2)
        assert sorted(change.result().status_code for change in changes) == [200, 403]
    left = api.get(f"/experiments/{one}", expect=200).json()
    assert left["project_id"] or left["launch_context"].get("target_repo")


@pytest.mark.parametrize(("method", "path", "body"), [
    ("PUT", "/experiments/{}", {"hypothesis": "mine"}),
    ("DELETE", "/experiments/{}", None),
    ("POST", "/implement/experiments/{}/report", {"status": "completed"}),
])
def test_a_move_meanwhile_ends_the_keys_access(cluster, api, of_repo, method, path, body):
    one = experiment(api, REPO)
    context = json.dumps({"target_repo": OTHER_REPO})
    with ThreadPoolExecutor(1) as pool:
        with locked(cluster, experiments_tables.set_launch_context, one, context) as wait_waiting:
            change = pool.submit(of_repo.request, method, path.format(one), body)
            wait_waiting(1)
        assert change.result().status_code == 403
    left = api.get(f"/experiments/{one}", expect=200).json()
    assert left["hypothesis"] is None and left["pipeline_status"] == "idle"


def test_a_repeated_request_of_a_limited_key_is_done_once(api, interests, projects):
    """Whose the experiment is has to be asked of other services."""
    both = limited(api, repo=REPO, interest_id=interests[0], scopes=SCOPES + EVALUATION)
    of_interest = limited(api, interest_id=interests[0])
    in_own = of_project(api, projects[0])
    run = {"template_id": template(api, REPO)["template_id"], "params": {"experiment_id": in_own}}
    for key, path, body in ((both, "/experiments", {"name": "n", "project_id": projects[0]}),
                            (of_interest, "/experiments", {"name": "n", "project_id": projects[0]}),
                            (both, RUNS, run)):
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        first, second = (key.post(path, body, headers=headers, expect=201) for _ in range(2))
        assert first.json() == second.json() and second.headers["idempotent-replayed"] == "true"
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    path = f"/implement/experiments/{in_own}/run"
    both.problem("POST", path, 403, "forbidden", headers=headers)
    of_interest.problem("POST", path, 403, "forbidden", headers=headers)
    assert len(both.get(RUNS, expect=200).json()) == 1 and len(both.get("/experiments", expect=200).json()) == 3


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


# ---- the table of operations ----

OPEN_TO = {
    # They name a repository or an interest, show the key's own part of a list, or nothing of an account.
    ("REPO_KEYS", "INTEREST_KEYS"): """
        api_keys_list api_key_usage_list experiments_list experiment_create experiment_get experiment_update experiment_delete
        experiments_compare sample_size_get results_get result_create experiment_evidence_get asset_outcomes_get
        implement_actionable_list implement_context_get implement_reference_get implement_report implement_run
        implement_status_get asset_search asset_facets assets_list asset_get asset_similar_list search_stats_get
        installation_revoke fleet_prices_get budgets_list
    """,
    ("REPO_KEYS",): """
        fleet_activity_get artifact_evidence_get fleet_chat inbox_list inbox_digest_get inbox_dismiss fleet_refresh
        fleet_report_get fleet_rejections_get fleet_outcome_costs_get fleet_run_analyze installations_list fleet_run_status_get fleet_runs_list fleet_run_report fleet_run_admit
        fleet_run_delete fleet_trigger app_installation_get fork_create installation_token_create build_create
        build_claim build_get build_cancel build_context_get build_heartbeat build_report builds_list eval_runs_list
        eval_run_create eval_run_claim eval_run_get eval_run_cancel eval_run_heartbeat templates_list template_get
        eval_hosted_result_deliver eval_result_deliver
    """,
    ("INTEREST_KEYS",): """
        preference_model_refit refit_task_get candidates_score interests_list interest_get interest_update
        interest_delete agent_pause agent_resume provision_status_get provision_task_get interest_toggle recommendations_list interest_quality_get
        recommendations_digest_get recommendations_funnel_get recommendations_precision_get recommendations_refresh refresh_task_get recommendation_explanation
        recommendation_feedback recommendation_feedback_delete
    """,
    # They concern the whole account.
    (): """
        budget_put budget_delete budget_history_list api_key_create api_key_update api_key_delete api_key_revoke
        account_delete projects_list project_create project_get project_update project_delete interest_create
        repository_analyze ticket_get ticket_comment interest_provision provision_cli_token_create asset_put search_harvest app_get app_delete
        app_create app_install_url_get app_installation_confirm app_manifest_create connections_list
        identity_link_create identity_links_list identity_link_delete identity_resolve providers_list
        connection_delete auth_url_get connection_create model_key_connect connection_status_get connection_token_get
        template_create template_update template_lock webhooks_list webhook_create webhook_event_types_list
        webhook_get webhook_update webhook_delete webhook_secret_rotate webhook_test webhook_recover
        webhook_confirmation_create webhook_deliveries_list webhook_delivery_get webhook_delivery_replay feeds_list
        audit_list feed_create feed_delete sessions_list session_end tasks_list tasks_retry tasks_summary_get accounts_list
        account_create team_get team_update people_list invitation_create invitation_delete member_update member_delete
    """,
}
EXPECTED = {operation: set(flags) for flags, names in OPEN_TO.items() for operation in names.split()}
KEYED = [op for op in api_def.operations() if "OPEN" not in op.flags]
CLOSED = "this key is not allowed to do that, regardless of its scopes"


def test_the_table_has_every_operation():
    assert {op.id: op.flags & {"REPO_KEYS", "INTEREST_KEYS"} for op in KEYED} == EXPECTED


@pytest.fixture(scope="module")
def kinds(cluster):
    """{which flags let it in: a client with a limited key that has every scope}."""
    api = cluster.user().api
    limits = {("REPO_KEYS",): {"repo": REPO}, ("INTEREST_KEYS",): {"interest_id": ABSENT},
              ("REPO_KEYS", "INTEREST_KEYS"): {"repo": REPO, "interest_id": ABSENT}}
    return {flags: limited(api, scopes=api_def.account_scopes(), **limit) for flags, limit in limits.items()}


@by_id([op for op in KEYED if op.scope not in api_def.OPERATOR_SCOPES])  # no key of an account has them
def test_a_limited_key_calls_what_the_table_opens(kinds, op):
    for flags, key in kinds.items():
        answer = key.request(op.method, absent_target(op), None if op.body == "NONE" else {})
        is_closed = answer.status_code == 403 and answer.json()["detail"] == CLOSED
        assert is_closed == (not EXPECTED[op.id] & set(flags)), (flags, answer.text)


# ---- evaluations ----

RUNS, BUILDS, TEMPLATES = "/eval-env/runs", "/eval-env/builds", "/eval-env/templates"
SPEC = {"image": "registry.example.com/ranker:1", "command": "evaluate", "metrics": ["recall"], "env": {"TOKEN": "of the account"}}


def evaluator(api, **limits):
    return limited(api, scopes=SCOPES + EVALUATION, **({"repo": REPO} | limits))


def template(api, repo=None):
    body = {"name": f"of {repo}", "spec": SPEC} | ({"repo": repo} if repo else {})
    return api.post(TEMPLATES, body, expect=201).json()


def evaluated(api, experiment):
    return (api.get(f"/experiments/{experiment}", expect=200).json()["ab_test_results"] or {}).get("eval_runs", [])


def test_a_result_goes_into_an_experiment_of_the_key_alone(api, interests, projects):
    """Also one of its interest's project, where the key has that limit."""
    own, other, none = (experiment(api, repo) for repo in (REPO.upper(), OTHER_REPO, None))
    in_project = of_project(api, projects[0])
    by_id = {"template_id": template(api, REPO)["template_id"]}
    of_repo, both = evaluator(api), evaluator(api, interest_id=interests[0])
    for key, foreign in ((of_repo, {other: 403, none: 404, in_project: 404, ABSENT: 404}), (both, {other: 403, none: 404})):
        for named, status in foreign.items():
            for form in (named, named.upper()):
                problem = key.post(RUNS, {**by_id, "params": {"experiment_id": form}}, expect=status).json()
                assert problem["error"] == {403: "forbidden", 404: "not_found"}[status]
        for form in ("mine", "", 5, [own], {"id": own}, True, f"{own}\n", f"{{{own}}}", own.replace("-", "")):
            problem = key.problem("POST", RUNS, 400, "invalid_request", {**by_id, "params": {"experiment_id": form}})
            assert [fault["field"] for fault in problem["errors"]] == ["params.experiment_id"]
    assert api.get(RUNS, expect=200).json() == []
    for key, named in ((of_repo, own), (both, own.upper()), (both, in_project)):
        run = key.post(RUNS, {**by_id, "params": {"experiment_id": named}}, expect=201).json()
        result = {"run_id": run["run_id"], "status": "succeeded", "metrics": {"recall": 1}}
        key.post("/eval-env/webhooks/results", result, expect=200)
        wait_for(lambda: run["run_id"] in [row["run_id"] for row in evaluated(api, named.lower())], "the result is there")
    key.post(RUNS, {**by_id, "params": {"experiment_id": None}}, expect=201)
    assert evaluated(api, other) == evaluated(api, none) == []


def test_other_keys_name_any_experiment_of_the_account(api):
    run = {"template_id": template(api)["template_id"]}
    for named in (experiment(api, OTHER_REPO), ABSENT, 5):
        api.post(RUNS, {**run, "params": {"experiment_id": named}}, expect=201)


def test_templates_of_the_own_repository_are_allowed(api):
    """A template without a repository is the account's."""
    key = evaluator(api)
    own, *foreign = (template(api, repo)["template_id"] for repo in (REPO.upper(), OTHER_REPO, None))
    listed = key.get(TEMPLATES, expect=200)
    assert [one["template_id"] for one in listed.json()] == [own] and listed.headers["X-Total-Count"] == "1"
    assert key.get(f"{TEMPLATES}/{own}", expect=200).json()["repo"] == REPO.upper()
    key.post(RUNS, {"template_id": own}, expect=201)
    key.post(BUILDS, {"repo": REPO, "ref": "main", "template_id": own}, expect=201)
    for one in foreign:
        key.problem("GET", f"{TEMPLATES}/{one}", 404, "not_found")
        for path, body in ((RUNS, {}), (RUNS, {"target": "hosted"}), (BUILDS, {"containerfile": "FROM scratch"})):
            problem = key.problem("POST", path, 400, "invalid_request", {**body, "template_id": one})
            assert [fault["field"] for fault in problem["errors"]] == ["template_id"]
    for method, path in (("POST", TEMPLATES), ("PUT", f"{TEMPLATES}/{own}"), ("POST", f"{TEMPLATES}/{own}/lock")):
        key.problem(method, path, 403, "forbidden", {"name": "mine", "spec": SPEC})
    of_interest = limited(api, scopes=EVALUATION, interest_id=ABSENT)
    of_interest.problem("GET", TEMPLATES, 403, "forbidden")


def test_a_template_changes_its_repository(api):
    key, made = evaluator(api), template(api, REPO)
    path = f"{TEMPLATES}/{made['template_id']}"
    assert api.put(path, {"description": "kept"}, expect=200).json()["repo"] == REPO
    problem = api.problem("PUT", path, 400, "invalid_request", {"repo": "acme"})
    assert [fault["field"] for fault in problem["errors"]] == ["repo"]
    assert api.put(path, {"repo": None}, expect=200).json()["repo"] is None
    key.problem("GET", path, 404, "not_found")
    api.put(path, {"repo": REPO}, expect=200)
    assert key.get(path, expect=200).json() == api.get(path, expect=200).json()


def test_evaluations_without_a_repository_are_not_the_keys(api):
    key = evaluator(api)
    run = api.post(RUNS, {"template_id": template(api)["template_id"]}, expect=201).json()["run_id"]
    build = api.post(BUILDS, {"containerfile": "FROM scratch"}, expect=201).json()["build_id"]
    assert key.get(RUNS, expect=200).json() == []
    for path, body in ((f"{RUNS}/{run}", None), (f"{BUILDS}/{build}", None), (f"{BUILDS}/{build}/context", None)):
        key.problem("GET", path, 404, "not_found", body)
    for path, body in (
        (f"{RUNS}/{run}/cancel", None),
        (f"{RUNS}/{run}/heartbeat", {"attempt": 1}),
        ("/eval-env/webhooks/results", {"run_id": run, "status": "succeeded"}),
        ("/eval-env/webhooks/hosted/results", {"run_id": run, "call_id": "c", "state": "succeeded"}),
        (f"{BUILDS}/{build}/cancel", None),
        (f"{BUILDS}/{build}/heartbeat", {"attempt": 1}),
        (f"{BUILDS}/{build}/report", {"status": "succeeded", "image": "i:1"}),
        (RUNS, {"build_id": build}),
    ):
        key.problem("POST", path, 404, "not_found", body)
    for path in (RUNS, BUILDS):
        key.post(f"{path}/claim", {"worker": "w"}, expect=204)
    assert api.get(f"{RUNS}/{run}", expect=200).json()["status"] == "queued"
    assert api.get(f"{BUILDS}/{build}", expect=200).json()["status"] == "queued"


def test_images_of_a_keys_builds_are_used_for_its_repository_alone(api):
    """It says itself what they have made."""
    of_one, of_other = evaluator(api), evaluator(api, repo=OTHER_REPO)
    body = {"containerfile": "FROM scratch\nLABEL of=key"}

    def image(key):
        made = key.post(BUILDS, body, expect=201).json()
        if made["status"] == "queued":
            report = {"status": "succeeded", "image": f"registry.example.com/{made['build_id']}:1"}
            return key.post(f"{BUILDS}/{made['build_id']}/report", report, expect=200).json()["image"]
        assert made["status"] == "succeeded"
        return made["image"]

    images = [image(key) for key in (of_one, api, of_other)]
    assert len(set(images)) == 3
    assert [image(key) for key in (of_one, api, of_other)] == images


def test_a_key_of_an_interest_alone_names_no_evaluation_runs(api, interests, projects):
    made = of_project(api, projects[0])
    api.put(f"/experiments/{made}", {"ab_test_config": {"metrics": [{"key": "recall", "kind": "mean"}]}}, expect=200)
    run = api.post(RUNS, {"template_id": template(api)["template_id"]}, expect=201).json()["run_id"]
    api.post("/eval-env/webhooks/results", {"run_id": run, "status": "succeeded", "metrics": {"recall": 1}}, expect=200)
    body = {"eval_runs": {"control": [run]}, "apply": False}
    path = f"/experiments/{made}/results"
    limited(api, scopes=SCOPES + EVALUATION, interest_id=interests[0]).problem("POST", path, 403, "forbidden", body)
    evaluator(api, interest_id=interests[0]).problem("POST", path, 400, "invalid_request", body)
    api.post(path, body, expect=200)


def test_connections_of_the_account_are_not_shown(api):
    for limits in ({"repo": REPO}, {"interest_id": ABSENT}, {"repo": REPO, "interest_id": ABSENT}):
        limited(api, scopes=EVALUATION, **limits).problem("GET", "/integrations/providers", 403, "forbidden")
