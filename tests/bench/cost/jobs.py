#!/usr/bin/python3
"""Asynchronous work: jobs a second, CPU time of each, and how long an idle process takes to start one, beside BullMQ.

usage: jobs.py JOBS_RUNNER [--jobs N] [--rounds N]

Each job commits a row to Postgres, with fsync; both sides use the same Postgres and Redis, 12 connections, and are measured in
turn. Tasks are queued before the clock starts. Here a task's state is in Postgres and is committed with the job's row, and jobs
that end at about the same time share a commit; BullMQ keeps the state in Redis, and each job commits alone. Needs npm, which
installs BullMQ in tests/bench/cost/bullmq.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system import servers  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of_process  # noqa: E402

FOLDER = Path(__file__).with_name("bullmq")
CONCURRENCIES = (4, 50)
LATENCY_JOBS = 200


def npm_install(folder):
    if not (folder / "node_modules").exists():
        subprocess.run(["npm", "install", "--no-save", "--no-package-lock", "--ignore-scripts", "--silent"], cwd=folder, check=True)


class Bench:
    def __init__(self, base, runner):
        self.base = base
        self.commands = {"expops": [runner], "BullMQ": ["node", FOLDER / "jobs.mjs"]}

    def empty(self):
        with self.base.postgres.connect() as db:
            db.execute("DROP SCHEMA IF EXISTS bench CASCADE; DROP TABLE IF EXISTS done; "
                       "CREATE TABLE done (id uuid PRIMARY KEY, number int NOT NULL)")
            db.execute("CHECKPOINT")
        self.base.redis.client().flushall()

    def run(self, name, jobs, how):
        """What the program prints."""
        self.empty()
        env = {**os.environ, "DATABASE_URL": self.base.postgres.url(), "REDIS_URL": self.base.redis.url()}
        out = subprocess.run([*self.commands[name], str(jobs), str(how)], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(out)

    def throughput(self, jobs, concurrency, rounds):
        samples = {name: [] for name in self.commands}
        for _ in range(rounds):
            for name in self.commands:
                postgres, redis = PostgresTime(self.base.postgres), cpu_of_process(self.base.redis.pid())
                before = postgres.seconds()
                result = self.run(name, jobs, concurrency)
                used = postgres.seconds() - before + cpu_of_process(self.base.redis.pid()) - redis
                samples[name].append((jobs / result["seconds"], result["cpu"] / jobs * 1e6, used / jobs * 1e6))
        medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in samples.items()}
        for name, (rate, own, rest) in medians.items():
            print(f"concurrency {concurrency:2}  {name:8} {rate:7.0f} jobs/s  CPU us a job: {own:5.0f} own, {rest:5.0f} Postgres and Redis, queueing "
                  f"included  {rate / medians['BullMQ'][0]:5.2f} x")

    def latency(self, rounds):
        for name in self.commands:
            ms = sorted(one for _ in range(rounds) for one in self.run(name, LATENCY_JOBS, "latency")["ms"])
            print(f"idle, queued to start  {name:8} p50 {statistics.median(ms):.2f} ms  p99 {ms[len(ms) * 99 // 100]:.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runner", type=Path)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    npm_install(FOLDER)
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    with servers.Servers() as base:
        print(f"load average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        bench = Bench(base, arguments.runner)
        for concurrency in CONCURRENCIES:
            bench.throughput(arguments.jobs, concurrency, arguments.rounds)
        bench.latency(arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())
