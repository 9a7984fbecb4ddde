"""Provisioning an interest: the repository gets keys and a workflow, and the agent begins."""

import re
import uuid

import pytest
import yaml

from lib.http.client import Api
from lib.http.keys import checksum
from lib.scenario.provisioning import FILE, KEY
from lib.scenario.team import add_member
from lib.system.kill_points import KillPoints
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.tables import interests as interests_tables
from lib.wait import wait_for

STEPS = ["check_app", "agent_key", "model_key", "workflow", "pull_request", "merge", "installation", "first_run"]


def statuses(team, task):
    steps = team.api.get(team.path(f"provision/{task['task_id']}"), expect=200).json()["steps"]
    assert [step["name"] for step in steps] == STEPS
    return {step["name"]: step["status"] for step in steps}


def test_an_interest_is_provisioned_and_its_agent_begins_when_it_is_merged(team):
    assert team.status() == {"provisioned": False, "state": "none", "repo": None, "agent": None, "pr_url": None,
                             "workflow_outdated": False, "installation_id": None, "task_id": None, "updated_at": None, "paused": False, "next_run_at": None}
    task = team.provision()
    result = task["result"]
    assert task["status"] == "completed", task
    (key,) = team.keys()
    (installation,) = team.installations()
    assert result == {
        "repo": team.repo, "pr_url": result["pr_url"], "merged": False, "secret_set": True, "model_key_missing": False,
        "key_id": key["id"], "installation_id": installation["id"], "dispatched": False,
        "changed": ["agent_key", "model_key", "workflow", "pull_request", "installation"]}
    assert result["pr_url"] in task["message"]
    assert statuses(team, task) == {**dict.fromkeys(STEPS, "completed"), "merge": "skipped", "first_run": "skipped"}
    assert (key["repo"], key["repo_verified"], key["interest_id"]) == (team.repo, True, team.interest)
    assert (installation["repo"], installation["agent"], installation["provider"], installation["key_id"]) == (
        team.repo, "agent_one", "anthropic", key["id"])
    secret = team.host.secret(team.repo, KEY)
    assert secret[-6:] == checksum(secret[:-6])
    assert team.host.secret(team.repo, "EXPOPS_MODEL_KEY_ANTHROPIC").startswith("good-")
    assert team.agent_works()
    assert FILE not in team.host.files(team.repo) and FILE in team.host.files(team.repo, "expops/agent")
    status = team.status()
    assert (status["provisioned"], status["state"], status["pr_url"]) == (True, "awaiting_merge", result["pr_url"])
    assert team.host.runs(team.repo) == []
    team.host.merge(team.repo, 1)
    wait_for(lambda: team.status()["state"] == "active", "the merge is heard of")
    (run,) = wait_for(lambda: team.host.runs(team.repo), "the first run is started")
    assert run["inputs"] == {"agent": "agent_one", "provider": "anthropic", "interest_id": team.interest}


def test_a_pull_request_is_merged_where_that_is_asked(team):
    task = team.provision(auto_merge=True, branch="research")
    assert (task["result"]["merged"], task["result"]["dispatched"]) == (True, True)
    assert task["result"]["changed"] == [step for step in STEPS if step != "check_app"]
    assert statuses(team, task) == dict.fromkeys(STEPS, "completed")
    assert FILE in team.host.files(team.repo) and len(team.host.runs(team.repo)) == 1
    assert team.status()["state"] == "active"


def test_a_budget_leaves_the_first_run_out(team):
    team.api.put("/fleet/budgets", {"scope": "account", "period": "week", "usd": 0, "action": "stop"}, expect=200)
    task = team.provision(auto_merge=True)
    assert (task["status"], task["result"]["dispatched"]) == ("completed", False) and team.host.runs(team.repo) == []
    steps = team.api.get(team.path(f"provision/{task['task_id']}"), expect=200).json()["steps"]
    assert steps[-1]["status"] == "skipped" and steps[-1]["message"].startswith("USD 0.00 of 0.00 spent this week, ")
    assert team.status()["state"] == "active"


def test_the_workflow_can_be_dispatched_and_has_least_permissions(team):
    team.provision(agent="agent_three")
    text = team.host.files(team.repo, "expops/agent")[FILE]
    workflow = yaml.safe_load(text)
    assert not re.search("@[A-Z_]+@", text)
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "choose": {"contents": "read", "pull-requests": "read"}, "work": {"contents": "read"},
        "check": {"contents": "read"}, "test": {"contents": "read"}, "publish": {"contents": "write", "pull-requests": "write"}}
    assert workflow["env"]["API"] == team.api.url
    assert "'agent_three'" in workflow["env"]["AGENT"] and team.interest in workflow["env"]["INTEREST"]
    assert set(workflow[True]["workflow_dispatch"]["inputs"]) == {
        "interest_id", "pin_arxiv", "agent", "provider", "model", "start_from_ref", "lead_content",
        "test_integration_policy", "fidelity_policy"}


def test_an_agent_needs_a_credential_for_the_provider(new_team):
    team = new_team(model_provider="google")  # AGENT_PROVIDERS lists it for agent_three, whose entry in AGENT_COMMANDS does not
    problem = team.start(expect=400, agent="agent_three").json()
    assert [(fault["field"], "AGENT_COMMANDS" in fault["message"]) for fault in problem["errors"]] == [("agent", True)]


def test_without_a_model_key_the_rest_is_done(new_team):
    team = new_team(has_model_key=False)
    task = team.provision(auto_merge=True)
    assert (task["result"]["model_key_missing"], task["result"]["dispatched"]) == (True, False)
    assert "anthropic" in task["message"] and team.host.runs(team.repo) == []
    team.connect_model()
    repaired = team.provision(auto_merge=True)
    assert repaired["result"]["changed"] == ["model_key", "first_run"] and len(team.host.runs(team.repo)) == 1


def test_provisioning_again_changes_nothing(team):
    first = team.provision(auto_merge=True)
    second = team.provision(auto_merge=True)
    assert first["result"]["dispatched"] is True
    assert second["result"] == {**first["result"], "dispatched": False, "changed": []}
    assert second["task_id"] != first["task_id"] and "nothing" in second["message"]
    assert [key["id"] for key in team.keys()] == [first["result"]["key_id"]]
    assert len(team.installations()) == len(team.host.runs(team.repo)) == 1


@pytest.mark.parametrize(("days", "is_told"), [(29, True), (31, False)])
def test_a_key_that_ends_soon_is_told_of(team, days, is_told):
    made = team.api.post("/account/api-keys", {"name": "short", "expires_in_days": days}, expect=201).json()
    api = Api(team.api.url, made["key"])
    task = api.wait_task(api.post(team.path("provision"), {}, expect=202))
    (step,) = [step for step in team.api.get(team.path(f"provision/{task['task_id']}"), expect=200).json()["steps"] if step["name"] == "agent_key"]
    assert (f"expires on {made['expires_at'][:10]}" in step["message"]) is is_told


def test_provisioning_again_replaces_a_key_that_expires_soon(cluster, team):
    first = team.provision()
    with cluster.postgres.connect("interests") as db:
        interests_tables.expire_agent_key(db, team.interest, 29)
    second = team.provision()
    assert second["result"]["changed"] == ["agent_key"]
    (key,) = team.keys()
    assert key["id"] == second["result"]["key_id"] != first["result"]["key_id"]
    assert team.agent_works()
    (installation,) = team.installations()
    assert (installation["id"], installation["key_id"]) == (first["result"]["installation_id"], key["id"])


def test_provisioning_again_puts_a_lost_secret_back(team):
    team.provision()
    team.host.remove_secret(team.repo, KEY)
    assert team.provision()["result"]["changed"] == ["agent_key"]
    assert team.agent_works() and len(team.keys()) == len(team.installations()) == 1


def test_provisioning_again_brings_the_workflow_up_to_date(team):
    team.provision(auto_merge=True)
    for text in ("on: workflow_dispatch\n", ""):
        team.host.put_files(team.repo, {FILE: text})
        again = team.provision(auto_merge=True)
        assert again["result"]["changed"] == ["workflow", "pull_request", "merge"], again
        assert "interest_id" in team.host.files(team.repo)[FILE]
    assert len(team.keys()) == len(team.installations()) == len(team.host.runs(team.repo)) == 1


def test_an_agent_goes_on_until_the_workflow_that_is_proposed_again_is_merged(team):
    team.provision(auto_merge=True)
    team.host.put_files(team.repo, {FILE: "on: workflow_dispatch\n"})
    again = team.provision()["result"]
    assert (again["changed"], again["merged"], team.status()["state"]) == (["workflow", "pull_request"], False, "active")
    team.host.merge(team.repo, team.pulls()[0]["number"])
    result = wait_for(lambda: (done := team.provision()["result"])["merged"] and done, "the merge is seen")
    assert (result["changed"], team.status()["state"]) == ([], "active")


def test_an_agent_whose_workflow_was_removed_waits_for_it(team):
    team.provision(auto_merge=True)
    team.host.put_files(team.repo, {FILE: None})
    assert team.provision()["result"]["merged"] is False and team.status()["state"] == "awaiting_merge"
    team.host.merge(team.repo, team.pulls()[0]["number"])
    wait_for(lambda: team.status()["state"] == "active", "the merge is heard of")


@pytest.mark.parametrize("was_closed", [False, True])
def test_provisioning_again_takes_up_the_proposal_of_a_workflow_that_was_removed(cluster, team, was_closed):
    """The branch of the first pull request was merged: what is committed there reaches nobody."""
    team.provision(auto_merge=True)
    team.host.put_files(team.repo, {FILE: None})
    second = team.provision()["result"]["pr_url"]
    if was_closed:
        path = f"/repos/{team.repo}/pulls/{team.pulls()[0]['number']}"
        assert team.host.api("PATCH", path, team.at_host.token, json={"state": "closed"}).status_code == 200
        wait_for(lambda: team.status()["state"] == "failed", "that it is closed is heard of")
    third = team.provision()["result"]
    newest, first = team.pulls()[0], team.pulls()[-1]
    assert (third["merged"], third["pr_url"] == second) == (False, not was_closed)
    assert (team.status()["state"], len(team.pulls())) == ("awaiting_merge", 3 if was_closed else 2)
    assert third["pr_url"] == newest["html_url"] and newest["head"]["ref"] != first["head"]["ref"]
    team.host.merge(team.repo, newest["number"])
    wait_for(lambda: team.status()["state"] == "active", "the merge is heard of")
    assert "interest_id" in team.host.files(team.repo)[FILE]


def test_after_a_proposal_was_closed_the_branch_is_the_one_that_is_asked_for(team):
    """No workflow was ever merged. A proposal that is open keeps its branch."""
    team.provision()
    path = f"/repos/{team.repo}/pulls/{team.pulls()[0]['number']}"
    assert team.host.api("PATCH", path, team.at_host.token, json={"state": "closed"}).status_code == 200
    wait_for(lambda: team.status()["state"] == "failed", "that it is closed is heard of")
    for wanted in ("research/agent", "another"):
        assert team.provision(branch=wanted)["status"] == "completed"
        assert [pull["head"]["ref"] for pull in team.pulls()] == ["research/agent", "expops/agent"]


def test_a_merge_whose_workflow_is_not_there_is_not_taken_for_it(cluster, team):
    """The service has forgotten that it was merged, as of a repository that it comes back to."""
    first = team.provision(auto_merge=True)["result"]
    team.host.put_files(team.repo, {FILE: None})
    with cluster.postgres.connect("interests") as db:
        interests_tables.forget_proposals(db, team.interest)
    refusal = {"message": "Validation Failed: No commits between main and expops/agent"}
    team.host.fail("POST", f"^/repos/{team.repo}/pulls$", status=422, body=refusal)
    again = team.provision()["result"]
    assert again["merged"] is False and again["pr_url"] != first["pr_url"] and team.status()["state"] == "awaiting_merge"
    team.host.merge(team.repo, team.pulls()[0]["number"])
    wait_for(lambda: team.status()["state"] == "active", "the merge is heard of")
    assert "interest_id" in team.host.files(team.repo)[FILE]


def test_a_revoked_agent_comes_back_by_provisioning_again(team):
    first = team.provision()["result"]
    team.api.post(f"/fleet/installations/{first['installation_id']}/revoke", expect=200)
    wait_for(lambda: team.status()["state"] == "revoked", "the revocation is heard of")
    assert team.status()["provisioned"] is False
    second = team.provision()["result"]
    assert second["changed"] == ["agent_key", "installation"]
    assert {one["status"] for one in team.installations()} == {"active", "revoked"} and len(team.keys()) == 1
    assert team.status()["state"] == "awaiting_merge"


def test_a_deleted_interest_ends_its_agent(team):
    team.provision()
    agent = team.agent()
    team.api.delete(f"/interests/{team.interest}", expect=200)
    wait_for(lambda: agent.get("/search/stats").status_code == 401, "the key is revoked")
    wait_for(lambda: team.installations()[0]["status"] == "revoked", "the agent is revoked")


def test_a_deleted_account_leaves_nothing(cluster, team):
    team.provision()
    team.api.post("/account/delete", {"confirm": True}, expect=200)
    with cluster.postgres.connect("interests") as db:
        wait_for(lambda: common.tables_with(db, ["provisioning"], interest_id=team.interest) == [], "the rows are deleted")


def test_the_app_that_is_removed_is_heard_of(team):
    team.provision()
    team.host.uninstall(team.app)
    wait_for(lambda: team.status()["state"] == "failed", "the removal is heard of")


# ---- what is refused ----


def test_the_agent_must_be_able_to_use_the_model_provider(new_team):
    team = new_team(model_provider="openai")
    for body in ({}, {"agent": "agent_one"}, {"agent": "nobody"}, {"agent": "agent_one", "repo": "not a repository"}):
        problem = team.api.problem("POST", team.path("provision"), 400, "invalid_request", body)
        assert {fault["field"] for fault in problem["errors"]} & {"agent", "repo"}
    assert team.status()["state"] == "none"
    assert team.provision(agent="agent_two")["status"] == "completed"


def test_every_fault_is_named_before_anything_is_made(new_team):
    team = new_team()
    body = {"agent": "nobody", "repo": "not a repository", "branch": "-x", "auto_merge": "yes"}
    problem = team.api.problem("POST", team.path("provision"), 400, "invalid_request", body)
    assert {fault["field"] for fault in problem["errors"]} == set(body)
    assert team.status()["state"] == "none"


@pytest.mark.parametrize("context", ["No repository.", "{url}/a/b and {url}/c/d"])
def test_a_repository_must_be_named(new_team, context):
    team = new_team()
    context = context.format(url=team.host.url)
    team.api.put(f"/interests/{team.interest}", {"context": context}, expect=200)
    problem = team.api.problem("POST", team.path("provision"), 400, "invalid_request", {})
    assert [fault["field"] for fault in problem["errors"]] == ["repo"]
    assert team.provision(repo=team.repo)["result"]["repo"] == team.repo


@pytest.mark.parametrize("source", ["{url}/{repo}", "{url}/{repo}.git/", "{url}/{upper}", "{url}/{repo}/tree/main/docs?x=1", "{URL}/{repo}"])
def test_the_repository_of_the_interest_may_be_named_in_any_form(new_team, source):
    team = new_team()
    source = source.format(url=team.host.url, URL=team.host.url.upper(), repo=team.repo, upper=team.repo.upper())
    team.api.put(f"/interests/{team.interest}", {"source_repo_url": source}, expect=200)
    for form in (team.repo, team.repo.upper(), f"{team.repo}.git", f"{team.repo}/", f"{team.repo}.GIT//"):
        assert team.provision(repo=form)["result"]["repo"] == team.repo, form
    assert len(team.keys()) == len(team.pulls()) == 1


@pytest.mark.parametrize("path", ["orgs/acme", "Settings/keys", "marketplace/actions", "topics/ranking", "sponsors/ada", "features/actions",
                                  "apps/dependabot", "users/ada/projects"])
def test_a_page_of_the_code_host_is_no_repository(team, path):
    """As the repository of the interest, and beside one in its context."""
    page = f"{team.host.url}/{path}"
    team.api.put(f"/interests/{team.interest}", {"context": f"See {page} and {team.host.url.upper()}/{team.repo}."}, expect=200)
    assert team.provision()["result"]["repo"] == team.repo
    team.api.put(f"/interests/{team.interest}", {"source_repo_url": page}, expect=200)
    problem = team.api.problem("POST", team.path("provision"), 400, "invalid_request", {})
    assert [fault["field"] for fault in problem["errors"]] == ["repo"]


def test_another_repository_than_the_interests_own_is_refused(new_team):
    """Also one of the account, on which the agent could work."""
    team = new_team()
    team.api.put(f"/interests/{team.interest}", {"source_repo_url": f"{team.host.url}/{team.repo}.git"}, expect=200)
    own = team.host.repository(team.at_host.login)
    for other in (own, f"{own}.git", "acme/other", f"{team.repo}x", team.repo[:-1], f"x{team.repo}", "orgs/acme"):
        problem = team.api.problem("POST", team.path("provision"), 400, "invalid_request", {"repo": other, "auto_merge": True})
        assert [fault["field"] for fault in problem["errors"]] == ["repo"], other
    assert team.status()["state"] == "none" and team.keys() == []
    assert FILE not in team.host.files(own)


def test_without_a_repository_of_its_own_the_named_one_is_used(new_team):
    team = new_team()
    own = team.host.repository(team.at_host.login)
    assert team.provision(repo=f"{own.upper()}.git/")["result"]["repo"] == own
    assert FILE in team.host.files(own, "expops/agent")


def test_a_repository_of_others_is_unknown(team, code_host):
    team.api.put(f"/interests/{team.interest}", {"context": "x"}, expect=200)
    other = code_host.user().login
    code_host.install(other)
    for repo in (code_host.repository(other), "nobody/nothing"):
        team.api.problem("POST", team.path("provision"), 404, "not_found", {"repo": repo})
    assert team.status()["state"] == "none" and team.keys() == team.installations() == []


def test_without_the_app_nothing_is_started(new_team):
    team = new_team(has_app=False)
    problem = team.api.problem("POST", team.path("provision"), 409, "conflict", {})
    assert "install" in problem["detail"] and team.status()["state"] == "none" and team.keys() == []
    team.host.install(team.at_host.login)
    assert team.provision()["status"] == "completed"


@pytest.mark.parametrize("state", ["suspended", "archived", "disabled"])
def test_where_a_step_would_fail_nothing_is_started(team, state):
    def change(value):
        if state == "suspended":
            team.host.suspend(team.app, value)
        else:
            team.host.change_repository(team.repo, **{state: value})

    change(True)
    problem = team.api.problem("POST", team.path("provision"), 409, "conflict", {})
    assert state in problem["detail"] and team.repo in problem["detail"] and "then provision again" in problem["detail"]
    assert team.status()["state"] == "none" and team.keys() == []
    change(False)
    assert team.provision()["status"] == "completed"


def test_what_is_lost_after_the_start_fails_the_task(cluster, team):
    with cluster.postgres.connect("interests") as db:
        points = KillPoints(cluster, "svc-interests", db, ["provision_step"])
        points.hold("provision_step", "NEW.name = 'check_app' AND NEW.status = 'running'")
        started = team.start()
        points.wait()
        team.host.uninstall(team.app)
        points.release()
    task = team.api.wait_task(started)
    assert task["status"] == "failed" and "install" in task["error"]
    assert statuses(team, task)["check_app"] == "failed" and team.status()["state"] == "failed" and team.keys() == []
    assert task["message"] == task["error"]
    assert cluster.run("svc-interests", "dead", "list", "--kind", "provision") == ""
    assert cluster.run("svc-interests", "dead", "retry", task["task_id"]) == ""
    measured = "".join(one.metrics() for one in cluster["svc-interests"])
    assert 'kind="provision",outcome="refused"' in measured
    assert set(re.findall(r'kind="provision",outcome="failed"} (.*)', measured)) == {"0"}


def test_a_repository_works_for_one_interest(team):
    team.provision()
    other = team.api.post("/interests", {"name": "Another", "context": team.host.url + "/" + team.repo}, expect=201).json()["id"]
    team.api.problem("POST", f"/interests/{other}/provision", 409, "conflict", {})
    team.api.delete(f"/interests/{team.interest}", expect=200)
    assert team.api.wait_task(team.api.post(f"/interests/{other}/provision", {}))["status"] == "completed"
    wait_for(lambda: len(team.keys()) == 1, "the first agent's key has ended")


def test_an_agent_of_another_account_is_not_overwritten(new_team):
    first, second = new_team(), new_team()
    first.provision()
    first.host.collaborate(first.repo, second.at_host.login)
    second.api.put(f"/interests/{second.interest}", {"context": "Ranking."}, expect=200)
    task = second.provision(repo=first.repo)
    assert task["status"] == "failed" and "another account" in task["error"] and statuses(second, task)["agent_key"] == "failed"
    assert first.agent_works() and second.keys() == []
    first.host.remove_secret(first.repo, KEY)
    assert second.provision(repo=first.repo)["status"] == "completed"
    wait_for(lambda: first.status()["state"] == "revoked", "the first agent has ended")
    assert Api(second.api.url, second.host.secret(first.repo, KEY)).get("/search/stats").status_code == 200
    assert first.keys() == [] and "another account" in first.provision()["error"]


def want(cluster, team, repo):
    """What a start left behind whose task has failed: the agent of a team was to move to a repository."""
    with cluster.postgres.connect("interests") as db:
        interests_tables.want_repository(db, team.interest, repo)


def test_a_repository_that_is_wanted_and_not_proved_is_free_for_its_owner(cluster, new_team):
    attacker, owner = new_team(), new_team()
    attacker.provision(auto_merge=True)
    attacker.api.put(f"/interests/{attacker.interest}", {"context": "x"}, expect=200)
    wait_for(lambda: attacker.status()["state"] == "active", "the merge is heard of")
    before = attacker.status()
    for repo in (owner.repo, owner.repo.upper()):
        attacker.api.problem("POST", attacker.path("provision"), 404, "not_found", {"repo": repo})
    assert attacker.status() == before and attacker.agent_works()
    want(cluster, attacker, owner.repo)
    task = owner.provision()
    assert task["status"] == "completed", task
    assert owner.agent_works() and attacker.agent_works()
    again = owner.provision()
    assert (again["status"], again["result"]["changed"]) == ("completed", [])


def another_interest(team, repo):
    """A second interest of the team, on a repository."""
    body = {"name": f"Another of {repo}", "context": f"{team.host.url}/{repo}"}
    return team.api.post("/interests", body, expect=201).json()["id"]


def test_a_repository_that_is_wanted_and_not_proved_is_free_for_another_interest(cluster, team):
    team.provision()
    wanted = team.host.repository(team.at_host.login)
    want(cluster, team, wanted)
    other = another_interest(team, wanted)
    assert team.api.wait_task(team.api.post(f"/interests/{other}/provision", {}))["status"] == "completed"
    # The one that the agent has stays its own until it is revoked.
    third = another_interest(team, team.repo)
    team.api.problem("POST", f"/interests/{third}/provision", 409, "conflict", {})
    (installation,) = [one for one in team.installations() if one["repo"] == team.repo]
    team.api.post(f"/fleet/installations/{installation['id']}/revoke", expect=200)
    started = wait_for(lambda: team.api.post(f"/interests/{third}/provision", {}, expect=202), "the revocation is heard of")
    assert team.api.wait_task(started)["status"] == "completed"


def test_an_agent_that_has_moved_leaves_its_repository_free(new_team):
    team = new_team()
    team.provision()
    former, key = team.agent(), team.keys()[0]["id"]
    moved = team.host.repository(team.at_host.login)
    assert team.provision(repo=moved)["result"]["repo"] == moved
    wait_for(lambda: former.get("/search/stats").status_code == 401, "the former key is revoked")
    assert key not in [one["id"] for one in team.keys()]
    other = another_interest(team, team.repo)
    assert team.api.wait_task(team.api.post(f"/interests/{other}/provision", {}))["status"] == "completed"
    assert len(team.keys()) == 2


def test_others_see_nothing(team, other_user):
    task = team.provision()
    for method, path in (("POST", "provision"), ("GET", "provision-status"), ("POST", "provision-cli-token"),
                         ("GET", f"provision/{task['task_id']}")):
        other_user.api.problem(method, team.path(path), 404, "not_found", {} if method == "POST" else None)
    team.api.problem("GET", team.path(f"provision/{uuid.uuid4()}"), 404, "not_found")


def test_an_automation_key_provisions_nothing(team):
    body = {"name": "a", "kind": "automation", "scopes": ["provisioning:write", "interests:read"]}
    key = team.api.as_key(team.api.post("/account/api-keys", body, expect=201).json()["key"])
    key.problem("POST", team.path("provision"), 403, "forbidden", {})
    key.problem("POST", team.path("provision-cli-token"), 403, "forbidden")


AGENT = ["experiments:read", "implement:read", "implement:write", "interests:read", "recommendations:read",
         "recommendations:write", "search:read", "fleet:report", "code_host:write", "eval:report"]


def narrow(team, *scopes):
    return team.api.as_key(team.api.post("/account/api-keys", {"name": "n", "scopes": list(scopes)}, expect=201).json()["key"])


def test_no_key_is_made_with_scopes_that_its_maker_lacks(team):
    key = narrow(team, "provisioning:write")
    problem = key.problem("POST", team.path("provision"), 403, "insufficient_scope", {})
    assert problem["scope"].split() == AGENT
    assert team.status()["state"] == "none" and team.status()["task_id"] is None
    key = narrow(team, "provisioning:write", *AGENT, "interests:write")
    task = key.wait_task(key.post(team.path("provision"), {}, expect=202))
    assert task["status"] == "completed"
    key = narrow(team, "provisioning:write", *AGENT[1:])
    problem = key.problem("POST", team.path("provision-cli-token"), 403, "insufficient_scope")
    assert problem["scope"] == AGENT[0]
    assert len(team.keys()) == 1


def test_a_repeated_request_starts_one_task(team):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first, second = (team.api.post(team.path("provision"), {}, headers=headers, expect=202) for _ in range(2))
    assert first.json() == second.json() and second.headers["idempotent-replayed"] == "true"
    assert team.api.wait_task(first)["status"] == "completed"


def test_another_key_may_repeat_the_request(team):
    other = team.api.as_key(team.api.post("/account/api-keys", {"name": "other"}, expect=201).json()["key"])
    first, second = (api.post(team.path("provision"), {}, expect=202).json() for api in (team.api, other))
    assert first["task_id"] == second["task_id"]


# ---- the token ----


def test_a_token_for_the_command_line(team):
    team.api.problem("POST", team.path("provision-cli-token"), 409, "conflict")
    team.provision()
    answer = team.api.post(team.path("provision-cli-token"), expect=200)
    token = answer.json()
    assert answer.headers["Cache-Control"] == "no-store" and token["repo"] == team.repo
    client = team.api.as_key(token["token"])
    client.get(team.path("provision-status"), expect=200)
    client.problem("GET", f"/interests/{uuid.uuid4()}", 403, "forbidden")
    client.problem("POST", team.path("provision"), 403, "insufficient_scope", {})
    (key,) = [key for key in team.keys() if key["name"].startswith("command line")]
    assert (key["expires_at"], key["repo"], key["interest_id"]) == (token["expires_at"], team.repo, team.interest)


def test_a_sixth_token_ends_the_first(team):
    team.provision()
    tokens = [team.api.post(team.path("provision-cli-token"), expect=200).json()["token"] for _ in range(6)]
    statuses = [team.api.as_key(token).get(team.path("provision-status")).status_code for token in tokens]
    assert statuses == [401] + [200] * 5
    assert team.agent_works()


def test_a_token_ends_with_its_persons_place(cluster, team):
    team.provision()
    (account,) = team.api.get("/accounts", expect=200).json()
    member = add_member(cluster, account["id"], "admin")
    tokens = [api.post(team.path("provision-cli-token"), expect=200).json()["token"] for api in (team.api, member.api)]
    team.api.delete(f"/team/members/{member.person}", expect=200)
    statuses = lambda: [team.api.as_key(token).get(team.path("provision-status")).status_code for token in tokens]  # noqa: E731
    wait_for(lambda: statuses() == [200, 401], "the token of the member is refused")
    assert team.agent_works()


@pytest.mark.parametrize("ends", ["interest", "key", "deleted key"])
def test_a_token_ends_with_its_interest_and_with_the_key_of_its_agent(team, ends):
    team.provision()
    (key,) = [one["id"] for one in team.api.get("/account/api-keys", expect=200).json()["keys"] if one["interest_id"] == team.interest]
    client = team.api.as_key(team.api.post(team.path("provision-cli-token"), expect=200).json()["token"])
    if ends == "interest":
        team.api.delete(f"/interests/{team.interest}", expect=200)
    elif ends == "key":
        team.api.post(f"/account/api-keys/{key}/revoke", expect=200)
    else:
        team.api.delete(f"/account/api-keys/{key}", expect=200)
    wait_for(lambda: client.get("/papers/recommended").status_code == 401, "the token is refused")


def test_a_token_is_refused_once_push_access_is_lost(cluster, team):
    """A yes of the code host is remembered for five minutes."""
    owner = team.host.user()
    team.host.install(owner.login)
    repo = team.host.repository(owner.login)
    membership = team.host.collaborate(repo, team.at_host.login)
    assert team.provision(repo=repo)["status"] == "completed"
    team.api.post(team.path("provision-cli-token"), expect=200)
    team.host.leave(membership)
    with cluster.postgres.connect("integrations") as db:
        integrations_tables.age_access(db, repo)
    team.api.problem("POST", team.path("provision-cli-token"), 404, "not_found")
