#!/usr/bin/python3
"""A rolling restart of everything under load: each process is ended by SIGTERM and started again, one replica at a time, while clients
with keep-alive connections read, write and claim. No request may fail. Then a replica of each service is killed with -9: only requests
that are on it may fail, and after it is back both get their share within five seconds.

usage: rolling.py [--requests N] [--clients N] [--no-kill]

Two replicas of each process run. The gateways are chosen by readiness, as a Kubernetes Service does. Rolls go on until so many
requests were made. Exits with 1 when a promise was broken.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.check import promises  # noqa: E402
from lib.http.load import Load  # noqa: E402
from lib.system.named_cluster import NamedCluster  # noqa: E402
from lib.system.servers import ROOT  # noqa: E402

PROBE_SECONDS = 1        # between two looks at the readiness of the gateways; DRAIN_DELAY is longer
UNEVEN_BOUND_SECONDS = 5
SHARE_MIN = 0.3          # of two replicas that are used evenly
SAMPLE_SECONDS = 0.5
SAMPLE_REQUESTS = 20     # fewer tell nothing
KILLED = ["svc-search", "svc-experiments", "svc-interests"]


def restart(process):
    process.restart()
    process.wait_ready()


def roll(cluster, load):
    """Restart each process once; prints what it took."""
    for name, replicas in cluster.processes.items():
        before, failed, began = load.total, len(load.failures), time.monotonic()
        for process in replicas:
            restart(process)
        print(f"  {name}: {time.monotonic() - began:.1f} s, {load.total - before} requests, {len(load.failures) - failed} failed", flush=True)


def requests_of(process):
    return process.metric("expops_http_requests_total")


def seconds_until_even(replicas):
    """Seconds from now until the last sample in which one of two replicas had less than its share."""
    began, uneven = time.monotonic(), 0.0
    counts = [requests_of(process) for process in replicas]
    while time.monotonic() - began < 2 * UNEVEN_BOUND_SECONDS:
        time.sleep(SAMPLE_SECONDS)  # the length of a sample
        now = [requests_of(process) for process in replicas]
        made = [after - before for before, after in zip(counts, now)]
        if sum(made) >= SAMPLE_REQUESTS:
            uneven = time.monotonic() - began if min(made) / sum(made) < SHARE_MIN else uneven
            counts = now
    return uneven


def kill(cluster, load, name):
    """Kill a replica and start it again. Returns the promises that were broken."""
    killed = cluster[name][0]
    failed, began, total = len(load.failures), time.monotonic(), load.total
    killed.kill9()
    ended = time.monotonic()
    load.go_on(500)
    killed.start()
    killed.wait_ready()
    seconds = seconds_until_even(cluster[name])
    failures = load.failures[failed:]
    outcomes = Counter(failure.outcome.split(" ")[0] for failure in failures)
    print(f"  {name}: {load.total - total} requests, {len(failures)} failed {dict(outcomes)}, even {seconds:.1f} s after it was ready", flush=True)
    for failure in failures:
        if failure.at > ended + 1:
            yield f"a request that began {failure.at - ended:.1f} s after the end of {name} failed: {failure}"
        if failure.at + failure.seconds < began:
            yield f"a request failed before {name} was killed: {failure}"
    if seconds > UNEVEN_BOUND_SECONDS:
        yield f"the load of {name} was uneven for {seconds:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=50000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--no-kill", action="store_true")
    arguments = parser.parse_args()
    broken = []
    with NamedCluster(DRAIN_DELAY="5s", DRAIN_DELAY_MAX="15s") as cluster:
        cluster.run("svc-search", "import", ROOT / "deploy" / "sample" / "papers.jsonl")
        with Load(cluster.user(), cluster["gateway"], arguments.clients, PROBE_SECONDS) as load:
            began = time.monotonic()
            while load.total < arguments.requests:
                print("rolling restart:", flush=True)
                roll(cluster, load)
            failures, total, seconds = load.failures, load.total, time.monotonic() - began
            broken += [f"a request failed: {failure}" for failure in failures]
            print(f"{total} requests in {seconds:.0f} s, {len(failures)} failed")
            if not arguments.no_kill:
                print("killed with -9:", flush=True)
                for name in KILLED:
                    broken += kill(cluster, load, name)
        took = load.seconds()
        median, high = (1000 * took[len(took) * share // 1000] for share in (500, 999))
        print(f"latency: median {median:.0f} ms, 99.9 % {high:.0f} ms, longest {1000 * took[-1]:.0f} ms")
        broken += load.broken()
        broken += cluster.check()
    return promises.report(broken)


if __name__ == "__main__":
    sys.exit(main())
