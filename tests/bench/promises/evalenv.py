#!/usr/bin/python3
"""A storm of builds and runs: worker programs work at them while workers, replicas of svc-evalenv, Redis and the connections to
Postgres are killed. Each must end in one final state, the end of each run must be told once, and no lease may outlive its bound.

usage: evalenv.py [--count N] [--workers N] [--replicas N] [--accounts N] [--seed N]

Every second run waits for its build. A worker that is killed loses what it had: it is queued again when its lease ends. A seed
repeats the sequence of faults. Exits with 1 when a promise was broken.
"""

import argparse
import random
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system import cluster as settings  # noqa: E402
from lib.check import promises  # noqa: E402
from lib.system.cluster import Cluster  # noqa: E402
from lib.scenario.evalenv import worker  # noqa: E402

LEASE_SECONDS = 10
# A replica that is killed may hold the recurring job that ends leases; another one takes it over after JOB_LEASE.
OVERDUE_BOUND_SECONDS = 20
CALM_SECONDS = (0.1, 1)  # between two faults
SERVICE = "svc-evalenv"
WORKER = {"BUILD_SLOTS": "2", "RUN_SLOTS": "2", "BUILD_COMMAND": "sleep 2",
          "RUN_COMMAND": """sleep 2; echo '{"metrics": {"recall": 0.5}}' >work/result.json"""}  # fmt: skip

# Notes each time that work gets a final state.
AUDIT = """
    CREATE TABLE audit (id uuid NOT NULL, status text NOT NULL);
    GRANT INSERT ON audit TO expops_evalenv;
    CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO audit VALUES (NEW.id, NEW.status);
        RETURN NULL;
    END $$;
    CREATE TRIGGER audit AFTER UPDATE ON work FOR EACH ROW
        WHEN (NEW.finished_at IS NOT NULL AND (OLD.finished_at, OLD.status) IS DISTINCT FROM (NEW.finished_at, NEW.status))
        EXECUTE FUNCTION audit();
"""
OVERDUE = """
    SELECT coalesce(extract(epoch FROM max(now() - least(lease_until, deadline_at))), 0)::float8
    FROM work WHERE status = 'running'
"""


class Storm:
    def __init__(self, cluster, programs, choice):
        self.cluster, self.programs, self.choice = cluster, programs, choice
        self.made, self.faults, self.overdue, self.is_over = [], Counter(), 0.0, threading.Event()

    def connect(self):
        return self.cluster.postgres.connect("evalenv")

    def queue(self, user, count):
        """`count` builds and runs."""
        spec = {"image": "i:1", "metrics": ["recall"]}
        template = user.api.post("/eval-env/templates", {"name": "t", "spec": spec}, expect=201).json()["template_id"]
        for number in range(count // 2):
            body = {"containerfile": "FROM a", "no_cache": True}
            build = user.api.post("/eval-env/builds", body, expect=201).json()["build_id"]
            body = {"template_id": template, **({"build_id": build} if number % 2 else {})}
            self.made += [build, user.api.post("/eval-env/runs", body, expect=201).json()["run_id"]]

    def disturb(self):
        kinds = [self.kill_worker] * 6 + [self.kill_replica] * 3 + [self.kill_redis, self.end_connections]
        while not self.is_over.wait(self.choice.uniform(*CALM_SECONDS)):
            fault = self.choice.choice(kinds)
            fault()
            self.faults[fault.__name__] += 1

    def kill_worker(self):
        self.kill(self.choice.choice(self.programs))

    def kill_replica(self):
        self.kill(self.choice.choice(self.cluster[SERVICE]))

    def kill(self, process):
        process.kill9()
        process.start()

    def kill_redis(self):
        self.cluster.redis.kill9()
        self.is_over.wait(self.choice.uniform(0, 3))
        self.cluster.redis.start()

    def end_connections(self):
        with self.connect() as db:
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'expops_evalenv'")

    def watch(self):
        """How long a lease was over while its work still ran."""
        with self.connect() as db:
            while not self.is_over.wait(0.2):
                self.overdue = max(self.overdue, db.execute(OVERDUE).fetchone()[0])

    def has_ended(self):
        with suppress(psycopg.OperationalError), self.connect() as db:
            query = "SELECT count(*) FROM work WHERE id = ANY (%s) AND finished_at IS NULL"
            return db.execute(query, [self.made]).fetchone()[0] == 0
        return False

    def play(self):
        threads = [threading.Thread(target=play) for play in (self.disturb, self.watch)]
        for thread in threads:
            thread.start()
        try:
            while not self.has_ended():
                time.sleep(0.5)
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join()
        self.cluster.recover()

    def broken(self):
        """The promises that were broken."""
        with self.connect() as db:
            for id, count in db.execute("SELECT id, count(*) FROM audit GROUP BY id HAVING count(*) <> 1"):
                yield f"{id} got a final state {count} times"
            query = "SELECT id, status, error FROM work WHERE id = ANY (%s)"
            rows = db.execute(query, [self.made]).fetchall()
            if len(rows) != len(self.made):
                yield f"{len(self.made) - len(rows)} are lost"
            for id, status, error in rows:
                if status != "succeeded" and (error or {}).get("kind") not in ("lost", "environment"):
                    yield f"{id} is {status}: {error}"
            query = "SELECT data ->> 'run_id', count(*) FROM outbox WHERE stream = 'events.eval' GROUP BY 1"
            told = dict(db.execute(query).fetchall())
            for id in self.made[1::2]:
                if told.get(id) != 1:
                    yield f"the end of the run {id} was told {told.get(id, 0)} times"
        if self.overdue > OVERDUE_BOUND_SECONDS:
            yield f"a lease was over for {self.overdue:.1f} s before others got the work"

    def states(self):
        with self.connect() as db:
            query = "SELECT kind || ' ' || status, count(*) FROM work WHERE id = ANY (%s) GROUP BY 1 ORDER BY 1"
            attempts = "SELECT count(*) FROM work WHERE id = ANY (%s) AND attempts > 1"
            return dict(db.execute(query, [self.made]).fetchall()), db.execute(attempts, [self.made]).fetchone()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--accounts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    settings.SETTINGS |= {"WORK_LEASE": f"{LEASE_SECONDS}s", "WORK_ATTEMPTS": "10"}
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster(arguments.replicas))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        # One worker takes the work of all accounts, the others that of one each.
        users = [cluster.user() for _ in range(arguments.accounts)]
        keys = [cluster.user(operator=True).key] + [users[n % len(users)].key for n in range(1, arguments.workers)]
        programs = [worker(cluster, key, folder / str(n), **WORKER) for n, key in enumerate(keys)]
        storm = Storm(cluster, programs, random.Random(arguments.seed))
        for user in users:
            storm.queue(user, arguments.count // len(users))
        with storm.connect() as db:
            db.execute(AUDIT)
        begin = time.monotonic()
        for program in programs:
            program.start()
            stack.callback(program.stop)
        storm.play()
        seconds = time.monotonic() - begin
        states, repeated = storm.states()
        broken = [*storm.broken(), *cluster.check()]
    print(f"{len(storm.made)} builds and runs in {seconds:.0f} s: {states}; {repeated} took more than one attempt")
    print(f"faults: {sum(storm.faults.values())} {dict(storm.faults)}")
    print(f"the longest that a lease was over: {storm.overdue:.1f} s")
    return promises.report(broken)


if __name__ == "__main__":
    sys.exit(main())
