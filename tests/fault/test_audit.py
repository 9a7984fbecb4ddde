"""No change without its entry in the audit log, and no entry without a change, when processes are killed between the two."""

from concurrent.futures import ThreadPoolExecutor

import httpx

from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

URL = "https://hooks.example.org"


def make_keys(api, count):
    """Make keys one after the other, whatever becomes of the requests."""
    for n in range(count):
        try:
            api.request("POST", "/account/api-keys", {"name": f"key {n}"}, checked=False)
        except httpx.HTTPError:
            pass


def test_keys_and_their_entries_are_the_same(cluster, user):
    """The process is killed while it makes keys, at no certain point: what was committed has its entry."""
    with cluster.postgres.connect("account") as db:
        before, _ = gateway_tables.audit_keys(db, user.account)
        for _ in range(3):
            with ThreadPoolExecutor(4) as pool:
                running = [pool.submit(make_keys, user.api, 8) for _ in range(4)]
                made = len(gateway_tables.audit_keys(db, user.account)[0])
                wait_for(lambda made=made: len(gateway_tables.audit_keys(db, user.account)[0]) > made, "keys are made")
                cluster.kill9("gateway")
                for each in running:
                    each.result()
            cluster.recover()
        keys, entries = gateway_tables.audit_keys(db, user.account)
    assert keys > before and set(entries) >= keys - before
    assert set(entries) <= keys and len(entries) == len(set(entries))


def test_what_services_tell_arrives_once(cluster, user):
    """The change and its event are one transaction, and so are the entry and the reader's position."""
    made = []
    for name in ("svc-integrations", "gateway", "svc-integrations"):
        for _ in range(5):
            body = {"kind": "webhook", "url": f"{URL}/{len(made)}", "events": ["test.*"]}
            made.append(user.api.post("/webhooks", body, expect=201).json()["id"])
        cluster.kill9(name)
        cluster.recover()
    with cluster.postgres.connect("account") as db:
        wait_for(lambda: gateway_tables.audit_actions(db, user.account).count("webhook.created") >= len(made), "all entries are there")
        assert gateway_tables.audit_actions(db, user.account).count("webhook.created") == len(made)
