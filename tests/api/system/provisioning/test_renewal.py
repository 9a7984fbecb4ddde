"""The workflow of a repository is renewed by a pull request when the product has another version of it."""

import json

import pytest

from lib.check import messages
from lib.scenario.provisioning import FILE
from lib.system.kill_points import KillPoints
from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

NAME = "svc-interests"


@pytest.fixture
def db(cluster):
    with cluster.postgres.connect("interests") as connection:
        yield connection


@pytest.fixture
def upgrade(cluster):
    """upgrade(mark): run svc-interests with a version of the workflow that has this mark, and which it looks for often."""
    before = [dict(process.env) for process in cluster[NAME]]

    def restart():
        cluster.restart(NAME)
        cluster.wait_ready(NAME)

    def run(mark, **settings):
        for process in cluster[NAME]:
            agents = json.loads(process.env["AGENT_COMMANDS"])
            agents["agent_one"]["install"] = f"true # {mark}"
            process.env.update({"AGENT_COMMANDS": json.dumps(agents), "WORKFLOW_CHECK": "100ms"} | settings)
        restart()

    yield run
    for process, env in zip(cluster[NAME], before, strict=True):
        process.env = env
    restart()


@pytest.fixture
def working(new_team):
    """working(): a team whose agent is at work."""

    def make():
        team = new_team()
        team.provision(auto_merge=True)
        assert (team.status()["state"], team.status()["workflow_outdated"]) == ("active", False)
        return team

    return make


def wait_passes(db):
    """Until each process has looked for what is out of date since now."""
    for _ in range(2):
        before = interests_tables.last_workflow_check(db)
        wait_for(lambda seen=before: interests_tables.last_workflow_check(db) > seen, "a pass")


def renewals(team):
    return [pull for pull in team.pulls() if pull["title"].startswith("Renew")]


def wait_renewal(team):
    """The pull request that renews the workflow, once the service has noted it."""
    wait_for(lambda: renewals(team), "a pull request renews the workflow")
    (pull,) = renewals(team)
    wait_for(lambda: team.status()["pr_url"] == pull["html_url"], "the pull request is noted")
    return pull


def patch(team, pull, state):
    answer = team.host.api("PATCH", f"/repos/{team.repo}/pulls/{pull['number']}", team.at_host.token, json={"state": state})
    assert answer.status_code == 200, answer.text


def wait_current(team):
    wait_for(lambda: not team.status()["workflow_outdated"], "the merge is heard of")
    assert team.status()["state"] == "active"


def test_a_newer_workflow_is_proposed_and_the_agent_goes_on_until_it_is_merged(working, upgrade):
    team = working()
    old = team.host.files(team.repo)[FILE]
    upgrade("first")
    pull = wait_renewal(team)
    assert (team.status()["state"], team.status()["workflow_outdated"]) == ("active", True)
    proposed = team.host.files(team.repo, pull["head"]["ref"])[FILE]
    assert team.host.files(team.repo)[FILE] == old and "# first" not in old and "# first" in proposed
    assert "/docs/guide/workflow" in pull["body"] and "/docs/guide/workflow" in proposed.split("\nname:")[0]
    team.host.merge(team.repo, pull["number"])
    wait_current(team)
    assert team.host.files(team.repo)[FILE] == proposed


def test_a_newer_one_goes_to_the_pull_request_that_is_open(working, upgrade):
    """Which is not merged here: the counterpart would merge the commit that it was opened with."""
    team = working()
    upgrade("first")
    pull = wait_renewal(team)
    upgrade("second")
    wait_for(lambda: "# second" in team.host.files(team.repo, pull["head"]["ref"])[FILE], "the pull request has the newest version")
    assert len(renewals(team)) == 1 and team.status()["workflow_outdated"]


def test_what_was_closed_is_not_proposed_again_and_counts_when_it_is_merged_after_all(working, upgrade, db):
    team, paused = working(), working()
    paused.api.post(paused.path("pause-agent"), expect=200)
    upgrade("first")
    pull = wait_renewal(team)
    patch(team, pull, "closed")
    wait_for(lambda: interests_tables.proposal_closed_at(db, team.interest), "that it is closed is heard of")
    assert renewals(paused) == []
    paused.api.post(paused.path("resume-agent"), expect=200)
    wait_renewal(paused)  # by a later pass
    assert (team.status()["state"], team.status()["workflow_outdated"]) == ("active", True)
    assert [each["state"] for each in renewals(team)] == ["closed"]
    patch(team, pull, "open")
    team.host.merge(team.repo, pull["number"])
    wait_current(team)


def test_provisioning_again_takes_up_the_pull_request(working, upgrade):
    team = working()
    upgrade("first")
    pull = wait_renewal(team)
    result = team.provision(auto_merge=True)["result"]
    assert (result["pr_url"], result["merged"]) == (pull["html_url"], True)
    wait_current(team)
    assert "# first" in team.host.files(team.repo)[FILE] and len(team.pulls()) == 2


@pytest.mark.parametrize("state", ["open", "closed"])
def test_provisioning_again_without_a_merge_leaves_the_agent_at_work(working, upgrade, db, state):
    """The owner does so because the key expires, and has not decided about the pull request, or against it."""
    team = working()
    upgrade("first")
    pull = wait_renewal(team)
    if state == "closed":
        patch(team, pull, "closed")
        wait_for(lambda: interests_tables.proposal_closed_at(db, team.interest), "that it is closed is heard of")
    task = team.provision()
    newest, status = team.pulls()[0], team.status()
    assert (task["result"]["merged"], task["result"]["pr_url"]) == (False, newest["html_url"]) and "until" in task["message"]
    assert (status["state"], status["workflow_outdated"], status["pr_url"]) == ("active", True, newest["html_url"])
    assert status["next_run_at"] and (newest["number"] == pull["number"]) == (state == "open")
    patch(team, newest, "closed")
    wait_for(lambda: interests_tables.proposal_closed_at(db, team.interest), "that it is closed is heard of")
    wait_passes(db)
    assert team.status()["state"] == "active" and len(team.pulls()) == (2 if state == "open" else 3)
    patch(team, newest, "open")
    team.host.merge(team.repo, newest["number"])
    wait_current(team)
    assert "# first" in team.host.files(team.repo)[FILE] and team.provision()["result"]["merged"]


def statuses(db, team):
    """Those of the tasks that renew the workflow, the oldest first."""
    return [task.status for task in common.tasks(db, "workflow_renewal", interest_id=team.interest)]


def test_what_is_wrong_is_told_once_for_a_version(cluster, working, upgrade, db):
    team = working()
    account = interests_tables.account_of(db, team.interest)
    team.host.change_repository(team.repo, archived=True)
    upgrade("first")
    wait_for(lambda: statuses(db, team) == ["failed"], "it fails")
    interests_tables.age_renewal(db, team.interest, "25 hours")
    wait_for(lambda: statuses(db, team) == ["failed", "completed"], "it is tried again")
    assert [told["kind"] for told in messages.told(cluster, account, "task.failed")] == ["workflow_renewal"]
    upgrade("second")
    wait_for(lambda: statuses(db, team) == ["failed", "completed", "failed"], "a newer one fails")
    assert len(messages.told(cluster, account, "task.failed")) == 2


def test_a_renewal_that_has_failed_is_tried_again_a_day_later(working, upgrade, db):
    team = working()
    team.host.change_repository(team.repo, archived=True)
    upgrade("first")
    wait_for(lambda: statuses(db, team) == ["failed"], "it fails")
    team.host.change_repository(team.repo, archived=False)
    wait_passes(db)
    assert interests_tables.renewals_started(db, team.interest) == 1
    interests_tables.age_renewal(db, team.interest, "25 hours")
    wait_renewal(team)
    interests_tables.age_renewal(db, team.interest, "25 hours")
    wait_passes(db)
    assert interests_tables.renewals_started(db, team.interest) == 2


def test_a_renewal_waits_as_long_as_the_code_host_says(working, upgrade, db):
    team = working()
    team.host.limit_secondary(600, actor=f"installation {team.app}")
    upgrade("first")
    seconds = wait_for(lambda: common.next_attempt_s(db, "workflow_renewal", interest_id=team.interest), "the first attempt")
    assert 300 < seconds <= 600
    assert statuses(db, team) == ["pending"]


def test_a_workflow_that_came_in_another_way_is_noted(working, upgrade, db):
    team = working()
    with interests_tables.another_workflow_version(db):
        upgrade("first")
        wait_for(lambda: team.status()["workflow_outdated"], "the service runs")
        new = team.host.files(team.repo)[FILE].replace('echo \\"agent_one\\" >\\"$HOME/installed\\"', "true # first")
        assert "# first" in new
        team.host.put_files(team.repo, {FILE: new})
    wait_current(team)
    assert renewals(team) == []


def test_nothing_is_proposed_while_two_versions_run(working, upgrade, db):
    team = working()
    with interests_tables.another_workflow_version(db):
        upgrade("first")
        wait_passes(db)
        assert interests_tables.renewals_started(db, team.interest) == 0 and team.status()["workflow_outdated"] is True
    wait_renewal(team)


def test_without_an_address_of_the_service_no_workflow_is_newer(working, upgrade):
    """It could not reach the service."""
    team = working()
    upgrade("first", PUBLIC_URL="")
    assert team.status()["workflow_outdated"] is False


def test_a_process_killed_before_it_notes_the_pull_request_finds_it_again(cluster, working, upgrade, db):
    team = working()
    points = KillPoints(cluster, NAME, db, ["provisioning"])
    try:
        with interests_tables.another_workflow_version(db):
            upgrade("first")
            points.hold("provisioning", f"NEW.proposed_version IS NOT NULL AND NEW.interest_id = '{team.interest}'")
        points.wait()
        points.kill()
        wait_renewal(team)
    finally:
        points.release()
    assert len(renewals(team)) == 1
