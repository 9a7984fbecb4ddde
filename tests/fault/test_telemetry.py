"""Telemetry of runs while the replicas of svc-fleet, Redis and Postgres are killed."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx

from lib.scenario.fleet import PERIOD, SCOPES, Month
from lib.wait import after, wait_for

SENDERS = 8


class Sender:
    """Sends reports from several threads, each until it is answered with 200 or 201; some that were answered are sent again."""

    def __init__(self, api):
        self.api, self.keys, self.lock = api, {}, threading.Lock()
        self.done = 0

    def key_of(self, repo):
        with self.lock:
            if repo not in self.keys:
                body = {"name": repo, "kind": "automation", "scopes": SCOPES, "repo": repo}
                self.keys[repo] = self.api.as_key(self.api.post("/account/api-keys", body, expect=201).json()["key"])
            return self.keys[repo]

    def send(self, repo, report):
        wait_for(lambda: self.try_once(repo, report), "the report is taken")
        self.done += 1

    def try_once(self, repo, report):
        try:
            return self.key_of(repo).post("/fleet/runs", report).status_code in (200, 201)
        except httpx.TransportError:
            return False


def test_no_accepted_report_is_lost_or_counted_twice(pair):
    month, sender = Month(random.getrandbits(32), repos=8, runs=20), Sender(pair.user().api)
    for repo in month.repos:
        sender.key_of(repo)
    replicas, queue = pair["svc-fleet"], month.shuffled(month.reports)

    at = partial(after, lambda: sender.done)
    with ThreadPoolExecutor(SENDERS) as pool:
        sent = [pool.submit(sender.send, *one) for one in queue]
        at(40, replicas[0].kill9)
        at(80, pair.redis.kill9)
        at(120, replicas[0].start)
        at(160, lambda: pair.kill9("svc-fleet"))
        pair.start("svc-fleet", 2)
        pair.redis.start()
        at(240, pair.postgres.kill9)
        pair.postgres.start()
        at(320, pair["svc-fleet"][1].kill9)
        for one in sent:
            one.result()
    pair.recover()
    report = sender.api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
    expected = {name: value for name, value in month.kpis().items() if "merge" not in name}
    assert {name: report["kpis"][name] for name in expected} == expected
    assert int(sender.api.get("/fleet/runs", expect=200).headers["X-Total-Count"]) == len(month.final)
