#!/usr/bin/python3
"""Messages to webhooks: deliveries a second, CPU time of each and time to the receiver, beside BullMQ and undici.

usage: deliveries.py [--endpoints N] [--rate N] [--seconds N] [--dead]

Events are written into a stream at the rate; each is for one of the endpoints, 20 of an account. BullMQ's jobs are added at the same
rate, and each signs the same body and posts it by undici. The receiver is one Node process for both. With --dead, every second
endpoint refuses connections. Needs npm, which installs BullMQ and undici in tests/bench/cost/bullmq.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import uuid
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


class Receiver:
    """receiver.mjs: counts what comes, and tells after how many milliseconds since the event."""

    def __init__(self):
        command = ["node", FOLDER / "receiver.mjs", HOST]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def ask(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def wait(self, count):
        while self.ask("count") < count:
            time.sleep(0.1)
        return sorted(self.ask("times"))


def make_endpoints(cluster, count, url, is_dead):
    """[account of each endpoint]; endpoint n wants messages of the repository bench/n."""
    accounts = []
    for number in range(count):
        if number % PER_ACCOUNT == 0:
            user = cluster.user()
        dead = is_dead and number % 2
        address = f"http://{HOST}:1025/" if dead else url
        user.api.post("/webhooks", {"kind": "webhook", "url": address, "events": ["*"], "repos": [f"bench/{number}"]}, expect=201)
        accounts.append(user.account)
    return accounts


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


def run_expops(cluster, accounts, arguments):
    redis, count = cluster.redis.client(), len(accounts)

    def write(first, last):
        with redis.pipeline() as pipe:
            for n in range(first, last):
                pipe.xadd("events.runs", entry(accounts[n % count], n % count))
            pipe.execute()

    at_rate(arguments.rate, arguments.seconds, write)


def report(name, wanted, seconds, times, own, rest):
    print(f"{name:18} {wanted / seconds:6.0f} deliveries/s  CPU us a delivery: {own / wanted * 1e6:5.0f} own, "
          f"{rest / wanted * 1e6:5.0f} Postgres and Redis  to the receiver: p50 {statistics.median(times):6.0f} ms  p99 {times[len(times) * 99 // 100]:6.0f} ms")


def measure(name, cluster, receiver, run, wanted, pid):
    receiver.ask("reset")
    postgres, redis = PostgresTime(cluster.postgres), cpu_of_process(cluster.redis.pid())
    own = cpu_of_process(pid) if pid else 0
    before, begun = postgres.seconds(), time.monotonic()
    used = run()
    times = receiver.wait(wanted)
    seconds = time.monotonic() - begun
    own = cpu_of_process(pid) - own if pid else used()
    report(name, wanted, seconds, times, own, postgres.seconds() - before + cpu_of_process(cluster.redis.pid()) - redis)


def run_bullmq(cluster, receiver, arguments):
    env = {**os.environ, "REDIS_URL": cluster.redis.url()}
    command = ["node", FOLDER / "deliveries.mjs", f"http://{HOST}:{receiver.port}/", str(arguments.rate), str(arguments.seconds)]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    return lambda: json.loads(process.communicate()[0])["cpu"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--endpoints", type=int, default=100)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--dead", action="store_true")
    arguments = parser.parse_args()
    npm_install(FOLDER)
    with Cluster(1) as cluster:
        print(f"load average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        receiver, total = Receiver(), arguments.rate * arguments.seconds
        accounts = make_endpoints(cluster, arguments.endpoints, f"http://{HOST}:{receiver.port}/", arguments.dead)
        wanted = total // 2 if arguments.dead else total
        pid = cluster["svc-integrations"][0].popen.pid
        measure("expops", cluster, receiver, lambda: run_expops(cluster, accounts, arguments), wanted, pid)
        measure("BullMQ and undici", cluster, receiver, lambda: run_bullmq(cluster, receiver, arguments), total, None)


if __name__ == "__main__":
    sys.exit(main())
