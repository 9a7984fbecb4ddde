"""Processes are killed during writes: every change that was answered with 2xx is kept, and is in the history once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from lib.wait import wait_for

WRITERS = 4
TARGET = 60  # accepted changes before and after the kill


@pytest.fixture(autouse=True)
def recovered(cluster):
    """Start again what the test stopped."""
    yield
    cluster.recover()


class Writers:
    """Threads that create and change experiments, and record which changes were accepted."""

    def __init__(self, api):
        self.api = api
        self.created = {}  # id -> name
        self.decided = {}  # id -> accepted decisions, in order
        self.uncertain = {}  # id -> decisions whose answer was lost or a 5xx
        self.accepted = 0
        self.refused = 0
        self.is_over = threading.Event()
        self.lock = threading.Lock()
        self.pool = ThreadPoolExecutor(WRITERS)
        self.writers = []

    def call(self, method, path, body):
        """The answer; None if there is no answer, or it is 502, 503 or 504."""
        try:
            answer = self.api.request(method, path, body)
        except httpx.TransportError:
            return None
        if answer.status_code in (502, 503, 504):
            return None
        assert answer.status_code in (200, 201), answer.text
        return answer

    def note(self, is_accepted):
        with self.lock:
            self.accepted += is_accepted
            self.refused += not is_accepted

    def work(self, number):
        turn = 0
        while not self.is_over.is_set():
            turn += 1
            name = f"{number}.{turn}"
            answer = self.call("POST", "/experiments", {"name": name})
            self.note(answer is not None)
            if answer is None:
                continue
            experiment = answer.json()["id"]
            self.created[experiment] = name
            self.decided[experiment], self.uncertain[experiment] = [], []
            for step in range(3):
                decision = f"{name}.{step}"
                answer = self.call("PUT", f"/experiments/{experiment}", {"decision": decision})
                (self.uncertain if answer is None else self.decided)[experiment].append(decision)
                self.note(answer is not None)

    def __enter__(self):
        self.writers = [self.pool.submit(self.work, number) for number in range(WRITERS)]
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.pool.shutdown()
        for writer in self.writers:
            writer.result()

    def wait(self, predicate, what):
        """Wait until `predicate` is true; raises the failure of a writer."""
        wait_for(lambda: predicate() or self.failed(), what)
        for writer in self.failed():
            writer.result()

    def failed(self):
        """The writers that have ended, which only a failure does before is_over."""
        return [writer for writer in self.writers if writer.done()]

    def wait_accepted(self, count):
        target = self.accepted + count
        self.wait(lambda: self.accepted >= target, f"{count} more accepted changes")

    def wait_refused(self):
        self.wait(lambda: self.refused, "a refusal")


def check(api, writers):
    for experiment, name in writers.created.items():
        now = api.get(f"/experiments/{experiment}", expect=200).json()
        assert now["name"] == name
        entries = [entry for entry in reversed(now["history"]) if entry["field"] == "decision"]
        recorded = [entry["to"] for entry in entries]
        assert len(recorded) == len(set(recorded))
        assert [one for one in recorded if one in writers.decided[experiment]] == writers.decided[experiment]
        assert set(recorded) <= {*writers.decided[experiment], *writers.uncertain[experiment]}
        assert now["decision"] == (recorded[-1] if recorded else None)
        for before, after in zip([{"to": None}, *entries], entries):
            assert after["from"] == before["to"]


@pytest.mark.parametrize("victim", ["svc-experiments", "postgres", "gateway"])
def test_accepted_changes_survive(cluster, api, db, victim):
    with Writers(api) as writers:
        writers.wait_accepted(TARGET)
        if victim == "postgres":
            cluster.postgres.kill9()
            writers.wait_refused()
            cluster.postgres.start()
        else:
            cluster.kill9(victim)
            writers.wait_refused()
            cluster.start(victim, len(cluster[victim]))
        writers.wait_accepted(TARGET)
    cluster.recover()
    check(api, writers)


def test_without_redis_changes_succeed_and_events_follow(cluster, api, make):
    made = make()
    cluster.redis.stop()
    try:
        now = api.put(f"/experiments/{made['id']}", {"status": "running"}, expect=200).json()
        assert now["status"] == "running"
    finally:
        cluster.recover()
    redis = cluster.redis.client()

    def emitted():
        entries = [fields for _, fields in redis.xrange("events.experiments") if fields["type"] != "message"]
        return [fields for fields in entries if made["id"] in fields["data"]]

    kinds = wait_for(lambda: len({e["type"] for e in emitted()}) == 2 and [e["type"] for e in emitted()], "both events")
    assert kinds[-1] == "experiment.updated"


def test_without_postgres_nothing_is_accepted(cluster, api, make, at_once):
    made = make()
    requests = [
        ("GET", "/experiments", None),
        ("POST", "/experiments", {"name": "x"}),
        ("PUT", f"/experiments/{made['id']}", {"status": "running"}),
        ("GET", f"/implement/experiments/{made['id']}/context", None),
    ]
    cluster.postgres.stop()
    try:
        answers = at_once(len(requests), lambda number: api.request(*requests[number]))
    finally:
        cluster.recover()
    assert [answer.status_code for answer in answers] == [503] * len(requests)
    if not cluster.servers.pgbouncer:  # which takes statements that it cannot pass on, so that writes are uncertain
        assert all(int(answer.headers["retry-after"]) >= 0 for answer in answers)
    assert api.get(f"/experiments/{made['id']}", expect=200).json() == made
