"""POST /fleet/trigger: who may start which run, and that one is started once."""

import secrets
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lib.outside.counterparts import connect
from lib.scenario.code_host_agent import FILES
from lib.system.servers import free_port
from lib.tables import fleet as fleet_tables
from lib.tables import gateway as gateway_tables
from lib.tables import interests as interests_tables
from lib.wait import wait_for

TRIGGER = "/fleet/trigger"


def new_interest(cluster, api, status):
    """An interest whose pool has that status."""
    made = api.post("/interests", {"name": f"n-{secrets.token_hex(4)}", "context": "attention"}, expect=201).json()["id"]
    with cluster.postgres.connect("interests") as db:
        wait_for(lambda: not interests_tables.is_at_work(db, made), "nothing changes the status of the pool any more")
        interests_tables.set_pool_status(db, made, status)
    return made


# ---- what is started ----


def test_the_workflow_gets_what_was_asked_for(cluster, api, code_host, repo):
    interest = new_interest(cluster, api, "ready")
    passed = {"interest_id": interest, "model": "a/b:c-1.5", "pin_arxiv": "2205.14135", "start_from_ref": "main",
              "lead_content": "Make it $(fast)\n\"now\"", "test_integration_policy": "warn", "fidelity_policy": "off"}
    answer = api.post(TRIGGER, {"repo": repo.upper(), "agent": "agent_two", "provider": "custom", "ref": "main", **passed}, expect=200)
    made = answer.json()
    inputs = {"agent": "agent_two", "provider": "custom", **passed}
    run, = code_host.runs(repo)
    assert run["inputs"] == made["inputs"] == inputs
    assert (made["dispatched"], made["repo"], made["ref"], made["workflow"]) == (True, repo, "main", "expops.yml")
    assert (made["agent"], made["provider"], made["run_id"]) == ("agent_two", "custom", run["id"])
    shown, = api.get(f"/fleet/runs?repo={repo}", expect=200).json()
    assert (shown["run_id"], shown["outcome_kind"]) == (run["id"], "running")


def test_a_run_has_the_pair_of_the_installation(api, code_host, at_host, install):
    repo = code_host.repository(at_host.login, files=FILES, default_branch="trunk")
    install(repo, agent="agent_one", provider="moonshot")
    made = api.post(TRIGGER, {"repo": repo, "agent": None, "lead_content": None}, expect=200).json()
    assert made["ref"] == "trunk" and made["inputs"] == {"agent": "agent_one", "provider": "moonshot"}
    made = api.post(TRIGGER, {"repo": repo, "provider": "zai"}, expect=200).json()
    assert made["inputs"] == {"agent": "agent_one", "provider": "zai"}
    made = api.post(TRIGGER, {"repo": repo, "agent": "agent_one"}, expect=200).json()
    assert made["inputs"] == {"agent": "agent_one", "provider": "anthropic"}


def test_no_run_is_started_with_a_key_that_has_expired(api, user, db, code_host, at_host, install):
    repo, key = code_host.repository(at_host.login, files=FILES), str(uuid.uuid4())
    install(repo, key_id=key)
    fleet_tables.key_ends(db, user.account, key, hours=-1)
    assert "key of the agent has expired" in api.problem("POST", TRIGGER, 409, "conflict", {"repo": repo})["detail"]
    fleet_tables.key_ends(db, user.account, key, hours=1)
    api.post(TRIGGER, {"repo": repo}, expect=200)


@pytest.mark.parametrize("state", ["archived", "disabled"])
def test_no_run_is_started_where_nothing_can_change(api, code_host, repo, state):
    """Though the account has just worked there."""
    api.post(TRIGGER, {"repo": repo}, expect=200)
    code_host.change_repository(repo, **{state: True})
    problem = api.problem("POST", TRIGGER, 409, "conflict", {"repo": repo})
    assert f"{repo} is {state} at the code host" in problem["detail"]
    assert len(code_host.runs(repo)) == 1
    code_host.change_repository(repo, **{state: False})
    api.post(TRIGGER, {"repo": repo}, expect=200)


def test_a_missing_key_of_the_model_s_provider_is_told(api, code_host, repo):
    code_host.put_secret(repo, "EXPOPS_MODEL_KEY_OPENAI", "x")
    for provider, missing in (("openai", False), ("custom", True)):
        body = {"repo": repo, "agent": "agent_two", "provider": provider}
        assert api.post(TRIGGER, body, expect=200).json()["model_key_missing"] is missing
    code_host.fail("GET", "/actions/secrets/", status=500, times=10)
    assert api.post(TRIGGER, body, expect=200).json()["model_key_missing"] is None
    code_host.stop_failing()


def test_the_agent_s_own_key_proves_the_repository(cluster, other_user, code_host, repo, install):
    """A key that provisioning made for the repository, as long as the account can push to it."""
    body = {"name": "agent", "kind": "automation", "repo": repo, "scopes": ["fleet:trigger"]}
    key = other_user.api.post("/account/api-keys", body, expect=201).json()
    install(repo, key_id=key["id"], of=other_user)
    of_agent = other_user.api.as_key(key["key"])
    of_agent.problem("POST", TRIGGER, 404, "not_found", {"repo": repo})
    with cluster.postgres.connect("account") as db:
        gateway_tables.set_repo_verified(db, key["id"], True)
    of_agent.problem("POST", TRIGGER, 404, "not_found", {"repo": repo})
    other = code_host.user()
    code_host.collaborate(repo, other.login)
    connect(other_user.api, "code_host", other.login)
    of_agent.post(TRIGGER, {"repo": repo}, expect=200)
    of_agent.problem("POST", TRIGGER, 403, "forbidden", {"repo": "acme/other"})


# ---- refusals, in their order ----


@pytest.mark.parametrize(
    "body, fields",
    [({}, {"repo"}),
     ({"agent": "agent_nine"}, {"agent"}),
     ({"provider": "nobody"}, {"provider"}),
     ({"agent": "agent_two", "provider": "anthropic"}, {"provider"}),
     ({"agent": "agent_three", "provider": "google"}, {"provider"}),  # AGENT_COMMANDS has no credential
     ({"test_integration_policy": "maybe", "fidelity_policy": "strict"}, {"test_integration_policy", "fidelity_policy"}),
     ({"model": "$(id)"}, {"model"}), ({"pin_arxiv": "1 2"}, {"pin_arxiv"}),
     ({"agent": "agent_nine", "provider": "nobody", "ref": "a//b"}, {"agent", "provider", "ref"}),
     ({"ref": "-x"}, {"ref"}), ({"start_from_ref": "a..b"}, {"start_from_ref"}),
     ({"lead_content": "x" * 32769}, {"lead_content"})],
)  # fmt: skip
def test_wrong_input_is_400_before_anything_else(api, body, fields):
    problem = api.problem("POST", TRIGGER, 400, "invalid_request", {"repo": "acme/nowhere", **body} if body else {})
    assert {fault["field"] for fault in problem["errors"]} == fields


def test_a_provider_that_the_installation_s_agent_cannot_use_is_400(api, repo):
    api.problem("POST", TRIGGER, 400, "invalid_request", {"repo": repo, "provider": "openai"})


def test_a_repository_outside_the_footprint_is_404(other_user, code_host, repo):
    before = code_host.last_number()
    for name in ("acme/nowhere", repo):
        other_user.api.problem("POST", TRIGGER, 404, "not_found", {"repo": name})
    assert not code_host.requests(before)


def test_a_repository_of_another_account_is_404_though_a_run_names_it(other_user, code_host, agent, repo):
    """Anybody can report a run of any repository with a key of his own."""
    key = agent(repo, other_user.api)
    key.post("/fleet/runs", {"run_id": 1, "repo": repo}, expect=201)
    other_user.api.problem("POST", TRIGGER, 404, "not_found", {"repo": repo})
    assert code_host.runs(repo) == []


def test_a_revoked_agent_starts_nothing(cluster, api, db, user, code_host, repo):
    building = new_interest(cluster, api, "building")
    fleet_tables.revoke_installations(db, user.account)
    problem = api.problem("POST", TRIGGER, 409, "conflict", {"repo": repo, "interest_id": building})
    assert "revoked" in problem["detail"] and code_host.runs(repo) == []


def test_an_interest_whose_pool_is_being_built(cluster, api, code_host, at_host, install, other_user):
    repo, interest = code_host.repository(at_host.login, files=FILES), new_interest(cluster, api, "building")
    install(repo, interest_id=interest)
    for body in ({"repo": repo}, {"repo": repo, "interest_id": interest}):
        answer = api.post(TRIGGER, body, headers={"Idempotency-Key": f"k{len(body)}"})
        assert (answer.status_code, answer.json()) == (409, {"pool_building": True})
        assert answer.headers["content-type"] == "application/json"
    assert code_host.runs(repo) == []
    foreign = new_interest(cluster, other_user.api, "ready")
    api.problem("POST", TRIGGER, 404, "not_found", {"repo": repo, "interest_id": foreign})
    with cluster.postgres.connect("interests") as interests:
        interests_tables.set_pool_status(interests, interest, "ready")
    made = api.post(TRIGGER, {"repo": repo}, headers={"Idempotency-Key": "k1"}, expect=200).json()
    assert made["inputs"]["interest_id"] == interest


def test_what_the_code_host_refuses_says_so(api, code_host, at_host, install):
    repo = code_host.repository(at_host.login)
    install(repo)
    missing = api.problem("POST", TRIGGER, 404, "not_found", {"repo": repo})["detail"]
    assert missing == f"no such workflow: {repo} has no .github/workflows/expops.yml on its default branch"
    code_host.put_files(repo, FILES)
    assert "No ref found" in api.problem("POST", TRIGGER, 409, "conflict", {"repo": repo, "ref": "nowhere"})["detail"]
    api.post(TRIGGER, {"repo": repo}, expect=200)


# ---- other services ----


def test_without_a_code_host_it_is_409(cluster, repo, replica):
    integrations = cluster.separate("svc-integrations", "no-host", CODE_HOST_APP_ID="", CODE_HOST_APP_KEY="")
    integrations.start()
    try:
        integrations.wait_ready()
        with replica(INTEGRATIONS_URL=integrations.url) as fleet:
            for path, body in ((TRIGGER, {"repo": repo}), ("/fleet/agents/refresh", {})):
                answer = fleet.call("POST", path, body)
                assert (answer.status_code, answer.json()["error"]) == (409, "provider_not_configured")
            status = fleet.call("GET", f"/fleet/run-status?repo={repo}").json()
            assert status["live"] is False and status["run_id"] is None
    finally:
        integrations.stop()


def test_another_service_that_is_away_is_named(cluster, api, code_host, at_host, install, replica):
    repo, interest = code_host.repository(at_host.login, files=FILES), new_interest(cluster, api, "ready")
    install(repo, interest_id=interest)
    nowhere = f"http://127.0.0.1:{free_port()}"
    for setting, name in (("INTEGRATIONS_URL", "svc-integrations"), ("INTERESTS_URL", "svc-interests")):
        with replica(**{setting: nowhere}) as fleet:
            answer = fleet.call("POST", TRIGGER, {"repo": repo}, Idempotency_Key=name)
            assert answer.status_code == 503 and name in answer.json()["detail"]
    assert code_host.runs(repo) == []


def test_a_rate_limit_of_the_code_host_is_passed_on(api, code_host, repo):
    code_host.limit_secondary(77, path="/dispatches$")
    answer = api.post(TRIGGER, {"repo": repo})
    assert answer.status_code == 503 and "rate limit" in answer.json()["detail"]
    assert 0 < int(answer.headers["retry-after"]) <= 77


# ---- once ----


def test_a_key_starts_one_run(api, code_host, repo):
    headers = {"Idempotency-Key": "once"}
    first, second = (api.post(TRIGGER, {"repo": repo}, headers=headers, expect=200) for _ in range(2))
    assert second.json() == first.json() and second.headers["idempotent-replayed"] == "true"
    assert len(code_host.runs(repo)) == 1
    api.problem("POST", TRIGGER, 422, "idempotency_key_reused", {"repo": repo, "model": "x"}, headers=headers)
    api.post(TRIGGER, {"repo": repo}, expect=200)
    assert len(code_host.runs(repo)) == 2


def test_a_lost_answer_of_the_code_host_starts_no_second_run(api, code_host, repo):
    code_host.fail("POST", "/dispatches$", drop=True)
    headers = {"Idempotency-Key": "lost"}
    api.problem("POST", TRIGGER, 503, "outcome_uncertain", {"repo": repo}, headers=headers)
    made = api.post(TRIGGER, {"repo": repo}, headers=headers, expect=200).json()
    assert [run["id"] for run in code_host.runs(repo)] == [made["run_id"]]


def test_a_run_whose_answer_cannot_be_kept_is_not_said_to_be_undone(api, code_host, db, repo):
    headers = {"Idempotency-Key": "kept"}
    with fleet_tables.refusing(db, "idempotency", "NEW.answer IS NOT NULL", error="SQLSTATE ''57P01''"):
        api.problem("POST", TRIGGER, 503, "outcome_uncertain", {"repo": repo}, headers=headers)
    made = api.post(TRIGGER, {"repo": repo}, headers=headers, expect=200).json()
    assert [run["id"] for run in code_host.runs(repo)] == [made["run_id"]]


@pytest.mark.parametrize("killed", ["before the answer", "before the commit"])
def test_kill_9_starts_no_second_run(cluster, code_host, db, repo, replica, killed):
    """The process dies when the run was started, and the client repeats its request."""
    with replica(REQUEST_TIMEOUT="5s") as fleet, ThreadPoolExecutor(1) as pool:
        before = code_host.last_number()
        if killed == "before the answer":
            code_host.fail("POST", "/dispatches$", hang=True)
        else:  # the note of the run waits for a lock
            db.autocommit = False
            fleet_tables.lock_repository(db, repo)
        pending = pool.submit(fleet.call, "POST", TRIGGER, {"repo": repo}, Idempotency_Key="killed")
        wait_for(lambda: [row for row in code_host.requests(before, "POST", "/dispatches$")], "the dispatch was sent")
        fleet.process.kill9()
        assert isinstance(pending.exception(), httpx.TransportError)
        db.rollback()
        fleet.process.start()
        fleet.process.wait_ready()

        def repeat():
            answer = fleet.call("POST", TRIGGER, {"repo": repo}, Idempotency_Key="killed")
            assert answer.status_code in (200, 409, 503), answer.text
            return answer if answer.status_code == 200 else None

        made = wait_for(repeat, "the repeated request is answered").json()
    assert [run["id"] for run in code_host.runs(repo)] == [made["run_id"]]
