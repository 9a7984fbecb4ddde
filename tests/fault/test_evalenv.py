"""Builds and runs over two replicas of svc-evalenv, while workers, replicas, Redis and Postgres are killed."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest

from lib.http import plain_http
from lib.scenario.evalenv import worker
from lib.http.identity import identity
from lib.tables import evalenv as evalenv_tables
from lib.wait import after, wait_for

BUILDS = "/eval-env/builds"
WORKERS = 6
COUNT = 60


@pytest.fixture
def user(pair):
    return pair.user()


@pytest.fixture
def db(pair):
    with pair.postgres.connect("evalenv") as connection:
        connection.autocommit = True
        yield connection


def test_a_waiting_claim_is_woken_on_each_replica(pair, user, db):
    """By the notification: a claim would look by itself after five seconds only."""
    for process in pair["svc-evalenv"]:
        since = db.execute("SELECT clock_timestamp()").fetchone()[0]

        def claim(replica=process):
            url = f"{replica.url}/api/v1.0{BUILDS}/claim"
            auth = identity(pair, "svc-evalenv", account=user.account)
            return plain_http.post(url, json={"worker": "w", "wait_seconds": 4}, auth=auth)

        def has_looked(moment=since):
            query = "SELECT FROM pg_stat_activity WHERE query LIKE '%%FROM build_claim(%%' AND state = 'idle' AND state_change > %s"
            return db.execute(query, [moment]).fetchone() is not None

        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(claim)
            wait_for(has_looked, "the claim has found nothing")
            made = user.api.post(BUILDS, {"containerfile": "FROM a", "no_cache": True}, expect=201).json()
            answer = waiting.result()
        assert answer.status_code == 200 and answer.json()["build"]["build_id"] == made["build_id"]


class Worker:
    """Claims builds and reports them; one in five vanishes after its claim."""

    def __init__(self, api, name):
        self.api, self.name, self.random = api, name, random.Random(name)
        self.reported = {}  # build -> image of the report that was answered with 200

    def work(self, is_over):
        while not is_over():
            try:
                answer = self.api.post(f"{BUILDS}/claim", {"worker": self.name, "wait_seconds": 1})
                if answer.status_code == 200 and self.random.random() > 0.2:
                    self.report(answer.json())
            except httpx.TransportError:
                pass

    def report(self, claim):
        build = claim["build"]["build_id"]
        body = {"attempt": claim["attempt"], "status": "succeeded", "image": f"{self.name}:{claim['attempt']}"}
        self.api.post(f"{BUILDS}/{build}/heartbeat", {"attempt": claim["attempt"], "log": self.name})
        answer = self.api.post(f"{BUILDS}/{build}/report", body)
        if answer.status_code == 200:
            self.reported[build] = body["image"]


def test_each_build_ends_once(pair, user, db):
    def ended():
        """Ends leases first: what is claimed and not reported was claimed by a worker that has vanished, or soon will have been."""
        db.execute("UPDATE work SET lease_until = now() WHERE status = 'running' AND started_at < now() - interval '1 second'")
        query = "SELECT count(*) FROM work WHERE id = ANY (%s) AND finished_at IS NOT NULL"
        return db.execute(query, [list(made)]).fetchone()[0]

    at = partial(after, ended)
    made = {user.api.post(BUILDS, {"containerfile": "FROM a", "no_cache": True}, expect=201).json()["build_id"] for _ in range(COUNT)}
    replicas, workers, is_over = pair["svc-evalenv"], [Worker(user.api.as_key(user.key), f"w{n}") for n in range(WORKERS)], []
    with ThreadPoolExecutor(WORKERS) as pool:
        loops = [pool.submit(worker.work, lambda: bool(is_over)) for worker in workers]
        try:
            at(COUNT // 6, replicas[0].kill9)
            replicas[0].start()
            at(COUNT // 3, pair.redis.kill9)
            pair.redis.start()
            terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'expops_evalenv'"
            at(COUNT // 2, lambda: db.execute(terminate))
            at(2 * COUNT // 3, replicas[1].kill9)
            replicas[1].start()
            at(COUNT, lambda: None)
        finally:
            is_over.append(True)
        for one in loops:
            one.result()
    pair.recover()
    builds = {one: user.api.get(f"{BUILDS}/{one}", expect=200).json() for one in made}
    for one, build in builds.items():
        assert build["status"] == "succeeded" or build["error"]["kind"] == "lost", build
    for worker in workers:
        for one, image in worker.reported.items():
            assert builds[one]["image"] == image, "a report that was taken is the one that counts"


def test_workers_keep_their_work_when_the_service_was_away(pair, user, db):
    build = user.api.post(BUILDS, {"containerfile": "FROM a", "no_cache": True}, expect=201).json()["build_id"]
    claimed = user.api.post(f"{BUILDS}/claim", {"worker": "w"}, expect=200).json()
    assert claimed["build"]["build_id"] == build
    for replica in pair["svc-evalenv"]:
        replica.kill9()
    evalenv_tables.expire_claim(db, build)
    evalenv_tables.look_away(db, 50)
    for replica in pair["svc-evalenv"]:
        replica.start()
    wait_for(lambda: evalenv_tables.holds_leases(db), "the lease is held")
    report = {"attempt": 1, "status": "succeeded", "image": "i:1"}
    ended = wait_for(lambda: (it := user.api.post(f"{BUILDS}/{build}/report", report)).status_code != 503 and it, "it is answered")
    assert ended.status_code == 200, ended.text


def test_work_of_killed_worker_programs_ends_once(pair, user, db, tmp_path):
    """Builds and runs, of which one in two waits for its build, by worker programs that are killed, as are the replicas."""
    metric = """echo '{"metrics": {"recall": 0.5}}' >work/result.json"""
    settings = {"BUILD_COMMAND": "sleep 0.2", "RUN_COMMAND": metric, "BUILD_SLOTS": "2", "RUN_SLOTS": "2"}
    programs = [worker(pair, user.key, tmp_path / str(n), **settings) for n in range(3)]
    spec = {"image": "i:1", "metrics": ["recall"]}
    template = user.api.post("/eval-env/templates", {"name": "t", "spec": spec}, expect=201).json()["template_id"]
    made = []
    for number in range(20):
        build = user.api.post(BUILDS, {"containerfile": "FROM a", "no_cache": True}, expect=201).json()["build_id"]
        body = {"template_id": template, **({"build_id": build} if number % 2 else {})}
        made += [build, user.api.post("/eval-env/runs", body, expect=201).json()["run_id"]]

    def ended(count):
        """Whether so much has ended. Ends the leases of what killed programs had: the work itself takes a moment."""
        db.execute("UPDATE work SET lease_until = now() WHERE status = 'running' AND started_at < now() - interval '6 seconds'")
        query = "SELECT count(*) FROM work WHERE id = ANY (%s) AND finished_at IS NOT NULL"
        return db.execute(query, [made]).fetchone()[0] >= count

    for program in programs:
        program.start()
    for number, victim in enumerate([programs[0], pair["svc-evalenv"][0], programs[1], pair["svc-evalenv"][1]], 1):
        wait_for(lambda n=number: ended(len(made) * n // 6), "more has ended")
        victim.kill9()
        victim.start()
    wait_for(lambda: ended(len(made)), "all has ended")
    for program in programs:
        program.stop()
        assert not program.check()
    rows = db.execute("SELECT kind, status, error ->> 'kind' FROM work WHERE id = ANY (%s)", [made]).fetchall()
    assert all(status == "succeeded" or fault in ("lost", "environment") for _, status, fault in rows), rows
    query = "SELECT count(*), count(DISTINCT data ->> 'run_id') FROM outbox WHERE data ->> 'run_id' = ANY (%s)"
    assert db.execute(query, [made]).fetchone() == (20, 20), "the end of each run is told once"
