"""What an operator sees of the tasks and dead letters of all services, and does with them."""

import json
import uuid

import pytest

from lib.scenario.dead_letters import DEAD, SERVICE, bury, failed, interests_db  # noqa: F401
from lib.tables import common
from lib.wait import wait_for


@pytest.fixture
def operator(cluster):
    return cluster.user(operator=True).api


def listed(operator, **params):
    return operator.get("/tasks", params=params, expect=200).json()


def retry(operator, **body):
    return operator.post("/tasks/retry", body, expect=200).json()


def test_only_operators(api):
    for method, path in [("GET", "/tasks"), ("GET", "/tasks/summary"), ("POST", "/tasks/retry")]:
        answer = api.request(method, path, {} if method == "POST" else None)
        assert (answer.status_code, answer.json()["scope"]) == (403, "service:any_user")


def test_a_failed_task_is_found_by_every_filter_and_runs_again(operator, user, api, failed):
    found = {"service": SERVICE, "kind": failed["kind"], "status": "failed", "error": "INDEX was", "account_id": user.account}
    (row,) = listed(operator, **found)
    assert (row["task_id"], row["service"], row["account_id"], row["is_dead"]) == (failed["task_id"], SERVICE, user.account, True)
    for name, other in [("service", "svc-fleet"), ("kind", "x"), ("status", "running"), ("error", "%"), ("account_id", str(uuid.uuid4()))]:
        assert listed(operator, **{**found, name: other}) == []
    found.pop("status")
    assert retry(operator, **found, dry_run=True) == {"matched": 1, "changed": 0}
    assert retry(operator, **{**found, "error": "%"}) == {"matched": 0, "changed": 0}
    assert retry(operator, **found) == {"matched": 1, "changed": 1}
    wait_for(lambda: api.get(failed["status_url"]).json()["status"] == "completed", "the task runs again")
    assert retry(operator, ids=[failed["task_id"]]) == {"matched": 0, "changed": 0}


def test_a_dropped_task_is_cancelled_and_says_why(operator, api, failed):
    assert retry(operator, ids=[failed["task_id"]], drop=True) == {"matched": 1, "changed": 1}
    task = api.get(failed["status_url"], expect=200).json()
    assert (task["status"], task["error"], task["message"]) == ("cancelled", None, "given up by an operator: the index was away")
    assert retry(operator, ids=[failed["task_id"]]) == {"matched": 0, "changed": 0}


@pytest.mark.parametrize(("members", "action"), [({}, "task.retried"), ({"drop": True}, "task.dropped")])
def test_who_repeats_or_drops_a_task_is_in_the_audit_log(operator, api, failed, members, action):
    retry(operator, ids=[failed["task_id"]], **members)
    (entry,) = wait_for(lambda: api.get(f"/account/audit?action={action}", expect=200).json(), "the entry is there")
    you = operator.get("/team", expect=200).json()["you"]
    assert entry["target"] == {"kind": "task", "id": failed["task_id"], "name": failed["kind"]}
    assert (entry["actor"]["kind"], entry["actor"]["person_id"], entry["ip"]) == ("operator", you["person_id"], "127.0.0.1")


@pytest.mark.parametrize(("members", "action"), [({}, "event.retried"), ({"drop": True}, "event.dropped")])
@pytest.mark.parametrize("has_account", [True, False])
def test_who_repeats_or_drops_an_event_is_in_the_audit_log(operator, api, user, bury, members, action, has_account):
    """That of no account is in the operators' own log."""
    event = str(uuid.uuid4())
    entry = bury(type="key.revoked", id=event, account=user.account if has_account else "")
    retry(operator, service=SERVICE, type="event", ids=[entry], **members)
    log = api if has_account else operator
    (found,) = wait_for(lambda: log.get(f"/account/audit?action={action}&target={event}", expect=200).json(), "the entry is there")
    assert found["target"] == {"kind": "event", "id": event, "name": "key.revoked"}
    kind = "operator" if has_account else "person"  # who acts in an account that is not theirs
    assert (found["actor"]["kind"], found["actor"]["person_id"]) == (kind, operator.get("/team", expect=200).json()["you"]["person_id"])


@pytest.mark.parametrize(("members", "action"), [({}, "event.retried"), ({"drop": True}, "event.dropped")])
def test_an_event_that_its_change_left_behind_is_dead_no_more(operator, cluster, user, bury, members, action):
    """The process ended between the transaction with the entry and the deletion from the stream."""
    event = str(uuid.uuid4())
    entry = bury(type="key.revoked", id=event, account=user.account, data=json.dumps({"key_id": str(uuid.uuid4())}))
    which = {"service": SERVICE, "type": "event", "ids": [entry], **members}
    redis = cluster.redis.client()
    ((_, fields),) = redis.xrange(DEAD, entry, entry)
    assert retry(operator, **which) == {"matched": 1, "changed": 1}
    redis.delete(DEAD)
    redis.xadd(DEAD, fields, id=entry)
    assert retry(operator, **which) == {"matched": 0, "changed": 0}
    assert redis.xrange(DEAD, entry, entry) == []
    find = lambda: user.api.get(f"/account/audit?action={action}&target={event}", expect=200).json()  # noqa: E731
    assert len(wait_for(find, "the entry is there")) == 1


def test_the_gateways_own_dead_events_are_in_the_audit_log(operator, cluster, user):
    event = str(uuid.uuid4())
    fields = {"stream": "events.code_host", "service": "gateway", "type": "invitation.mailed", "id": event, "account": user.account,
              "error": "internal: no", "at": "2026-01-31T09:30:00.000Z", "data": "{}", "request_id": "", "lane": ""}
    entry = cluster.redis.client().xadd("events.dead.gateway", fields)
    retry(operator, service="gateway", type="event", ids=[entry], drop=True)
    wait_for(lambda: user.api.get(f"/account/audit?action=event.dropped&target={event}", expect=200).json(), "the entry is there")


def test_a_command_that_repeats_a_task_is_the_operators(cluster, api, failed):
    cluster.run(SERVICE, "dead", "retry", failed["task_id"])
    (entry,) = wait_for(lambda: api.get("/account/audit?action=task.retried", expect=200).json(), "the entry is there")
    assert (entry["actor"]["kind"], entry["actor"]["person_id"]) == ("operator", None)


def test_what_a_caller_did_wrong_is_seen_and_left_alone(operator, failed, interests_db):
    common.refuse_task(interests_db, failed["task_id"])
    (row,) = listed(operator, status="failed", kind=failed["kind"], account_id=common.account_of(interests_db, failed["task_id"]))
    assert row["is_dead"] is False
    assert retry(operator, ids=[failed["task_id"]], drop=True) == {"matched": 0, "changed": 0}


def test_tasks_of_all_services_are_in_one_order(operator, cluster):
    for schema in ["fleet", "search", "fleet"]:
        with cluster.postgres.connect(schema) as db:
            common.add_completed_task(db, "of_order")
    rows = listed(operator, kind="of_order")
    assert [row["service"] for row in rows] == ["svc-fleet", "svc-search", "svc-fleet"]
    answer = operator.get("/tasks", params={"kind": "of_order", "limit": 1, "offset": 1}, expect=200)
    assert (answer.json(), answer.headers["X-Total-Count"]) == ([rows[1]], "3")
    for schema in ["fleet", "search"]:
        with cluster.postgres.connect(schema) as db:
            common.drop_tasks(db, "of_order")


@pytest.mark.parametrize(("limit", "shown"), [(100, 1000), (40, 920), (70, 910)])
def test_every_page_leads_to_one_that_there_is(operator, cluster, limit, shown):
    kind = f"of_pages_of_{limit}"
    with cluster.postgres.connect("fleet") as db:
        common.add_completed_tasks(db, kind, 1001)
    answer = operator.get("/tasks", params={"kind": kind, "limit": limit}, expect=200)
    count = len(answer.json())
    while "next" in answer.links:
        answer = operator.get(answer.links["next"]["url"], expect=200)
        count += len(answer.json())
    assert (count, answer.headers["X-Total-Count"]) == (shown, str(shown))
    with cluster.postgres.connect("fleet") as db:
        common.drop_tasks(db, kind)


def test_dead_events_are_listed_repeated_and_dropped(operator, cluster, interests_db, bury):
    account, redis = f"019b8d2b-8c00-7{str(uuid.uuid4())[15:]}", cluster.redis.client()
    first, second = bury(type="account.deleted", account=account), bury(type="other")
    rows = listed(operator, type="event", service=SERVICE)
    assert [(row["task_id"], row["kind"], row["stream"], row["account_id"]) for row in rows] == [
        (second, "other", "events.account", None), (first, "account.deleted", "events.account", account)]  # fmt: skip
    assert listed(operator, type="event", status="running") == []
    assert retry(operator, type="event", account_id=account) == {"matched": 1, "changed": 1}
    wait_for(lambda: common.is_noted_deleted(interests_db, account), "it is handled")
    assert retry(operator, type="event", service=SERVICE, ids=[second], drop=True) == {"matched": 1, "changed": 1}
    assert redis.xrange(DEAD, first, first) == redis.xrange(DEAD, second, second) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "status"), ({"drop": True}, "status"), ({"status": "running"}, "status"), ({"type": "event", "ids": ["1-0"]}, "service"),
     ({"service": "svc-x"}, "service"), ({"ids": []}, "ids")],
)  # fmt: skip
def test_a_retry_says_which(operator, body, field):
    answer = operator.post("/tasks/retry", body, expect=400)
    assert [fault["field"] for fault in answer.json()["errors"]] == [field]


def test_an_id_that_is_none_is_refused_before_anything_is_done(operator, api, failed):
    assert '"12" is not the id' in operator.post("/tasks/retry", {"ids": ["12", failed["task_id"]]}, expect=400).json()["detail"]
    assert api.get(failed["status_url"]).json()["status"] == "failed"


def test_the_summary_counts_what_waits_and_how_late_it_is(operator, cluster):
    with cluster.postgres.connect("search") as db:
        common.add_late_task(db, "of_summary", hours=1)
        common.add_completed_task(db, "of_summary", waited_seconds=90)
    rows = {row["service"]: row for row in operator.get("/tasks/summary", expect=200).json()["services"]}
    with cluster.postgres.connect("search") as db:
        common.drop_tasks(db, "of_summary")
    assert list(rows) == ["gateway", "svc-experiments", "svc-interests", "svc-search", "svc-fleet", "svc-integrations", "svc-evalenv"]
    search = rows["svc-search"]
    assert search["queued"] >= 1 and search["late_ms"] >= 3_600_000 and search["dead_events"] == 0
    assert search["hours"][-1]["completed"] >= 1 and search["hours"][-1]["waited_ms"] > 0


def test_a_service_that_is_away_is_left_out(operator, cluster):
    cluster.stop("svc-evalenv")
    try:
        answer = operator.get("/tasks", params={"status": "failed"}, expect=200)
        assert answer.headers["X-Left-Out"] == "svc-evalenv"
        assert operator.get("/tasks/summary", expect=200).headers["X-Left-Out"] == "svc-evalenv"
        detail = operator.post("/tasks/retry", {"kind": "of_nobody"}, expect=503).json()["detail"]
        assert detail == "no answer of svc-evalenv; repeat the request for theirs"
        assert operator.post("/tasks/retry", {"kind": "of_nobody", "service": "svc-fleet"}, expect=200).json()["matched"] == 0
    finally:
        cluster.start("svc-evalenv")
        wait_for(lambda: operator.get("/eval-env/builds").status_code == 200, "svc-evalenv answers again")
