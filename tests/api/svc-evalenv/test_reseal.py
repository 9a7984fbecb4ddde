"""Replacing the key that seals the webhook secrets of templates."""

import json

from lib.scenario.evalenv import SECRET, SPEC, signed
from lib.tables import evalenv as evalenv_tables

RESULTS = "/eval-env/webhooks/results"


def restart(cluster, **changes):
    (process,) = cluster["svc-evalenv"]
    process.env.update(changes)
    process.restart()
    process.wait_ready()


def test_secrets_move_to_the_first_key(cluster, api, db):
    """SEAL_KEYS="evalenv" becomes "new,evalenv"; reseal moves what there is, and can be repeated; then "new" alone opens all."""
    body = {"name": "t", "spec": SPEC, "webhook_secret": SECRET}
    template = api.post("/eval-env/templates", body, expect=201).json()["template_id"]
    run = api.post("/eval-env/runs", {"template_id": template}, expect=201).json()["run_id"]
    claim = api.post("/eval-env/runs/claim", {"worker": "w"}, expect=200).json()
    old, new = cluster.seal_key("evalenv"), cluster.seal_key("new")
    try:
        told = cluster.run("svc-evalenv", "reseal", SEAL_KEYS=f"{new},{old}")
        assert int(told.split()[1]) >= 1
        assert cluster.run("svc-evalenv", "reseal", SEAL_KEYS=f"{new},{old}").split()[1] == "0"
        assert evalenv_tables.sealed_secret(db, template)[:4] == b"\x03new"
        restart(cluster, SEAL_KEYS=new)
        result = {"run_id": run, "attempt": claim["attempt"], "status": "succeeded", "metrics": {"recall": 0.5}}
        content = json.dumps(result).encode()
        answer = api.request("POST", RESULTS, content=content, headers={"Content-Type": "application/json", **signed(content)})
        assert answer.status_code == 200, answer.text
    finally:
        cluster.run("svc-evalenv", "reseal", SEAL_KEYS=f"{old},{new}")
        restart(cluster, SEAL_KEYS=old)
    assert api.get(f"/eval-env/runs/{run}", expect=200).json()["status"] == "succeeded"
