"""A repository that is renamed or transferred: everything that was kept under its name follows, for agents, too."""

import secrets

import pytest

from lib.http.client import Api
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for


@pytest.fixture
def team(new_team):
    """A team whose agent works on its repository."""
    made = new_team()
    made.provision(auto_merge=True)
    return made


def new_name():
    return f"renamed-{secrets.token_hex(4)}"


def rename(team, name=None):
    """Rename the repository of a team; returns its former name."""
    former, team.repo = team.repo, team.host.rename(team.repo, name or new_name())
    return former


def open_pull(team, branch=None):
    """A pull request at the code host."""
    branch = branch or f"work-{secrets.token_hex(4)}"
    team.host.put_branch(team.repo, branch, {**team.host.files(team.repo), "made.txt": branch})
    body = {"head": branch, "base": "main", "title": "Better ranking", "body": ""}
    answer = team.host.api("POST", f"/repos/{team.repo}/pulls", team.at_host.token, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def agent_of(team):
    """A client with the agent's key, as it is in the repository's secret."""
    return Api(team.api.url, team.host.secret(team.repo, "EXPOPS_KEY"))


def report(agent, repo, run_id="own-1", expect=201, **members):
    body = {"run_id": run_id, "repo": repo, "status": "pr_opened", "cost_usd": 0.5, **members}
    return agent.post("/fleet/runs", body, expect=expect).json()


def runs(team, repo):
    """The runs that the test has reported: provisioning has started one, too."""
    rows = team.api.get(f"/fleet/runs?repo={repo}", expect=200).json()
    return [row for row in rows if str(row["run_id"]).startswith("own-")]


def deliverables(team):
    return team.api.get("/fleet/agents/report", expect=200).json()["deliverables"]


def key_repos(team):
    return {key["repo"] for key in team.keys()}


def wait_moved(team):
    """Wait until each service goes by the new name."""
    wait_for(lambda: key_repos(team) == {team.repo}, "the key's limit follows")
    wait_for(lambda: {row["repo"] for row in team.installations()} == {team.repo}, "the installation follows")
    wait_for(lambda: team.status()["repo"] == team.repo, "the provisioning follows")


def started_experiment(team):
    """An experiment whose run is under way, with the workflow run."""
    launch = {"task_description": "Swap the kernel", "target_repo": team.repo}
    body = {"name": f"Faster encoder {secrets.token_hex(4)}", "launch_context": launch}
    experiment = team.api.post("/experiments", body, expect=201).json()["id"]
    known = len(team.host.runs(team.repo))
    team.api.post(f"/implement/experiments/{experiment}/run", expect=202)
    (run,) = wait_for(lambda: team.host.runs(team.repo)[known:], "the workflow is started")
    return experiment, run


def wait_status(team, experiment, **members):
    def is_reached():
        status = team.api.get(f"/implement/experiments/{experiment}/status", expect=200).json()
        return status if members.items() <= status.items() else None

    return wait_for(is_reached, f"{members} of the experiment")


def test_a_merge_under_the_new_name_completes_what_was_made_under_the_old_one(team):
    experiment, run = started_experiment(team)
    pull = open_pull(team, f"expops/run-{run['id']}")
    wait_status(team, experiment, pr_status="open")
    report(agent_of(team), team.repo, artifact_url=pull["html_url"])
    former = rename(team)
    team.host.merge(team.repo, pull["number"])
    wait_status(team, experiment, pr_status="merged")
    (made,) = wait_for(lambda: [row for row in deliverables(team) if row["stage"] == "merged"], "the merge is known")
    assert (made["repo"], made["kind"]) == (team.repo, "pull_request")
    told = team.api.get("/fleet/agents/report", expect=200).json()
    assert told["kpis"]["pull_requests_merged"] == 1 and [row["repo"] for row in told["agents"]] == [team.repo]
    detail = team.api.get(f"/experiments/{experiment}", expect=200).json()
    assert detail["launch_context"]["target_repo"] == team.repo and former not in detail["pr_url"]


def test_what_is_kept_follows(team):
    source = f"{team.host.url}/{team.repo}"
    team.api.put(f"/interests/{team.interest}", {"source_repo_url": source}, expect=200)
    body = {"name": "Later", "launch_context": {"target_repo": team.repo}}
    experiment = team.api.post("/experiments", body, expect=201).json()["id"]
    build = team.api.post("/eval-env/builds", {"repo": team.repo}, expect=201).json()["build_id"]
    report(agent_of(team), team.repo)
    former = rename(team)
    wait_moved(team)
    for name in (team.repo, former, former.upper()):  # a former name leads to the repository
        assert [row["repo"] for row in runs(team, name)] == [team.repo]
        told = team.api.get(f"/fleet/agents/report?repos={name}", expect=200).json()
        assert [row["repo"] for row in told["agents"]] == [team.repo] and told["kpis"]["runs"] == 2
        assert team.api.get(f"/fleet/agents/activity?repo={name}", expect=200).json()["repo"] == team.repo
    interest = wait_for(lambda: [row for row in team.api.get("/interests").json() if row["source_repo_url"] != source], "it follows")
    assert interest[0]["source_repo_url"] == f"{team.host.url}/{team.repo}"
    launch = team.api.get(f"/experiments/{experiment}", expect=200).json()["launch_context"]
    assert launch["target_repo"] == team.repo
    wait_for(lambda: team.api.get(f"/eval-env/builds/{build}").json()["repo"] == team.repo, "the build follows")
    assert team.provision()["result"]["changed"] == []


def test_an_agent_goes_on(team):
    """Runs that began before the rename call the repository by its former name, later ones by the new one."""
    agent = agent_of(team)
    report(agent, team.repo, run_id="own-before", status="running")
    former = rename(team)
    wait_moved(team)
    report(agent, former, run_id="own-before", status="pr_opened", expect=200)
    report(agent, team.repo, run_id="own-after")
    assert {row["run_id"]: (row["repo"], row["status"]) for row in runs(team, team.repo)} == {
        "own-before": (team.repo, "pr_opened"), "own-after": (team.repo, "pr_opened")}
    for name in (former, team.repo):
        assert agent.post("/github/installation-token", {"repo": name}, expect=200).json()["repository"] == team.repo
    other = team.host.repository(team.at_host.login)
    agent.post("/fleet/runs", {"run_id": "x", "repo": other}, expect=403)
    assert team.api.post("/fleet/trigger", {"repo": former}, expect=200).json()["repo"] == team.repo


def test_a_pull_request_that_is_reported_by_its_former_address_is_known(team):
    """As by a run that began before the rename."""
    pull, agent = open_pull(team), agent_of(team)
    former = rename(team)
    wait_moved(team)
    report(agent, former, artifact_url=pull["html_url"])
    team.host.merge(team.repo, pull["number"])
    wait_for(lambda: [row["stage"] for row in deliverables(team)] == ["merged"], "the merge is known")


def test_a_new_repository_with_the_old_name_is_another_one(team):
    agent = agent_of(team)
    report(agent, team.repo)
    former = rename(team)
    wait_moved(team)
    successor = team.host.repository(team.at_host.login, former.split("/")[1])
    assert successor == former
    team.host.put_files(successor, {"a.txt": "1"})  # its push is the first that is heard of it
    wait_for(lambda: agent.post("/fleet/runs", {"run_id": "own-2", "repo": former}).status_code == 403, "the name is another one's")
    assert runs(team, former) == [] and {row["repo"] for row in runs(team, team.repo)} == {team.repo}
    agent.post("/github/installation-token", {"repo": former}, expect=403)
    report(agent, team.repo, run_id="own-3")
    assert key_repos(team) == {team.repo}


def test_the_next_delivery_heals_a_lost_rename(team):
    agent = agent_of(team)
    report(agent, team.repo)
    with team.host.held_deliveries():
        former = rename(team)
    team.host.put_files(team.repo, {"a.txt": "1"})
    wait_moved(team)
    assert [row["repo"] for row in runs(team, former)] == [team.repo]
    report(agent, team.repo, run_id="own-2")


def test_a_question_of_an_agent_heals_a_lost_rename(team, code_host):
    """The code host redirects it, and its answer has the new name."""
    agent = agent_of(team)
    with team.host.held_deliveries():
        former = rename(team)
        forget_access(team)
        assert agent.post("/github/installation-token", {"repo": former}, expect=200).json()["repository"] == team.repo
        wait_moved(team)


def forget_access(team):
    with team.cluster.postgres.connect("integrations") as db:
        integrations_tables.forget_access(db)


def test_a_repository_that_lost_its_name_unheard_keeps_its_rows(team):
    """Its rename was lost, and the first that is heard is that another repository has its name. Then it is heard of, too."""
    agent = agent_of(team)
    report(agent, team.repo)
    with team.host.held_deliveries():
        former = rename(team)
        successor = team.host.repository(team.at_host.login, former.split("/")[1])
    team.host.put_files(successor, {"a.txt": "1"})
    wait_for(lambda: former not in key_repos(team), "the key is not the successor's")
    agent.post("/fleet/runs", {"run_id": "own-2", "repo": former}, expect=403)
    wait_for(lambda: runs(team, former) == [], "the runs are not the successor's")
    team.host.put_files(team.repo, {"a.txt": "1"})
    wait_moved(team)
    assert [row["repo"] for row in runs(team, team.repo)] == [team.repo]
    report(agent, team.repo, run_id="own-3")


def test_rights_end_with_a_transfer(team, code_host):
    """The account reports on, and learns nothing more: the repository is somebody else's."""
    agent, pull = agent_of(team), open_pull(team)
    report(agent, team.repo, artifact_url=pull["html_url"])
    stranger = code_host.user()
    code_host.install(stranger.login)
    former, team.repo = team.repo, code_host.transfer(team.repo, stranger.login)
    wait_moved(team)
    code_host.merge(team.repo, pull["number"])
    report(agent, team.repo, run_id="own-2")
    items = wait_for(lambda: [row for row in team.api.get("/fleet/agents/inbox").json() if row["kind"] == "access_lost"], "it says so")
    assert items[0]["repo"] == team.repo
    for name in (former, team.repo):
        agent.post("/github/installation-token", {"repo": name}, expect=404)
    assert {row["stage"] for row in deliverables(team)} == {"open"}


def test_a_transfer_to_an_organisation_of_the_user_changes_nothing(team, code_host):
    agent = agent_of(team)
    report(agent, team.repo)
    owner = code_host.organisation(team.at_host.login)
    code_host.install(owner)
    former, team.repo = team.repo, code_host.transfer(team.repo, owner)
    wait_moved(team)
    assert agent.post("/github/installation-token", {"repo": team.repo}, expect=200).json()["repository"] == team.repo
    assert [row["repo"] for row in runs(team, former)] == [team.repo]
