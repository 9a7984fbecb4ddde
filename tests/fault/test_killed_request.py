"""The service is killed during a POST with an Idempotency-Key: the client is told that the outcome is uncertain, nothing is
stored, and the POST can be repeated."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.wait import wait_for

ROWS = {
    "svc-interests": ("interests", "interest", "/interests", {"name": "Killed", "context": "x"}),
    "svc-experiments": ("experiments", "project", "/projects", {"name": "Killed"}),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_killed_request_can_be_sent_again(cluster, api, name):
    schema, table, path, body = ROWS[name]
    columns, values = ", ".join(body), ", ".join(f"'{value}'" for value in body.values())
    key = {"Idempotency-Key": str(uuid.uuid4())}
    account = owner_of(cluster, schema, table, api, path, body)
    with cluster.postgres.connect(schema) as holder, ThreadPoolExecutor(1) as pool:
        # The POST waits for this row, because names are unique.
        holder.autocommit = False
        holder.execute(f"INSERT INTO {table} (account_id, {columns}) VALUES (%s, {values})", [account])
        sent = pool.submit(api.problem, "POST", path, 503, "outcome_uncertain", body, headers=key)
        waiting = "SELECT FROM pg_stat_activity WHERE usename = %s AND wait_event_type = 'Lock'"
        with cluster.postgres.connect() as db:
            wait_for(lambda: db.execute(waiting, [f"expops_{schema}"]).fetchone() is not None, "the POST waits")
        cluster.kill9(name)
        sent.result()
        holder.rollback()
    cluster.recover()
    first = wait_for(lambda: (answer := api.post(path, body, headers=key)).status_code == 201 and answer, "it is created").json()
    assert api.post(path, body, headers=key, expect=201).json() == first
    assert [one["id"] for one in api.get(path, expect=200).json() if one["name"] == body["name"]] == [first["id"]]
    api.problem("POST", path, 422, "idempotency_key_reused", {**body, "name": "Another"}, headers=key)


def owner_of(cluster, schema, table, api, path, body):
    """The account of the API key."""
    made = api.post(path, {**body, "name": "Owner"}, expect=201).json()
    with cluster.postgres.connect() as db:
        return db.execute(f"SELECT account_id FROM {schema}.{table} WHERE id = %s", [made["id"]]).fetchone()[0]
