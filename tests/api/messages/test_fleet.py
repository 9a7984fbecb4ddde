"""What accounts are told of runs, of what these open, of agents, and of the inbox."""

import uuid
from datetime import datetime, timedelta, timezone

import pytest

from lib.scenario.fleet import REPO
from lib.tables import fleet as fleet_tables
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

PULL = "https://github.com/acme/ranker/pull/412"
ISSUE = "https://github.com/acme/ranker/issues/43"
NOW = datetime.now(timezone.utc)


def ago(days, minutes=0):
    return (NOW - timedelta(days=days, minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


STARTED, ENDED, CLOSED = ago(10), ago(10, -20), ago(9)


@pytest.fixture
def tell(fleet, user):
    """tell(kind, number, state, closed): what the code host says of an item of a repository that the account owns."""

    def send(kind, number, state, closed=CLOSED):
        fleet_tables.own_repository(fleet, user.account, REPO)
        fleet_tables.tell_item(fleet, REPO, kind, number, state, STARTED, closed if state != "open" else None)

    return send


def test_a_run_starts_once_and_ends_once(report, told):
    first = {"status": "running", "started_at": STARTED, "agent": "agent_one", "provider": "anthropic", "model": "large"}
    report("run 1", **first)
    report("run 1", **first, num_turns=3)
    (started,) = told("run.started")
    assert (started["run_id"], started["repo"], started["status"], started["outcome_kind"]) == ("run 1", REPO, "running", "running")
    assert (started["agent"], started["provider"], started["model"]) == ("agent_one", "anthropic", "large")
    assert (started["started_at"], started["finished_at"], started["cost_usd"]) == (STARTED, None, None)
    assert started["url"] == "/console/runs/run%201" and told("run.finished") == []
    report("run 1", status="failed", error="no space on 7", cost_usd=1.5, finished_at=ENDED)
    report("run 1", status="failed", error="no space on 8", cost_usd=2)
    (finished,) = told("run.finished")
    assert (finished["outcome_kind"], finished["cause"], finished["cost_usd"]) == ("failed", "no space on #", 1.5)
    assert finished["finished_at"] == ENDED and len(told("run.started")) == 1


def test_a_run_that_reports_only_its_end_has_only_finished(report, told):
    report(17, status="skipped_old", finished_at=ENDED)
    (finished,) = told("run.finished")
    assert finished["run_id"] == 17 and finished["url"] == "/console/runs/17" and told("run.started") == []


def test_a_run_whose_id_is_no_segment_of_a_path_has_an_address(report, told):
    """A browser takes the segments . and .. out of an address."""
    for run in (".", ".."):
        report(run, status="skipped_old", finished_at=ENDED)
    assert {each["url"] for each in told("run.finished")} == {"/console/runs/-?run_id=.", "/console/runs/-?run_id=.."}


def test_a_run_that_is_tried_again_starts_and_ends_again(report, told):
    for hour, status in enumerate(("running", "failed", "running", "pr_opened")):
        report(1, status=status, started_at=f"2026-01-10T0{hour}:00:00Z")
    assert len(told("run.started")) == 2
    assert [one["status"] for one in told("run.finished")] == ["failed", "pr_opened"]


def test_what_a_run_opens_is_told_once_however_often_it_is_reported(report, told):
    report(1, status="pr_opened", artifact_url=PULL, started_at=STARTED)
    report(1, finished_at=ENDED, arxiv_id="2205.14135")  # its row is made anew
    report(2, status="pr_opened", artifact_url=PULL)
    (opened,) = told("pull_request.opened")
    assert (opened["repo"], opened["number"], opened["artifact_url"], opened["run_id"]) == (REPO, 412, PULL, 1)
    assert (opened["title"], opened["url"]) == ("Pull request 412 of acme/ranker", "/console/runs/1")
    report(3, status="branch_pushed", artifact_url="https://github.com/acme/ranker/tree/x")
    assert len(told("pull_request.opened")) == 1 and told("issue.opened") == []


def test_it_is_told_once_however_late_its_row_is_made_anew(report, fleet, told, user):
    report(1, status="pr_opened", artifact_url=PULL, started_at=STARTED)
    assert len(told("pull_request.opened")) == 1
    fleet_tables.empty_outbox(fleet, user.account)
    report(1, finished_at=ENDED)
    assert told("pull_request.opened") == []


def test_what_was_told_goes_when_it_is_no_news_any_more(report, fleet, told, user):
    """Facts of over two months ago are dropped with their month, and what happened then is not told again when its row is made anew."""
    report(1, status="pr_opened", artifact_url=PULL, started_at=STARTED)
    report(2, status="issue_opened", artifact_url=ISSUE, started_at=STARTED)
    assert len(told("pull_request.opened")) == len(told("issue.opened")) == 1
    old, new = fleet_tables.told_facts(fleet, user.account)
    fleet_tables.age_told_fact(fleet, user.account, old, 62)
    fleet_tables.drop_old_facts(fleet)
    assert fleet_tables.told_facts(fleet, user.account) == [new]
    fleet_tables.empty_outbox(fleet, user.account)
    for run in (1, 2):
        report(run, finished_at=ago(62))
    assert told("pull_request.opened") == told("issue.opened") == []


def test_what_is_reported_after_a_month_is_no_news(report, tell, told):
    report(1, status="pr_opened", artifact_url=PULL, started_at=ago(50), finished_at=ago(50))
    assert told("pull_request.opened") == []
    tell("pull_request", 412, "merged")
    assert len(told("pull_request.merged")) == 1


@pytest.mark.parametrize("kind, url, number, stage", [
    ("pull_request", PULL, 412, "merged"), ("pull_request", PULL, 412, "closed"), ("issue", ISSUE, 43, "closed"),
])
def test_its_end_is_told_once_whoever_tells_it(report, tell, told, kind, url, number, stage):
    report(1, status=f"{kind}_opened", artifact_url=url)
    for _ in range(2):
        tell(kind, number, stage)
        report(1, finished_at=ENDED)
    (ended,) = told(f"{kind}.{stage}")
    assert (ended["artifact_url"], ended["closed_at"]) == (url, CLOSED)
    assert len(told(f"{kind}.opened")) == 1


def test_a_pull_request_that_is_closed_twice_is_told_of_twice(report, tell, told):
    report(1, status="pr_opened", artifact_url=PULL)
    for state, closed in (("closed", CLOSED), ("open", None), ("closed", ago(8))):
        tell("pull_request", 412, state, closed)
    assert [one["closed_at"] for one in told("pull_request.closed")] == [CLOSED, ago(8)]
    assert len(told("pull_request.opened")) == 1


def test_a_repository_that_is_not_proved_tells_only_what_was_opened(report, fleet, told):
    report(1, status="pr_opened", artifact_url=PULL)
    fleet_tables.disown_repository(fleet, REPO)
    fleet_tables.tell_item(fleet, REPO, "pull_request", 412, "merged", STARTED, STARTED)
    assert len(told("pull_request.opened")) == 1 and told("pull_request.merged") == []


# ---- inbox ----


def looked(fleet, user):
    """Whether the account's inbox was looked at."""
    return wait_for(lambda: fleet_tables.has_looked(fleet, user.account), "the inbox was looked at")


def look(fleet, user):
    fleet_tables.look_at_inbox(fleet, user.account)
    looked(fleet, user)


def test_a_failed_run_is_an_item_once(report, fleet, user, told):
    report(1, status="failed", error="no space")
    (item,) = wait_for(lambda: told("inbox.item"), "the item is told")
    assert (item["kind"], item["repo"], item["severity"], item["url"]) == ("run_failed", REPO, "critical", "/console/inbox")
    assert item["title"] == "The last run on acme/ranker failed: no space"
    report(1, num_turns=2)
    look(fleet, user)
    assert len(told("inbox.item")) == 1
    report(2, status="failed", error="no space")
    wait_for(lambda: len(told("inbox.item")) == 2, "the next failure is another item")


def test_a_dismissed_item_is_not_told(api, report, fleet, user, told):
    report(1, status="pr_opened", artifact_url=PULL)
    item = api.get("/fleet/agents/inbox", expect=200).json()[0]["id"]
    api.post("/fleet/agents/inbox/dismiss", {"id": item}, expect=200)
    fleet_tables.open_hours_ago(fleet, user.account, 73)
    look(fleet, user)
    assert told("inbox.item") == []


def test_what_waits_is_told_after_three_days(report, fleet, user, told):
    report(1, status="pr_opened", artifact_url=PULL)
    assert 71.9 < fleet_tables.hours_until_look(fleet, user.account) <= 72
    look(fleet, user)
    assert told("inbox.item") == []
    fleet_tables.open_hours_ago(fleet, user.account, 73)
    look(fleet, user)
    (item,) = told("inbox.item")
    assert (item["kind"], item["href"]) == ("pull_request_waiting", PULL)


def test_an_agent_that_is_silent_is_told_of_and_again_when_it_was_heard_of(report, fleet, user, told):
    fleet_tables.install(fleet, user.account, REPO, days=8)
    (item,) = wait_for(lambda: told("inbox.item"), "the silence is told")
    assert item["kind"] == "agent_silent"
    look(fleet, user)
    report(1, status="skipped_old")
    fleet_tables.age_told_items(fleet, user.account, 9)
    look(fleet, user)
    assert len(told("inbox.item")) == 1
    fleet_tables.heard_hours_ago(fleet, user.account, 169)
    look(fleet, user)
    assert [one["kind"] for one in told("inbox.item")] == ["agent_silent"] * 2
    fleet_tables.heard_with_last_run(fleet, user.account)


@pytest.mark.parametrize("lacks_key", [False, True])
def test_an_item_that_was_dismissed_comes_back_with_its_reason(api, report, fleet, user, lacks_key):
    fleet_tables.install(fleet, user.account, REPO, days=8)
    report(1, status="skipped_old")

    def becomes(is_wrong):
        fleet_tables.heard_hours_ago(fleet, user.account, 169 if is_wrong and not lacks_key else 1)
        fleet_tables.lack_model_key(fleet, user.account, is_wrong and lacks_key)
        look(fleet, user)

    items = lambda: [one["kind"] for one in api.get("/fleet/agents/inbox", expect=200).json()]  # noqa: E731
    kind = "model_key_missing" if lacks_key else "agent_silent"
    becomes(is_wrong=True)
    (item,) = api.get("/fleet/agents/inbox", expect=200).json()
    api.post("/fleet/agents/inbox/dismiss", {"id": item["id"]}, expect=200)
    becomes(is_wrong=True)
    assert items() == []
    becomes(is_wrong=False)
    becomes(is_wrong=True)
    assert items() == [kind]
    fleet_tables.heard_with_last_run(fleet, user.account)


def test_the_key_of_an_agent_that_has_expired_is_an_item_until_there_is_another(api, fleet, user, told):
    agents, laptop = api.get("/account/api-keys", expect=200).json()["keys"][0]["id"], uuid.uuid4()
    fleet_tables.install(fleet, user.account, REPO, key=agents)
    for key in (agents, laptop):
        fleet_tables.key_ends(fleet, user.account, key, hours=1)
    look(fleet, user)
    assert fleet_tables.hours_until_look(fleet, user.account) <= 1
    assert len(wait_for(lambda: told("inbox.item"), "they are told")) == 2
    for key in (agents, laptop):
        fleet_tables.key_ends(fleet, user.account, key, hours=-1)
    look(fleet, user)
    (item,) = api.get("/fleet/agents/inbox", expect=200).json()
    assert (item["kind"], item["severity"], item["href"]) == ("key_expiring", "critical", "/console/connect")
    assert item["title"] == "The key agent_one has expired, and the agent cannot run: provision it again"
    assert item["person"]["email"] == user.email
    assert [one["id"] for one in told("inbox.item")][2:] == [item["id"]] and fleet_tables.known_keys(fleet, user.account) == 1
    fleet_tables.revoke_installations(fleet, user.account)
    look(fleet, user)
    assert fleet_tables.known_keys(fleet, user.account) == 0


def test_each_kind_of_item_is_told(report, fleet, user, told):
    """Those of this file's other tests, and these."""
    report(1, status="issue_opened", artifact_url=ISSUE + "977")
    fleet_tables.open_hours_ago(fleet, user.account, 73)
    fleet_tables.install(fleet, user.account, REPO)
    fleet_tables.lack(fleet, user.account, PULL + "977")
    fleet_tables.lose_access(fleet, user.account, REPO)
    look(fleet, user)
    wait_for(lambda: {one["kind"] for one in told("inbox.item")} == {"issue_waiting", "setup_waiting", "model_key_missing", "access_lost"})


def test_what_is_old_when_it_is_first_seen_is_no_news(report, fleet, user, told):
    report(1, status="failed", error="no space", started_at=STARTED, finished_at=ENDED)
    looked(fleet, user)
    assert told("inbox.item") == []


def test_one_account_whose_inbox_cannot_be_told_stops_no_other(cluster, report, fleet, user, told):
    other = str(uuid.uuid4())
    try:
        fleet_tables.add_silent_account(fleet, other)
        report(1, status="failed", error="no space")
        wait_for(lambda: told("inbox.item"), "the other account is told")
    finally:
        fleet_tables.drop_silent_account(fleet, other)


def test_an_agent_that_is_revoked_is_told_of_once(fleet, user, told):
    fleet_tables.install(fleet, user.account, REPO)
    for _ in range(2):
        fleet_tables.revoke_installations(fleet, user.account)
    (revoked,) = told("installation.revoked")
    assert (revoked["repo"], revoked["agent"], revoked["url"]) == (REPO, "agent_one", "/console/agents/acme/ranker")
    wait_for(lambda: "agent_revoked" in [one["kind"] for one in told("inbox.item")], "it is an item")


# ---- keys ----


@pytest.fixture
def age_key(cluster, user):
    """age_key(id, created, expires): as if it was made and expires that many days from now."""

    def change(id, created, expires):
        with cluster.postgres.connect("account") as db:
            gateway_tables.set_age(db, id, created, expires)

    return change


def test_a_key_that_expires_is_told_of_twice_and_is_one_item(api, user, fleet, told, age_key):
    made = api.post("/account/api-keys", {"name": "agent", "kind": "automation", "repo": REPO}, expect=201).json()
    age_key(made["id"], -300, 29)
    (first,) = wait_for(lambda: told("key.expiring"), "the first notice")
    assert (first["key_id"], first["name"], first["kind"], first["repo"]) == (made["id"], "agent", "automation", REPO)
    wait_for(lambda: told("inbox.item"), "the item")
    assert [one["severity"] for one in told("inbox.item")] == ["warning"]
    age_key(made["id"], -300, 6)
    wait_for(lambda: len(told("key.expiring")) == 2, "the second notice")
    api.post(f"/account/api-keys/{made['id']}/revoke", {}, expect=200)
    wait_for(lambda: api.get("/fleet/agents/inbox", expect=200).json() == [], "the item is gone")
    assert [one["key_id"] for one in told("key.revoked")] == [made["id"]]
    api.delete(f"/account/api-keys/{made['id']}", expect=200)
    assert len(told("key.revoked")) == 1 and len(told("key.expiring")) == 2


def test_a_key_that_ends_at_another_time_is_told_of_accordingly(api, told, age_key):
    made = api.post("/account/api-keys", {"name": "laptop"}, expect=201).json()["id"]
    items = lambda: [one["title"] for one in api.get("/fleet/agents/inbox", expect=200).json()]  # noqa: E731
    age_key(made, -300, 29)
    wait_for(lambda: items(), "the item")

    def change(**body):
        return api.patch(f"/account/api-keys/{made}", body, expect=200).json()["expires_at"]

    for body in ({"expires_in_days": 20}, {"name": "old laptop"}):
        day = change(**body)[:10]
        name = body.get("name", "laptop")
        wait_for(lambda: items() == [f"The key {name} expires on {day}"], "the item follows")  # noqa: B023
    change(expires_in_days=None)
    wait_for(lambda: items() == [], "the item is gone")
    change(expires_in_days=25)
    assert len(told("key.expiring")) == 1  # who changed it knows when
    age_key(made, -300, 6)
    wait_for(lambda: len(told("key.expiring")) == 2, "the notice of seven days")


def test_a_key_that_was_made_to_expire_soon_is_not_told_of(api, told, age_key):
    made = [api.post("/account/api-keys", {"name": name, "kind": "automation", "repo": REPO}, expect=201).json()["id"] for name in "abc"]
    age_key(made[0], -1, 5)  # for six days
    age_key(made[1], -1, 20)  # for three weeks: told 7 days before
    age_key(made[2], -30, 29)
    wait_for(lambda: [one["name"] for one in told("key.expiring")] == ["c"], "the third")
    age_key(made[1], -15, 6)
    wait_for(lambda: [one["name"] for one in told("key.expiring")] == ["c", "b"], "the second")
