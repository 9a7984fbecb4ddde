"""Deleting an account: svc-evalenv keeps nothing of it but the events that are still to be sent."""

from lib.scenario.deletion import tables_with, wait_deletion
from lib.scenario.evalenv import SECRET, SPEC


def test_nothing_of_a_deleted_account_is_kept(user, db):
    api = user.api
    mine = user.account
    spec = {"containerfile": "FROM scratch\n", "metrics": SPEC["metrics"]}
    once = {"Idempotency-Key": "k"}
    made = api.post("/eval-env/templates", {"name": "t", "spec": spec, "webhook_secret": SECRET}, headers=once, expect=201).json()
    api.post("/eval-env/runs", {"template_id": made["template_id"]}, expect=201)
    hosted = api.post("/eval-env/runs", {"template_id": api.post("/eval-env/templates", {"name": "u", "spec": SPEC}, expect=201)
                                         .json()["template_id"], "target": "hosted"}, expect=201).json()  # fmt: skip
    body = {"run_id": hosted["run_id"], "status": "failed"}
    api.post("/eval-env/webhooks/results", body, headers={"webhook-id": "d"}, expect=200)
    api.post("/eval-env/builds/claim", {"worker": "w"}, expect=200)
    assert tables_with(db, "evalenv", mine) >= {"template", "work", "build", "run", "delivery", "idempotency"}
    api.post("/account/delete", {"confirm": True}, expect=200)
    wait_deletion(db, mine)
    db.commit()
    assert tables_with(db, "evalenv", mine) - {"outbox"} == set()
