#!/usr/bin/python3
"""A kill test: clients use the product while processes and servers are killed, stopped, cut off and restarted. At the end every
promise is checked: nothing accepted is lost or done twice, no task is stuck, no event is late, a session of a browser is valid until it
was ended or its key was revoked; of a budget nothing stays reserved of runs that have ended (budget_ledger.py), a team's invitations and
roles are those that were accepted (team_ledger.py), and the audit log has each change, once, and nothing else (audit_ledger.py).

usage: kill.py [--minutes N] [--accounts N] [--seed N]

Two replicas of each process run, each on a node of its own (tests/lib/system/nodes.py), so that a node can vanish while the others still
see its connections open. A seed repeats the sequence of faults. Exits with 1 when a promise was broken.
"""

import argparse
import contextlib
import random
import secrets
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import httpx
import psycopg
import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.check import promises  # noqa: E402
from lib.http import plain_http  # noqa: E402
from lib.http.client import PREFIX  # noqa: E402
from lib.system.nodes import NodeCluster  # noqa: E402
from lib.system.servers import ROOT  # noqa: E402
from lib.wait import TimedOut, wait_for  # noqa: E402

import audit_ledger  # noqa: E402
from budget_ledger import BudgetLedger  # noqa: E402
from team_ledger import TeamLedger  # noqa: E402

EVENT_BOUND_SECONDS = 60  # without the time of the faults
REVOKED_BOUND_SECONDS = 5
CLIENT_TIMEOUT_SECONDS = 40
PAUSE_SECONDS = 0.05
FAULT_SECONDS = (5, 25)  # of a process that is stopped or cut off
CALM_SECONDS = (1, 6)    # between two faults
LOG_INS_MAX = 15  # of an account: of more than 20 sessions the oldest would go
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


class Faults:
    """Faults one after the other, until `stop` is set. `spans` has the begin and the end of each."""

    def __init__(self, cluster, choice, stop):
        self.cluster, self.choice, self.stop = cluster, choice, stop
        self.spans, self.counts = [], Counter()
        self.kinds = [self.kill, self.kill, self.vanish, self.vanish, self.freeze, self.cut_off, self.kill_redis,
                      self.empty_redis, self.kill_postgres, self.restart]

    def run(self):
        while not self.stop.is_set():
            fault, begin = self.choice.choice(self.kinds), time.time()
            fault()
            self.spans.append((begin, time.time()))
            self.counts[fault.__name__] += 1
            self.cluster.remove_lost()
            self.stop.wait(self.choice.uniform(*CALM_SECONDS))

    def one(self):
        return self.choice.choice(self.cluster.all())

    def kill(self):
        process = self.one()
        process.kill9()
        process.start()

    def vanish(self):
        self.cluster.vanish(self.one())

    def freeze(self):
        process = self.one()
        process.pause()
        self.stop.wait(self.choice.uniform(*FAULT_SECONDS))
        process.resume()

    def cut_off(self):
        links = self.cluster.links[self.one()]
        links.swallow()
        self.stop.wait(self.choice.uniform(*FAULT_SECONDS))
        links.restore()

    def kill_redis(self):
        self.cluster.redis.kill9()
        self.stop.wait(self.choice.uniform(0, 5))
        self.cluster.redis.start()

    def empty_redis(self):
        with contextlib.suppress(redis.RedisError):
            self.cluster.redis.client().flushall()

    def kill_postgres(self):
        self.cluster.postgres.kill9()
        self.stop.wait(self.choice.uniform(0, 5))
        self.cluster.postgres.start()

    def restart(self):
        process = self.one()
        process.stop()
        process.start()


class Experiment:
    """What a client knows of an experiment. An update names the version that it changes, so that one whose answer was lost
    cannot be done after a later one was accepted."""

    def __init__(self, name, etag):
        self.name, self.etag = name, etag
        self.accepted, self.uncertain = None, []  # values of `hypothesis`

    def has_lost(self, value):
        return value != self.accepted and value not in self.uncertain


class Client:
    """One account's client. Records what the product has accepted."""

    def __init__(self, cluster, stop):
        self.cluster, self.user, self.stop = cluster, cluster.user(), stop
        headers = {"Authorization": f"Bearer {self.user.key}", "Accept-Encoding": "identity"}
        self.http = plain_http.client(headers=headers, timeout=CLIENT_TIMEOUT_SECONDS)
        self.choice = random.Random(secrets.randbits(64))
        self.experiments = {}  # id -> Experiment
        self.tasks = []        # status URLs
        self.revoked = []      # keys
        self.browser = plain_http.client(timeout=CLIENT_TIMEOUT_SECONDS)
        self.log_ins = 0       # attempts: one whose answer was lost may have made a session
        self.sessions, self.ended = [], []  # cookies
        self.interest = None
        self.budget, self.team = BudgetLedger(self), TeamLedger(self)
        self.outcomes, self.late_errors, self.unexpected = Counter(), Counter(), []

    def send(self, method, path, body=None, headers=None, http=None):
        """The answer of any gateway, or None when it was lost or is an error of the server."""
        url = self.choice.choice(self.cluster["gateway"]).url + PREFIX + path
        try:
            answer = (http or self.http).request(method, url, json=body, headers=headers)
        except httpx.TransportError as error:
            self.outcomes[type(error).__name__] += 1
            return None
        self.outcomes[answer.status_code] += 1
        return answer if answer.status_code < 500 else None

    def expect(self, answer, *statuses):
        if answer.status_code not in statuses:
            self.unexpected.append(f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}")
        return answer.status_code in statuses

    def repeat(self, method, path, body=None, headers=None, again=()):
        """The first answer whose status is not in `again`; None at the end."""
        while not self.stop.is_set():
            answer = self.send(method, path, body, headers)
            if answer is not None and answer.status_code not in again:
                return answer
            self.stop.wait(0.2)
        return None

    def create_once(self, path, body):
        """The answer to a POST with an Idempotency-Key, repeated until it is accepted."""
        answer = self.repeat("POST", path, body, {"Idempotency-Key": secrets.token_hex(16)}, again=(409,))
        return answer if answer is not None and self.expect(answer, 201, 202) else None

    def run(self):
        steps = [self.create, self.update, self.update, self.update, self.refresh, self.revoke, self.browse,
                 self.budget.step, self.team.step]
        try:
            while not self.stop.is_set():
                self.choice.choice(steps)()
                self.stop.wait(PAUSE_SECONDS)
        except Exception:  # a fault of this script
            self.unexpected.append(traceback.format_exc())

    def create(self):
        name = secrets.token_hex(8)
        made = self.create_once("/experiments", {"name": name})
        if made:
            self.experiments[made.json()["id"]] = Experiment(name, made.headers.get("ETag"))

    def update(self):
        if not self.experiments:
            return
        key = self.choice.choice(list(self.experiments))
        known, value = self.experiments[key], secrets.token_hex(8)
        if known.etag is None:
            self.read_again(key, known)
            return
        known.uncertain.append(value)
        answer = self.send("PUT", f"/experiments/{key}", {"hypothesis": value}, {"If-Match": known.etag})
        if answer is None or (answer.status_code == 412 and len(known.uncertain) > 1):
            known.etag = None  # it may have been done, or one before it
        elif self.expect(answer, 200):
            known.accepted, known.uncertain, known.etag = value, [], answer.headers["ETag"]

    def read_again(self, key, known):
        answer = self.repeat("GET", f"/experiments/{key}")
        if answer is not None and self.expect(answer, 200):
            value = answer.json()["hypothesis"]
            if known.has_lost(value):
                self.unexpected.append(f"experiment {key} lost an accepted update")
            if value in known.uncertain:
                known.accepted, known.uncertain = value, []
            known.etag = answer.headers["ETag"]

    def refresh(self):
        if self.interest is None:
            made = self.create_once("/interests", {"name": secrets.token_hex(4), "context": "retrieval for language models"})
            self.interest = made and made.json()["id"]
        if self.interest:
            number = self.choice.randrange(1, 4)
            started = self.create_once("/papers/recommended/refresh", {"interest_id": self.interest, "num_results": number})
            if started:
                self.tasks.append(started.json()["status_url"])

    def revoke(self):
        made = self.create_once("/account/api-keys", {"name": "short-lived"})
        cookie = made and self.log_in(made.json()["key"])
        gone = made and self.repeat("DELETE", f"/account/api-keys/{made.json()['id']}")
        if gone and self.expect(gone, 200, 204, 404):  # 404: an earlier answer was lost
            self.revoked.append(made.json()["key"])
            self.ended += [cookie] if cookie else []

    def log_in(self, key):
        """The cookie of a new session; None: there is none, or nobody knows."""
        if self.log_ins == LOG_INS_MAX:
            return None
        self.log_ins += 1
        answer = self.send("POST", "/session", {"key": key}, SAME_ORIGIN, self.browser)
        if answer is None or answer.status_code == 429 or not self.expect(answer, 200):
            return None
        return answer.headers["Set-Cookie"].partition(";")[0]

    def browse(self):
        """Log in, or use a session, or end it."""
        if len(self.sessions) < 3:
            cookie = self.log_in(self.user.key)
            self.sessions += [cookie] if cookie else []
            return
        cookie = self.choice.choice(self.sessions)
        method = self.choice.choice(["GET", "GET", "GET", "DELETE"])
        if method == "DELETE":
            self.sessions.remove(cookie)
        answer = self.send(method, "/session", None, {**SAME_ORIGIN, "Cookie": cookie}, self.browser)
        if answer is not None and self.expect(answer, 200, 204) and method == "DELETE":
            self.ended.append(cookie)

    def read(self, path, key=None, cookie=None, accept="application/json"):
        """Read when the run is over. Every answer that is no error of the server is one; others are reported."""
        headers = {**SAME_ORIGIN, "Cookie": cookie} if cookie else {"Authorization": f"Bearer {key or self.user.key}"}
        headers["Accept"] = accept

        def answered():
            answer = (self.browser if cookie else self.http).get(self.cluster.gateway_url + PREFIX + path, headers=headers)
            if answer.status_code >= 500:
                self.late_errors[answer.text] += 1
            return answer if answer.status_code < 500 else None

        return wait_for(answered, f"an answer to {path}")

    def broken(self):
        """The promises that were broken to this client."""
        yield from self.unexpected
        found = Counter()
        for offset in range(0, len(self.experiments) + 100, 100):
            found.update(one["name"] for one in self.read(f"/experiments?limit=100&offset={offset}").json())
        yield from (f"an experiment exists {count} times: {name}" for name, count in found.items() if count > 1)
        for key, known in self.experiments.items():
            if not found[known.name]:
                yield f"experiment {key} was lost"
            elif known.has_lost(self.read(f"/experiments/{key}").json()["hypothesis"]):
                yield f"experiment {key} lost an accepted update"
        yield from self.budget.broken()
        yield from self.team.broken()
        with psycopg.connect(self.cluster.postgres.url(), autocommit=True) as database:
            yield from audit_ledger.broken(self, database)
        for path in self.tasks:
            task = self.read(path.removeprefix(PREFIX)).json()
            if task["status"] != "completed":
                yield f"task {path} is {task}"
        for key in self.revoked:
            if self.read("/interests", key).status_code != 401:
                yield "a deleted key is accepted"
        for cookie in self.sessions:
            if self.read("/session", cookie=cookie).status_code != 200:
                yield "a session was lost"
        for cookie in self.ended:
            if self.read("/session", cookie=cookie).status_code != 401:
                yield "a session that was ended is accepted"


class Watch:
    """Notes how long each new version of an experiment takes to arrive in svc-interests."""

    QUERY = """
        SELECT e.id::text, e.version, i.version FROM experiments.experiment e
        LEFT JOIN interests.experiment i USING (id) WHERE i.version IS DISTINCT FROM e.version
    """

    def __init__(self, cluster, stop):
        self.cluster, self.stop = cluster, stop
        self.missing = {}  # id -> [(version, when it was first seen missing)]
        self.arrived = []  # (written, arrived, id)

    def look(self):
        """The number of versions that are missing now."""
        with psycopg.connect(self.cluster.postgres.url(), autocommit=True, connect_timeout=5) as connection:
            rows = {key: (newest, has or 0) for key, newest, has in connection.execute(self.QUERY)}
        now = time.time()
        for key, versions in self.missing.items():
            _, has = rows.get(key, (0, sys.maxsize))
            self.arrived += [(since, now, key) for version, since in versions if version <= has]
            versions[:] = [one for one in versions if one[0] > has]
        for key, (newest, _) in rows.items():
            versions = self.missing.setdefault(key, [])
            if not versions or versions[-1][0] < newest:
                versions.append((newest, now))
        return len(rows)

    def run(self):
        while not self.stop.is_set():
            with contextlib.suppress(psycopg.Error):
                self.look()
            self.stop.wait(0.5)

    def broken(self, spans):
        """The events that were later than the bound; the time of faults does not count."""
        for written, arrived, key in self.arrived:
            faulty = sum(max(0, min(arrived, end) - max(written, begin)) for begin, end in spans)
            if arrived - written - faulty > EVENT_BOUND_SECONDS:
                yield f"an event of experiment {key} took {arrived - written:.0f} s, {faulty:.0f} s of them during faults"


def unfinished(cluster):
    """Rows that background work still has to handle."""
    left = []
    with cluster.postgres.connect() as connection:
        for _, schema, _ in cluster.rows:
            for what, query in (
                ("unsent outbox rows", f"SELECT count(*) FROM {schema}.outbox WHERE sent_at IS NULL"),
                ("open tasks", f"SELECT count(*) FROM {schema}.task WHERE status IN ('pending', 'running')"),
                ("parked events", f"SELECT count(*) FROM {schema}.event_parked"),
            ):
                count = connection.execute(query).fetchone()[0]
                if count:
                    left.append(f"{schema}: {count} {what}")
    return left


class Run:
    """Clients and faults together, for some time, and what came of it."""

    def __init__(self, cluster, minutes, accounts, seed):
        self.cluster, self.seconds = cluster, minutes * 60
        self.stop, self.calm = threading.Event(), threading.Event()
        self.clients = [Client(cluster, self.stop) for _ in range(accounts)]
        self.faults = Faults(cluster, random.Random(seed), self.stop)
        self.watch = Watch(cluster, self.calm)
        self.settled_seconds, self.broken = None, []

    def play(self):
        threads = [threading.Thread(target=one.run) for one in (*self.clients, self.faults)]
        watcher = threading.Thread(target=self.watch.run)
        for thread in (*threads, watcher):
            thread.start()
        time.sleep(self.seconds)
        self.stop.set()
        for thread in threads:
            thread.join()
        self.settle()
        self.calm.set()
        watcher.join()
        time.sleep(REVOKED_BOUND_SECONDS)
        self.broken += self.watch.broken(self.faults.spans)
        for client in self.clients:
            self.broken += client.broken()
        self.broken += self.dead_letters()

    def settle(self):
        """Wait until background work has caught up."""
        self.cluster.recover()
        begin = time.time()
        try:
            wait_for(lambda: not self.watch.look() and not unfinished(self.cluster), "all events and tasks are handled")
        except TimedOut:
            self.broken += [f"{self.watch.look()} events did not arrive", *unfinished(self.cluster)]
        self.settled_seconds = time.time() - begin

    def dead_letters(self):
        client = self.cluster.redis.client()
        for stream in client.scan_iter("events.dead.*"):
            yield f"{stream} has {client.xlen(stream)} entries: {client.xrange(stream, count=3)}"
        with self.cluster.postgres.connect() as connection:
            for _, schema, _ in self.cluster.rows:
                failed = f"SELECT kind, error FROM {schema}.task WHERE status = 'failed' AND NOT is_refused LIMIT 3"
                yield from (f"{schema}: a task of {kind} failed: {error}" for kind, error in connection.execute(failed))

    def report(self):
        outcomes = sum((client.outcomes for client in self.clients), Counter())
        delays = sorted(arrived - written for written, arrived, _ in self.watch.arrived)
        print(f"faults: {sum(self.faults.counts.values())} {dict(self.faults.counts)}")
        print(f"answers: {dict(outcomes)}")
        print(f"accepted: {sum(len(one.experiments) for one in self.clients)} experiments, "
              f"{sum(len(one.tasks) for one in self.clients)} tasks, {sum(len(one.revoked) for one in self.clients)} keys deleted, "
              f"{sum(len(one.sessions) for one in self.clients)} sessions, {sum(len(one.ended) for one in self.clients)} more ended, "
              f"{sum(len(one.budget.ended) for one in self.clients)} runs, "
              f"{sum(len(one.team.open) + len(one.team.revoked) for one in self.clients)} invitations")
        print(f"events that took longer than 0.5 s: {len(delays)}, the longest {delays[-1] if delays else 0:.1f} s")
        print(f"background work had caught up {self.settled_seconds:.1f} s after the end")
        for text, count in sum((client.late_errors for client in self.clients), Counter()).items():
            print(f"after the end {count} reads failed: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--accounts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--logs", type=Path, help="a folder for the logs of all processes, if a promise was broken")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with NodeCluster() as cluster:
        cluster.run("svc-search", "import", ROOT / "deploy" / "sample" / "papers.jsonl")
        run = Run(cluster, arguments.minutes, arguments.accounts, arguments.seed)
        run.play()
        cluster.remove_lost(0)
        run.broken += cluster.check()
        run.report()
        if run.broken and arguments.logs:
            arguments.logs.mkdir(parents=True, exist_ok=True)
            for path in cluster.servers.base.glob("*.log"):
                (arguments.logs / path.name).write_bytes(path.read_bytes())
    return promises.report(run.broken)


if __name__ == "__main__":
    sys.exit(main())
