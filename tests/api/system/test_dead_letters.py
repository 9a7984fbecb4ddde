"""`PROCESS dead list|show|retry`: failed tasks, and events that were given up."""

import json
import uuid

import pytest

from lib.scenario.dead_letters import DEAD, SERVICE, bury, failed, interests_db  # noqa: F401
from lib.tables import common
from lib.wait import wait_for


def dead(cluster, *args, name=SERVICE):
    return cluster.run(name, "dead", *args)


def rows(printed):
    return [json.loads(line) for line in printed.splitlines()]


def test_every_process_has_the_command(cluster):
    for name in cluster.processes:
        assert dead(cluster, "list", name=name) == ""
        assert f"{name} dead list|show|retry" in cluster.run(name, "--help")


def test_a_failed_task_is_shown_and_tried_again(cluster, api, failed):
    id = failed["task_id"]
    (row,) = [row for row in rows(dead(cluster, "list", "--kind", failed["kind"])) if row["id"] == id]
    assert (row["type"], row["error"], row["attempts"]) == ("task", "the index was away", 5)
    assert row["account"] and "input" not in row
    assert rows(dead(cluster, "show", id))[0]["input"]["num_results"] == 1
    assert dead(cluster, "retry", "--dry-run", id) == f"{id} {failed['kind']}: would be queued again\n"
    assert api.get(failed["status_url"]).json()["status"] == "failed"
    assert dead(cluster, "retry", id) == f"{id} {failed['kind']}: queued again\n"
    wait_for(lambda: api.get(failed["status_url"]).json()["status"] == "completed", "the task runs again")
    assert dead(cluster, "retry", id) == ""


def test_a_dead_event_is_handled_once_its_cause_is_mended(cluster, interests_db, bury):
    account = str(uuid.uuid4())
    entry = bury(type="account.deleted", account=account)
    (row,) = rows(dead(cluster, "list", "--kind", "account.deleted"))
    assert (row["id"], row["stream"], row["account"], row["error"]) == (entry, "events.account", account, "internal: no")
    assert rows(dead(cluster, "show", entry))[0]["data"] == "{}"
    assert dead(cluster, "retry", "--dry-run", "--all") == f"{entry} account.deleted: would be queued again\n"
    assert dead(cluster, "retry", "--kind", "account.deleted") == f"{entry} account.deleted: queued again\n"
    wait_for(lambda: common.is_noted_deleted(interests_db, account), "the account is forgotten")
    assert dead(cluster, "list", "--kind", "account.deleted") == "" == dead(cluster, "retry", entry)


def test_a_retry_that_stopped_half_way_is_repeated(cluster, interests_db, bury):
    """The event was parked, and is still among the dead letters."""
    account = str(uuid.uuid4())
    entry = bury(type="account.deleted", account=account)
    common.park(interests_db, "events.account", entry, "account.deleted", account)
    dead(cluster, "retry", entry)
    assert common.parked(interests_db, entry) == 1
    assert cluster.redis.client().xlen(DEAD) == 0
    common.drop_parked(interests_db, entry)


def test_one_that_fails_again_is_a_dead_letter_again(cluster, bury):
    first = bury(type="account.deleted", account="", data="no event")
    dead(cluster, "retry", first)
    (row,) = wait_for(lambda: rows(dead(cluster, "list", "--kind", "account.deleted")), "the event is given up again")
    assert row["id"] != first and "not an event" in row["error"]


@pytest.mark.parametrize(
    "args", [[], ["bury"], ["retry"], ["show"], ["retry", "--dry-run"], ["list", "--limit", "0"], ["list", "--sort", "x"]]
)
def test_wrong_arguments(cluster, args):
    with pytest.raises(RuntimeError, match=f"usage: {SERVICE} dead list"):
        dead(cluster, *args)


def test_ids_that_are_none(cluster):
    with pytest.raises(RuntimeError, match='"12" is not the id of a dead letter'):
        dead(cluster, "retry", "12")


def test_dead_letters_and_the_lag_are_measured(cluster, failed, bury):
    bury(type="account.deleted", account=str(uuid.uuid4()))
    process = cluster[SERVICE][0]
    wait_for(lambda: 'expops_dead_letters{type="event"} 1\n' in process.metrics(), "the dead event is counted")
    wait_for(lambda: 'expops_dead_letters{type="task"} 0\n' not in process.metrics(), "the dead task is counted")
    assert 'expops_events_lag_seconds{stream="events.account"} 0\n' in process.metrics()
    assert "expops_ready 1\n" in process.metrics()


@pytest.mark.parametrize("service", ["svc-interests", "svc-experiments", "svc-fleet"])
def test_a_pull_request_of_a_number_that_no_column_holds_is_none_of_ours(cluster, service):
    """svc-integrations passes on numbers up to 2 to the 53rd."""
    account, stream = str(uuid.uuid4()), "events.code_host"
    data = {"repo": "acme/ranker", "number": 2**53, "state": "open", "merged": False, "branch": "main", "action": "edited",
            "occurred_at": "2026-01-31T09:30:00.000Z", "repository_id": 2**53, "url": None, "commit": None}
    entry = cluster.redis.client().xadd(stream, {
        "id": str(uuid.uuid4()), "type": "pull_request", "account": account, "at": "2026-01-31T09:30:00.000Z", "data": json.dumps(data),
        "request_id": ""})
    with cluster.postgres.connect(service.removeprefix("svc-")) as db:
        wait_for(lambda: common.has_read(db, stream, entry), "it is read")
        assert common.parked(db, entry) == 0
    assert account not in dead(cluster, "list", "--kind", "pull_request", name=service)
