"""Deliveries of the code host while Redis and the replicas of svc-integrations are killed."""

import random
import secrets
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx

from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import after, wait_for
from lib.outside.webhooks import Hook, pull_request

FACTS = 500
SENDERS = 8


class Sender:
    """Delivers from several threads, each delivery until it is answered 202, as the code host does when it is asked to."""

    def __init__(self, cluster):
        self.cluster, self.local = cluster, threading.local()
        self.done = 0

    def deliver(self, delivery, payload):
        if not hasattr(self.local, "hook"):
            self.local.hook = Hook(self.cluster)
        wait_for(lambda: self.try_once(delivery, payload), "the delivery is taken")
        self.done += 1

    def try_once(self, delivery, payload):
        try:
            self.local.hook.deliver("pull_request", payload, delivery)
        except httpx.TransportError:
            return False
        return True


def test_each_fact_counts_once_whatever_is_killed(pair):
    """1,000 deliveries, the app's and the repository's of each fact, each sent twice in random order."""
    repo, sender = f"acme/{secrets.token_hex(6)}", Sender(pair)
    deliveries = [(str(uuid.uuid4()), pull_request(repo, number) | members)
                  for number in range(1, FACTS + 1) for members in ({}, {"installation": {"id": 5}})]
    queue = deliveries * 2
    random.shuffle(queue)
    replicas = pair["svc-integrations"]
    pair.kill9("svc-evalenv")  # the stream keeps what one of its readers has not read

    at = partial(after, lambda: sender.done)
    with ThreadPoolExecutor(SENDERS) as pool:
        sent = [pool.submit(sender.deliver, *one) for one in queue]
        at(200, replicas[0].kill9)
        at(400, pair.redis.kill9)
        at(600, replicas[0].start)
        at(800, lambda: pair.kill9("svc-integrations"))
        pair.start("svc-integrations", 2)
        at(1200, pair.redis.start)
        at(1400, replicas[1].kill9)
        replicas[1].start()
        for one in sent:
            one.result()
    pair.wait_ready("svc-integrations")
    hook = Hook(pair)
    ids = [delivery for delivery, _ in deliveries]
    ledger = integrations_tables.ledger_of(hook.connection, ids)
    assert len({delivery for delivery, _ in ledger}) == len(ledger)
    assert Counter(status for _, status in ledger) == {"applied": FACTS, "ignored": FACTS}
    assert len(integrations_tables.seen(hook.connection, ids, times=2)) == len(ids)
    assert len(common.outbox(hook.connection, repo=repo)) == FACTS

    def numbers():
        """Of each event id that a reader sees, what it is about."""
        return {event: data["number"] for event, data in hook.sent() if data["repo"] == repo}

    wait_for(lambda: len(numbers()) == FACTS, "all events are in the stream")
    assert Counter(numbers().values()) == Counter(range(1, FACTS + 1))
    pair.recover()
