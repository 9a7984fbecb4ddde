"""POST /fleet/agents/refresh: what webhooks did not tell is fetched from the code host."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.scenario.code_host_agent import FILES
from lib.system.servers import free_port
from lib.tables import common
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

PATH = "/fleet/agents/refresh"
MONTHS = "since=2026-01-01&until=2026-12-31"


@pytest.fixture(autouse=True)
def without_events(code_host):
    """The code host's events do not arrive."""
    with code_host.held_deliveries():
        yield


def refresh(api, **body):
    return api.post(PATH, body, expect=200).json()


def open_pull(code_host, at_host, repo, branch):
    """Open a pull request; returns its number."""
    token = at_host.token
    main = code_host.api("GET", f"/repos/{repo}/git/ref/heads/main", token).json()["object"]["sha"]
    code_host.api("POST", f"/repos/{repo}/git/refs", token, json={"ref": f"refs/heads/{branch}", "sha": main})
    body = {"message": "x", "content": "eA==", "branch": branch}
    assert code_host.api("PUT", f"/repos/{repo}/contents/{branch}.txt", token, json=body).status_code == 201
    answer = code_host.api("POST", f"/repos/{repo}/pulls", token, json={"head": branch, "base": "main", "title": branch})
    assert answer.status_code == 201, answer.text
    return answer.json()["number"]


def open_issue(code_host, at_host, repo):
    answer = code_host.api("POST", f"/repos/{repo}/issues", at_host.token, json={"title": "Slow"})
    assert answer.status_code == 201, answer.text
    return answer.json()["number"]


def stages(api):
    """{link: stage} of what the account's runs opened."""
    rows = api.get(f"/fleet/agents/report?{MONTHS}", expect=200).json()["deliverables"]
    return {row["url"]: row["stage"] for row in rows}


def lists_asked(code_host, before, repo):
    """The lists that the code host was asked for."""
    rows = code_host.requests(before, "GET", f"^/repos/{repo}/(pulls|issues|actions/workflows/[^/]+/runs)[?]")
    return [row["target"].removeprefix(f"/repos/{repo}/").split("?")[0] for row in rows]


def test_what_became_of_things_is_fetched(api, code_host, at_host, agent, repo):
    key = agent(repo)
    merged, left = (open_pull(code_host, at_host, repo, branch) for branch in "ab")
    issue = open_issue(code_host, at_host, repo)
    links = [f"https://github.com/{repo}/{kind}" for kind in (f"pull/{merged}", f"pull/{left}", f"issues/{issue}")]
    for number, link in enumerate(links):
        status = "issue_opened" if "/issues/" in link else "pr_opened"
        key.post("/fleet/runs", {"run_id": f"r{number}", "repo": repo, "status": status, "artifact_url": link}, expect=201)
    code_host.merge(repo, merged)
    assert code_host.api("PATCH", f"/repos/{repo}/issues/{issue}", at_host.token, json={"state": "closed"}).status_code == 200
    assert stages(api) == dict.fromkeys(links, "open")
    before = code_host.last_number()
    done = refresh(api)
    assert (done["refreshed"], done["mode"], done["repos"], done["skipped"], done["remaining"]) == (True, "delta", [repo], [], 0)
    assert stages(api) == {links[0]: "merged", links[1]: "open", links[2]: "closed"}
    assert lists_asked(code_host, before, repo) == ["pulls", "issues", "actions/workflows/expops.yml/runs"]


def test_runs_that_no_event_told_of_are_fetched(api, code_host, at_host, repo, db):
    started = code_host.api("POST", f"/repos/{repo}/actions/workflows/expops.yml/dispatches", at_host.token, json={"ref": "main"})
    assert started.status_code == 204
    run, = code_host.runs(repo)
    assert api.get("/fleet/runs", expect=200).json() == []
    refresh(api)
    shown, = api.get("/fleet/runs", expect=200).json()
    assert (shown["run_id"], shown["outcome_kind"]) == (run["id"], "running") and shown["started_at"]
    code_host.change_run(run["id"], "completed", "failure")
    for _ in range(2):
        fleet_tables.age_fetch(db, repo)
        refresh(api)
        shown, = api.get("/fleet/runs", expect=200).json()
        assert shown["outcome_kind"] == "failed"


def test_a_delta_asks_for_what_changed_since(api, code_host, at_host, repo, db):
    number = open_pull(code_host, at_host, repo, "a")
    refresh(api)

    def forget(minutes):
        fleet_tables.forget_items(db, repo)
        fleet_tables.fetch_later(db, repo, minutes)
        fleet_tables.age_fetch(db, repo)

    known = lambda: fleet_tables.items_of(db, repo)  # noqa: E731
    assert known() == [(number, "open")]
    forget(60)
    assert refresh(api)["mode"] == "delta" and known() == []
    forget(3)  # by a clock that is as much ahead of the code host's
    assert refresh(api)["mode"] == "delta" and known() == [(number, "open")]
    forget(60)
    assert refresh(api, full=True)["mode"] == "full" and known() == [(number, "open")]


def test_what_was_closed_and_opened_again_within_a_second_is_open(api, code_host, at_host, repo, db):
    number = open_pull(code_host, at_host, repo, "a")
    changed = code_host.api("GET", f"/repos/{repo}/pulls/{number}", at_host.token).json()["updated_at"]
    fleet_tables.set_item_closed(db, repo, number, changed)
    refresh(api)
    assert fleet_tables.items_of(db, repo) == [(number, "open")]


def test_what_a_refresh_has_read_is_not_that_of_a_later_one(cluster, api, repo, db):
    """Which has not come to its end: the next one asks for what changed since the first began."""
    with cluster.postgres.connect("fleet") as holder, ThreadPoolExecutor(1) as pool:
        fleet_tables.hold_repository(holder, repo)
        first = pool.submit(refresh, api)
        wait_for(lambda: common.blocked_by(db, holder), "it waits for what it has read to be stored")
        fleet_tables.begin_fetch(db, repo)
        holder.rollback()
        assert first.result()["repos"] == [repo]
    assert fleet_tables.is_fetched_until_now(db, repo)


def test_many_are_fetched_in_pages(api, code_host, at_host, repo, db):
    for _ in range(101):
        open_issue(code_host, at_host, repo)
    refresh(api)
    assert len(fleet_tables.items_of(db, repo)) == 101


def test_the_longest_unseen_come_first_within_the_deadline(api, code_host, at_host, install, repo, db, replica):
    """The code host does not answer about one of three repositories; the others are not kept from their turn."""
    second, third = (code_host.repository(at_host.login, files=FILES) for _ in range(2))
    install(second)
    refresh(api)
    install(third)
    for each in (repo, second, second):
        fleet_tables.age_fetch(db, each)
    code_host.fail("GET", f"^/repos/{second}/pulls", hang=True)
    with replica(REQUEST_TIMEOUT="6s") as fleet:
        done = fleet.call("POST", PATH, {}).json()
        assert (done["repos"], done["remaining"]) == ([third], 2)
        fleet_tables.begin_fetch(db, second)
        fleet_tables.age_fetch(db, third)
        done = fleet.call("POST", PATH, {}).json()
        assert (done["repos"], done["skipped"], done["remaining"]) == ([repo, third], [], 1)
        for each in (second, second, third, repo):
            fleet_tables.age_fetch(db, each)
        done = fleet.call("POST", PATH, {}).json()
        assert (sorted(done["repos"]), done["remaining"]) == (sorted([repo, second, third]), 0)


def test_a_repository_that_is_not_opened_is_skipped(api, code_host, at_host, agent, repo):
    agent("acme/nowhere").post("/fleet/runs", {"run_id": 1, "repo": "acme/nowhere"}, expect=201)
    done = refresh(api)
    assert done["repos"] == [repo] and done["remaining"] == 0
    skipped, = done["skipped"]
    assert skipped["repo"] == "acme/nowhere" and skipped["reason"].startswith("no such repository of this account;")


def test_another_account_s_repository_is_not_taken_over(api, other_user, agent, code_host, at_host, repo, db):
    """A run that names it makes no owner."""
    number = open_pull(code_host, at_host, repo, "a")
    link = f"https://github.com/{repo}/pull/{number}"
    agent(repo, other_user.api).post("/fleet/runs", {"run_id": 1, "repo": repo, "status": "pr_opened", "artifact_url": link}, expect=201)
    code_host.merge(repo, number)
    refresh(api)
    assert [row["repo"] for row in refresh(other_user.api)["skipped"]] == [repo]
    assert stages(other_user.api) == {link: "open"}


def test_a_repository_is_not_fetched_again_at_once(api, code_host, repo, db):
    """Its installation has one limit at the code host, for all accounts that have it."""
    refresh(api)
    before = code_host.last_number()
    with ThreadPoolExecutor(4) as pool:
        for done in pool.map(lambda _: refresh(api), range(4)):
            assert (done["repos"], done["skipped"], done["remaining"]) == (
                [], [{"repo": repo, "reason": "it is fetched once in 10 seconds"}], 0)
    assert [row["repo"] for row in refresh(api, full=True)["skipped"]] == [repo]
    assert lists_asked(code_host, before, repo) == []
    fleet_tables.age_fetch(db, repo)
    assert refresh(api, full=True)["repos"] == [repo]
    assert [row["repo"] for row in refresh(api)["skipped"]] == [repo]


def test_without_repositories_there_is_nothing_to_fetch(api, code_host):
    before = code_host.last_number()
    assert refresh(api, full=None) | {"fetched_at": 0} == {
        "refreshed": True, "mode": "delta", "repos": [], "skipped": [], "fetched_at": 0, "remaining": 0}
    assert not code_host.requests(before)
    api.problem("POST", PATH, 400, "invalid_request", {"full": "yes"})


def test_a_key_for_one_repository_fetches_that_one(agent, code_host, at_host, install, repo):
    install(code_host.repository(at_host.login, files=FILES))
    key = agent(repo, scopes=["fleet:write", "fleet:read"])
    assert refresh(key)["repos"] == [repo]


def test_svc_integrations_away_is_503(repo, replica):
    with replica(INTEGRATIONS_URL=f"http://127.0.0.1:{free_port()}") as fleet:
        answer = fleet.call("POST", PATH, {})
    assert answer.status_code == 503 and "svc-integrations" in answer.json()["detail"]
