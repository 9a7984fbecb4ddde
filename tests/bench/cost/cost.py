#!/usr/bin/python3
"""What requests and documents cost: the measured half of deploy/CAPACITY.md.

usage: cost.py PAPERS.jsonl[.gz] [--seconds N] [--rows N] [--papers N]

One replica of each process, Postgres with fsync, Redis with its log. Requests go through the gateway by wrk, over 32 connections, of
32 accounts in turn, since those of one account would share statements. CPU time is that of the processes and of the servers, from /proc,
and does not depend on how fast they come. Bytes are those of all relations of a schema, with their indexes; memory is resident memory.
Needs wrk.
"""

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fleet import telemetry

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.outside.webhooks import Hook, pull_request  # noqa: E402
from lib.system import servers  # noqa: E402
from lib.system.cluster import Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of, cpu_of_process  # noqa: E402
from lib.wait import wait_for  # noqa: E402

PREFIX = "/api/v1.0"
CONNECTIONS = 32
SETTLED_SECONDS = 5
LANES = (1, 8)
ACCOUNTS = 32
LISTED = 20
WAITED_SECONDS = 5
SIZE = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = %s AND relkind IN ('r', 'm')"

LUA = """
local id, thread = 0, tostring({}):sub(8)
request = function()
  id = id + 1
  local key, target = unpack(CALLS[id % #CALLS + 1])
  target = target:gsub("@", tostring(id % ROWS + 1))
  return wrk.format(METHOD, target, {["Authorization"] = "Bearer " .. key, ["Content-Type"] = "application/json", ["If-None-Match"] = TAG},
                    BODY and BODY:gsub("@", thread .. "-" .. id))
end
"""


class Meter:
    """CPU time since its creation, less what the processes use at rest."""

    at_rest = {}  # service -> seconds a second

    def __init__(self, cluster, service):
        self.cluster, self.service = cluster, service
        self.postgres = PostgresTime(cluster.postgres)
        self.before, self.began = self.now(), time.monotonic()

    def now(self):
        redis = cpu_of_process(self.cluster.redis.pid())
        return [cpu_of(self.cluster, "gateway"), cpu_of(self.cluster, self.service), self.postgres.seconds(), redis]

    def micros(self, count):
        """CPU time of gateway, service, Postgres and Redis for each of `count`."""
        seconds, rest = time.monotonic() - self.began, self.at_rest.get(self.service, [0, 0, 0, 0])
        return [(now - before - idle * seconds) / count * 1e6 for now, before, idle in zip(self.now(), self.before, rest)]

    @classmethod
    def measure_rest(cls, cluster):
        meters = {name: cls(cluster, name) for name in cluster.processes}
        time.sleep(SETTLED_SECONDS)
        cls.at_rest = {name: [micros / 1e6 for micros in meter.micros(SETTLED_SECONDS)] for name, meter in meters.items()}


def lua_text(text):
    return f"[==[{text}]==]"


def wrk(url, key, method, target, body, seconds, tag=None):
    return wrk_in_turn(url, [(key, target)], method, body, seconds, tag=tag)


def wrk_in_turn(url, calls, method, body, seconds, prefix=PREFIX, tag=None):
    """Requests by wrk with the keys and targets of `calls` in turn, for what has not the entity tag any more; how many were answered."""
    return answered(wrk_report(url, calls, method, body, seconds, prefix=prefix, tag=tag))


def answered(report_of_wrk):
    return int(report_of_wrk.split(" requests in")[0].split()[-1])


def wrk_report(url, calls, method, body, seconds, prefix=PREFIX, tag=None, connections=CONNECTIONS):
    """The same; what wrk prints, with its percentiles."""
    constants = {
        "METHOD": lua_text(method),
        "BODY": "nil" if body is None else lua_text(body),
        "TAG": "nil" if tag is None else lua_text(tag),
        "CALLS": "{" + ",".join("{" + lua_text(key) + "," + lua_text(prefix + target) + "}" for key, target in calls) + "}",
        "ROWS": "50",
    }
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("\n".join([*(f"local {name} = {value}" for name, value in constants.items()), LUA]))
        script.flush()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s", "-s", script.name, url]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit(f"{method} {calls[0][1]}: {out}")
    return out


def deliver(cluster, count):
    hook = Hook(cluster)
    for number in range(count):
        hook.deliver("pull_request", pull_request("acme/cost", number + 1))
    return count


def size_of(cluster, schema):
    with cluster.postgres.connect() as db:
        return int(db.execute(SIZE, [schema]).fetchone()[0])


class Tenant:
    """An account with 20 experiments and 20 runs, and its agent."""

    def __init__(self, cluster):
        self.user = cluster.user()
        self.key = self.user.key
        for number in range(LISTED):
            self.experiment = self.user.api.post("/experiments", {"name": f"one {number}"}, expect=201, checked=False).json()["id"]
        body = {"name": "a", "kind": "automation", "scopes": ["fleet:report"], "repo": "acme/cost"}
        self.agent = self.user.api.post("/account/api-keys", body, expect=201).json()["key"]


def measure_requests(cluster, seconds):
    experiment = json.dumps({"name": "@", "description": "What is tried, and why. " * 40, "tags": ["retrieval", "ranking"]})
    run = '{"run_id": "@", "repo": "acme/cost", ' + telemetry(4 << 10)
    search = json.dumps({"query": "long context attention with less memory", "max_results": 10})
    tenants = [Tenant(cluster) for _ in range(ACCOUNTS)]
    people, agents = [one.key for one in tenants], [one.agent for one in tenants]
    wrk_in_turn(cluster.gateway_url, [(key, "/fleet/runs") for key in agents], "POST", run, 1)
    kinds = [
        ("gateway", "GET", "/account/api-keys", None, people),
        ("svc-experiments", "GET", "/experiments/ID", None, people),
        ("svc-experiments", "GET", f"/experiments?limit={LISTED}", None, people),
        ("svc-experiments", "POST", "/experiments", experiment, people),
        ("svc-search", "POST", "/search/assets", search, people),
        ("svc-search", "GET", f"/search/assets/list?limit={LISTED}", None, people),
        ("svc-interests", "GET", "/interests", None, people),
        ("svc-fleet", "GET", f"/fleet/runs?limit={LISTED}", None, people),
        ("svc-fleet", "POST", "/fleet/runs", run, agents),
    ]
    print(f"{'request of ' + str(ACCOUNTS) + ' accounts in turn':34}{'gateway':>9}{'service':>9}{'Postgres':>9}{'Redis':>7}   CPU us each")
    for service, method, target, body, keys in kinds:
        calls = [(key, target.replace("ID", one.experiment)) for key, one in zip(keys, tenants)]
        wrk_in_turn(cluster.gateway_url, calls, method, body, 1)
        meter = Meter(cluster, service)
        report(f"{method} {target}", meter.micros(wrk_in_turn(cluster.gateway_url, calls, method, body, seconds)))
    for count in LANES:
        users = [cluster.user() for _ in range(count)]
        print(f"events that have waited, of {count} accounts: {events_per_second(cluster, users, experiment):.0f} a second have their effect in another service")
    meter = Meter(cluster, "svc-integrations")
    report("POST /github/webhooks", meter.micros(deliver(cluster, 1000)))


def events_per_second(cluster, users, body):
    """How fast svc-interests learns of the experiments that the users have made while it was away."""
    accounts = [user.account for user in users]
    cluster.stop("svc-interests")
    for user in users:
        wrk(cluster.gateway_url, user.key, "POST", "/experiments", body, WAITED_SECONDS)
    time.sleep(1)  # what wrk has left behind is made, too
    cluster.start("svc-interests")
    with cluster.postgres.connect("experiments") as made, cluster.postgres.connect("interests") as known:

        def count(db):
            return db.execute("SELECT count(*) FROM experiment WHERE account_id = ANY(%s)", [accounts]).fetchone()[0]

        first, began, events = count(known), time.monotonic(), count(made)
        wait_for(lambda: count(known) == events, f"svc-interests knows all {events} experiments")
        return (events - first) / (time.monotonic() - began)


def report(name, micros):
    if name.startswith("GET /account"):
        micros[1] = 0  # the gateway answers itself
    print(f"{name:34}{micros[0]:9.0f}{micros[1]:9.0f}{micros[2]:9.0f}{micros[3]:7.0f}")


def measure_rows(cluster, user, rows):
    """Bytes of each schema for each row, events and the readers' notes included."""
    redis = cluster.redis.client()
    body = {"description": "What is tried, and why. " * 40, "tags": ["retrieval", "ranking"]}
    before = {schema: size_of(cluster, schema) for schema in ("experiments", "interests", "fleet", "integrations")}
    memory = redis.info("memory")["used_memory"]
    for number in range(rows):
        user.api.post("/experiments", {"name": f"{number}", **body}, expect=201, checked=False)
    with cluster.postgres.connect("interests") as db:
        known = "SELECT count(*) FROM experiment WHERE account_id = %s"
        wait_for(lambda: db.execute(known, [user.account]).fetchone() == (rows,), "svc-interests knows them")
    with cluster.postgres.connect("experiments") as db:
        wait_for(lambda: db.execute("SELECT count(*) FROM outbox WHERE sent_at IS NULL").fetchone() == (0,), "all are sent")
        event = db.execute("SELECT pg_total_relation_size('outbox')::float8 / count(*) FROM outbox").fetchone()[0]
    grown = {schema: (size_of(cluster, schema) - size) / rows for schema, size in before.items()}
    stream = redis.memory_usage("events.experiments", samples=0) / redis.xlen("events.experiments")
    print(f"experiment: {grown['experiments']:.0f} bytes in its schema, {grown['interests']:.0f} in that of svc-interests; "
          f"of these a row of the outbox {event:.0f}; an entry of the stream {stream:.0f} bytes of Redis "
          f"({(redis.info('memory')['used_memory'] - memory) / rows:.0f} with all else)")
    with cluster.postgres.connect("fleet") as db:
        runs = db.execute("SELECT sum(pg_total_relation_size(c.oid))::float8 / (SELECT count(*) FROM run) FROM pg_class c "
                          "WHERE relnamespace = 'fleet'::regnamespace AND relkind = 'r' AND relname ~ '^(run|deliverable)'").fetchone()[0]
    with cluster.postgres.connect("integrations") as db:
        deliveries = db.execute("SELECT sum(pg_total_relation_size(c.oid))::float8 / (SELECT count(*) FROM delivery) FROM pg_class c "
                                "WHERE relnamespace = 'integrations'::regnamespace AND relkind = 'r' AND relname ~ '^(delivery|fact)'").fetchone()[0]
    print(f"run with a report of 4 KB: {runs:.0f} bytes; delivery of a webhook: {deliveries:.0f} bytes")


def settled(search):
    """Wait until the index has its vectors, and has not changed for some seconds; its bytes."""
    wait_for(lambda: search.metric("expops_embedder_number") > 0, "there is an embedder")
    bytes_before = None
    while (bytes_now := search.metric("expops_index_bytes")) != bytes_before:
        bytes_before = bytes_now
        time.sleep(SETTLED_SECONDS)
    return bytes_now


def measure_papers(cluster, user, path, count):
    (search,) = cluster["svc-search"]
    opened = gzip.open if path.suffix == ".gz" else open
    size = size_of(cluster, "search")
    with opened(path, "rt", encoding="utf-8") as file, tempfile.NamedTemporaryFile("w", suffix=".jsonl") as some:
        some.writelines(itertools.islice(file, count))
        some.flush()
        meter = Meter(cluster, "svc-search")
        cluster.run("svc-search", "import", some.name, timeout=3600)
    wait_for(lambda: user.api.get("/search/stats").json()["index"]["documents"] >= count, "the papers are found")
    index, micros = settled(search), meter.micros(count)
    status = Path(f"/proc/{search.popen.pid}/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) >> 10
    print(f"{count} papers: index {index / count:.0f} bytes each; svc-search {search.memory_bytes() >> 20} MiB now, {peak} MiB at most; "
          f"Postgres {(size_of(cluster, 'search') - size) / count:.0f} bytes each; CPU of import, embedder and index: "
          f"svc-search {micros[1]:.0f} us each, Postgres {micros[2]:.0f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="PAPERS")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--papers", type=int, default=20_000)
    options = parser.parse_args()
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    with Cluster() as cluster:
        user = cluster.user()
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        measure_papers(cluster, user, options.file, options.papers)
        Meter.measure_rest(cluster)
        idle = {name: rest[1] for name, rest in Meter.at_rest.items()}
        print("at rest, of a core: " + ", ".join(f"{name} {share:.2%}" for name, share in idle.items())
              + f", Postgres {Meter.at_rest['gateway'][2]:.2%}, Redis {Meter.at_rest['gateway'][3]:.2%}")
        measure_requests(cluster, options.seconds)
        measure_rows(cluster, cluster.user(), options.rows)
        print(f"load average {os.getloadavg()[0]:.1f}; memory at rest: "
              + ", ".join(f"{name} {cluster[name][0].memory_bytes() >> 20} MiB" for name in cluster.processes))


if __name__ == "__main__":
    main()
