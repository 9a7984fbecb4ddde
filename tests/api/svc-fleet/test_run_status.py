"""GET /fleet/run-status: the newest run as the code host tells it, asked for at most once in five seconds."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from lib.outside.counterparts import connect
from lib.system.servers import free_port
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

PATH = "/fleet/run-status"


def status(api, repo):
    return api.get(PATH, params={"repo": repo}, expect=200).json()


def trigger(api, repo):
    return api.post("/fleet/trigger", {"repo": repo}, expect=200).json()["run_id"]


def asked(code_host, before):
    """How often the code host was asked for the runs of a workflow."""
    return len(code_host.requests(before, "GET", "/actions/workflows/expops.yml/runs"))


@pytest.fixture
def pass_time(db):
    """pass_time(repo, seconds): what was asked and told of the repository was so many seconds earlier."""
    return lambda repo, seconds: fleet_tables.age_status(db, repo, seconds)


@pytest.fixture
def started(api, code_host, repo):
    """The id of a run that was started in `repo`. No event tells of that."""
    with code_host.held_deliveries():
        return trigger(api, repo)


def test_the_newest_run_is_the_code_host_s(api, code_host, agent, repo, started, pass_time):
    with code_host.held_deliveries():  # no event tells of it
        code_host.change_run(started, "in_progress")
    told = status(api, repo.upper())
    assert (told["repo"], told["run_id"], told["status"], told["outcome_kind"]) == (repo, started, "in_progress", "running")
    assert told["html_url"].endswith(f"/actions/runs/{started}") and told["live"] is True and told["as_of"]
    agent(repo).post("/fleet/runs", {"run_id": started, "repo": repo, "status": "pr_opened",
                                     "artifact_url": f"https://github.com/{repo}/pull/3"}, expect=200)
    code_host.change_run(started, "completed", "success")
    pass_time(repo, 5)
    told = status(api, repo)
    assert (told["status"], told["outcome_kind"]) == ("completed", "pull_request")
    assert told["artifact_url"].endswith("/pull/3")


def test_a_run_that_ended_without_a_report_has_failed(api, code_host, repo, started):
    code_host.change_run(started, "completed", "failure")
    assert status(api, repo)["outcome_kind"] == "failed"
    run, = api.get(f"/fleet/runs?repo={repo}", expect=200).json()
    assert run["status"] == "failed" and "failure" in run["error"]


def test_the_code_host_is_asked_once_in_five_seconds(cluster, user, replica, code_host, repo, started, pass_time, db):
    """Over all replicas, and by all accounts that own the repository."""
    before = code_host.last_number()
    assert status(user.api, repo)["live"] is True
    fleet_tables.ask_later(db, repo)
    with replica() as second, ThreadPoolExecutor(8) as pool:
        calls = [lambda: second.call("GET", f"{PATH}?repo={repo}").json(), lambda: status(user.api, repo)] * 4
        told = list(pool.map(lambda call: call(), calls))
    assert {row["run_id"] for row in told} == {started} and asked(code_host, before) == 1
    pass_time(repo, 3600 + 5)
    assert status(user.api, repo)["live"] is True
    assert asked(code_host, before) == 2
    fleet_tables.ask_later(db, repo)
    pass_time(repo, 5)
    assert status(user.api, repo)["live"] is False
    assert asked(code_host, before) == 2


def test_what_was_told_last_is_shown_while_the_code_host_is_away(user, code_host, replica, repo, started, pass_time):
    first = status(user.api, repo)
    pass_time(repo, 5)
    code_host.fail("GET", "/actions/workflows/", status=502, times=2)
    told = status(user.api, repo)
    assert told["live"] is False and told["as_of"] < first["as_of"]
    assert {**told, "live": True, "as_of": first["as_of"]} == first
    code_host.stop_failing()
    pass_time(repo, 5)
    with replica(INTEGRATIONS_URL=f"http://127.0.0.1:{free_port()}") as alone:
        answer = alone.call("GET", f"{PATH}?repo={repo}")
        assert answer.status_code == 200 and answer.json()["run_id"] == started and answer.json()["live"] is False


def test_without_the_code_host_the_record_is_shown(api, report):
    report(5, status="issue_opened", artifact_url="https://github.com/acme/ranker/issues/3", started_at="2026-01-02T03:04:05Z")
    told = status(api, "ACME/ranker")
    assert told["repo"] == "acme/ranker" and (told["run_id"], told["status"], told["outcome_kind"]) == (5, "issue_opened", "issue")
    assert told["started_at"] == "2026-01-02T03:04:05.000Z" and told["live"] is False and told["html_url"] is None


@pytest.fixture
def no_events(code_host):
    """No event of the code host arrives during the test."""
    with code_host.held_deliveries():
        yield
    code_host.stop_failing()


def test_a_trigger_drops_what_is_remembered(api, repo, started, no_events):
    former = status(api, repo)
    assert (former["run_id"], former["live"]) == (started, True)
    second = trigger(api, repo)
    told = status(api, repo)
    assert (told["run_id"], told["outcome_kind"], told["live"]) == (second, "running", True)


def test_a_triggered_run_is_the_newest_before_the_code_host_tells_of_it(api, code_host, at_host, repo, started, no_events):
    """Its list lags behind, or it is away."""
    status(api, repo)
    before = code_host.api("GET", f"/repos/{repo}/actions/workflows/expops.yml/runs", at_host.token).json()
    second = trigger(api, repo)
    code_host.fail("GET", "/actions/workflows/expops.yml/runs", status=200, body=before)
    told = status(api, repo)
    assert (told["run_id"], told["outcome_kind"], told["live"]) == (second, "running", False)
    third = trigger(api, repo)
    code_host.fail("GET", "/actions/workflows/", status=502, times=2)
    told = status(api, repo)
    assert (told["run_id"], told["outcome_kind"], told["live"]) == (third, "running", False)


def test_a_triggered_run_may_have_ended_by_a_clock_that_is_behind_ours(api, repo, db, no_events):
    second = trigger(api, repo)
    ended = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    fleet_tables.tell_run(db, repo, run_id=second, status="completed", conclusion="startup_failure", started_at=ended, updated_at=ended)
    (shown,) = [run for run in api.get("/fleet/runs", expect=200).json() if run["run_id"] == second]
    assert shown["outcome_kind"] == "failed"


def test_an_answer_that_comes_after_a_trigger_is_too_old(user, db, repo, started):
    former = status(user.api, repo)
    told, asked_at = fleet_tables.remembered_status(db, repo)
    assert told["run_id"] == started and former["live"] is True
    second = trigger(user.api, repo)
    for late in (asked_at, datetime.now(UTC) - timedelta(minutes=1)):
        fleet_tables.remember_status(db, user.account, repo, told, at=late)
    assert fleet_tables.remembered_status(db, repo)[0] is None
    assert status(user.api, repo)["run_id"] == second


def test_an_answer_that_an_event_overtakes(api, user, db, code_host, repo, started):
    """It is shown unless the event says otherwise."""
    told = {"run_id": started, "status": "in_progress", "updated_at": datetime.now(UTC).isoformat()}
    code_host.change_run(started, "completed", "failure")
    wait_for(lambda: api.get("/fleet/runs", expect=200).json()[0]["status"] == "failed", "the event is handled")
    fleet_tables.ask_later(db, repo)
    fleet_tables.remember_status(db, user.account, repo, told)
    shown = status(api, repo)
    assert (shown["run_id"], shown["status"], shown["outcome_kind"], shown["live"]) == (started, "failed", "failed", False)


def test_an_event_drops_what_is_remembered(api, db, code_host, repo, started):
    code_host.change_run(started, "in_progress")
    wait_for(lambda: status(api, repo)["status"] == "in_progress", "the code host was asked")
    fleet_tables.ask_later(db, repo)
    code_host.change_run(started, "completed", "success")
    wait_for(lambda: status(api, repo)["status"] == "completed", "the event is handled")


def test_a_newer_run_that_reports_itself_is_the_newest(api, agent, repo, started):
    assert status(api, repo)["run_id"] == started
    key = agent(repo)
    key.post("/fleet/runs", {"run_id": "older", "repo": repo, "started_at": "2026-01-02T03:04:05Z"}, expect=201)
    assert status(api, repo)["run_id"] == started
    key.post("/fleet/runs", {"run_id": "newer", "repo": repo, "status": "running"}, expect=201)
    told = status(api, repo)
    assert (told["run_id"], told["status"], told["live"], told["html_url"]) == ("newer", "running", False, None)


def test_a_repository_without_runs(api, repo):
    told = status(api, repo)
    assert told.pop("live") is True and told.pop("as_of") and told.pop("repo") == repo
    assert set(told.values()) == {None}


def test_another_account_sees_nothing_of_it(api, other_user, agent, code_host, repo, started):
    assert status(api, repo)["run_id"] == started
    other_user.api.problem("GET", PATH, 404, "not_found", params={"repo": repo})
    agent(repo, other_user.api).post("/fleet/runs", {"run_id": "mine", "repo": repo}, expect=201)
    told = status(other_user.api, repo)
    assert told["run_id"] == "mine" and told["live"] is False and told["html_url"] is None
    assert status(api, repo)["run_id"] == started


def test_who_is_refused_does_not_keep_others_from_asking(cluster, user, other_user, install, code_host, at_host, repo,
                                                         started, pass_time):
    """Two accounts own the repository; the connection of one cannot push any more."""
    stranger = code_host.user()
    connect(other_user.api, "code_host", stranger.login)
    install(repo, of=other_user)
    assert status(other_user.api, repo)["live"] is False
    before = code_host.last_number()
    assert status(user.api, repo)["live"] is True
    assert asked(code_host, before) == 1


def test_a_key_for_another_repository_is_refused(agent, repo):
    agent("acme/other").problem("GET", PATH, 403, "forbidden", params={"repo": repo})
    agent("acme/other").problem("GET", PATH, 400, "invalid_request")
