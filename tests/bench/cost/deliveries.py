#!/usr/bin/python3
"""Messages to webhooks: deliveries a second, CPU time of each and time to the receiver, beside BullMQ and undici.

usage: deliveries.py [--endpoints N [--dead]] [--rate N] [--seconds N] [--limit SECONDS]

Events are written into a stream at the rate; each is for one of the endpoints, 20 of an account. Without --endpoints this is done for
1, 100 and 10,000 endpoints, a cluster for each, which takes some minutes; one endpoint gets its messages one after the other, so it has a
tenth of the rate. With --dead, every second endpoint refuses connections: its messages are attempted too, but not counted. What has not
come some seconds after the last event, which --limit says, is told. BullMQ's jobs are added at the same rate as those of 100 endpoints, and
each signs the same body and posts it by undici. The receiver is one Node process for both. Needs npm, which installs BullMQ and undici in
tests/bench/cost/bullmq.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from jobs import npm_install

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of_process  # noqa: E402

FOLDER = Path(__file__).with_name("bullmq")
HOST = "127.0.0.2"
PER_ACCOUNT = 20
BODY = {"run_id": "r" * 36, "repo": "", "status": "succeeded", "url": "/console/?run=r"}


@dataclass
class Load:
    """How many endpoints, whether every second of them is dead, and events a second."""

    endpoints: int
    is_dead: bool
    rate: int

    def __str__(self):
        return f"{self.endpoints:,} endpoint{'s' * (self.endpoints > 1)}{', half dead' * self.is_dead}"


class Receiver:
    """receiver.mjs: counts what comes, and tells after how many milliseconds since the event."""

    def __init__(self):
        command = ["node", FOLDER / "receiver.mjs", HOST]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://{HOST}:{int(self.process.stdout.readline())}/"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.communicate()

    def ask(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def wait(self, count, limit):
        """The times of what has come; until there are so many, or the limit in seconds is over."""
        end = time.monotonic() + limit
        while self.ask("count") < count and time.monotonic() < end:
            time.sleep(0.1)
        return sorted(self.ask("times"))


def make_endpoints(cluster, load, url):
    """[account of each endpoint]; endpoint n wants messages of the repository bench/n."""

    def make(first):
        user = cluster.user()
        for number in range(first, min(first + PER_ACCOUNT, load.endpoints)):
            address = f"http://{HOST}:1025/" if load.is_dead and number % 2 else url
            user.api.post("/webhooks", {"kind": "webhook", "url": address, "events": ["*"], "repos": [f"bench/{number}"]}, expect=201)
        return user.account

    cluster.user()  # the first is made by a command, which the others copy
    with ThreadPoolExecutor(4) as pool:
        accounts = list(pool.map(make, range(0, load.endpoints, PER_ACCOUNT)))
    return [accounts[number // PER_ACCOUNT] for number in range(load.endpoints)]


def entry(account, number):
    data = {**BODY, "repo": f"bench/{number}"}
    at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    message = json.dumps({"type": "run.finished", "data": data})
    return {"id": str(uuid.uuid4()), "type": "message", "account": account, "at": at, "data": message}


def at_rate(rate, seconds, write):
    """Call write(first, last) for each hundredth of a second's share."""
    step = max(rate // 100, 1)
    begun = time.monotonic()
    for first in range(0, rate * seconds, step):
        write(first, first + step)
        time.sleep(max(0, begun + (first + step) / rate - time.monotonic()))


def run_expops(cluster, accounts, rate, seconds):
    """Write the events. Returns the CPU time of svc-integrations since."""
    redis, count, pid = cluster.redis.client(), len(accounts), cluster["svc-integrations"][0].popen.pid
    before = cpu_of_process(pid)

    def write(first, last):
        with redis.pipeline() as pipe:
            for n in range(first, last):
                pipe.xadd("events.runs", entry(accounts[n % count], n % count))
            pipe.execute()

    at_rate(rate, seconds, write)
    return lambda: cpu_of_process(pid) - before


def run_bullmq(cluster, url, rate, seconds):
    env = {**os.environ, "REDIS_URL": cluster.redis.url()}
    command = ["node", FOLDER / "deliveries.mjs", url, str(rate), str(seconds)]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    return lambda: json.loads(process.communicate()[0])["cpu"]


def report(name, wanted, seconds, times, own, rest):
    came = len(times)
    if not came:
        print(f"{name:32} nothing came", flush=True)
        return
    print(f"{name:32} {came / seconds:6.0f} deliveries/s  CPU us a delivery: {own / came * 1e6:5.0f} own, {rest / came * 1e6:5.0f} Postgres and "
          f"Redis  to the receiver: p50 {statistics.median(times):6.0f} ms  p99 {times[came * 99 // 100]:6.0f} ms"
          f"{f'  {wanted - came} of {wanted} did not come' if came < wanted else ''}", flush=True)


def measure(name, cluster, receiver, run, wanted, limit):
    """`run` begins the work, and returns what its CPU time is then."""
    receiver.ask("reset")
    postgres, redis = PostgresTime(cluster.postgres), cpu_of_process(cluster.redis.pid())
    before, begun = postgres.seconds(), time.monotonic()
    used = run()
    times = receiver.wait(wanted, limit)
    seconds = time.monotonic() - begun
    report(name, wanted, seconds, times, used(), postgres.seconds() - before + cpu_of_process(cluster.redis.pid()) - redis)


def measure_load(load, arguments):
    seconds, total = arguments.seconds, load.rate * arguments.seconds
    with Cluster(1) as cluster, Receiver() as receiver:
        accounts = make_endpoints(cluster, load, receiver.url)
        wanted = sum(n % load.endpoints % 2 == 0 for n in range(total)) if load.is_dead else total
        measure(f"expops, {load}", cluster, receiver, lambda: run_expops(cluster, accounts, load.rate, seconds), wanted, arguments.limit)
        if load.endpoints == 100 and not load.is_dead:
            measure("BullMQ and undici", cluster, receiver, lambda: run_bullmq(cluster, receiver.url, load.rate, seconds), total,
                    seconds + arguments.limit)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--endpoints", type=int)
    parser.add_argument("--dead", action="store_true")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--limit", type=int, default=60)
    arguments = parser.parse_args()
    rate = arguments.rate
    loads = [Load(1, False, rate // 10), Load(100, False, rate), Load(100, True, rate), Load(10_000, True, rate)]
    if arguments.endpoints:
        loads = [Load(arguments.endpoints, arguments.dead, rate)]
    npm_install(FOLDER)
    print(f"load average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    for load in loads:
        measure_load(load, arguments)


if __name__ == "__main__":
    sys.exit(main())
