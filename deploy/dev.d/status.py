"""The state of a cluster on one screen: replicas, queues, streams, dead letters.

usage: status.py [--prometheus URL] [NAME=HOST[:PORT]...]

NAME=HOST:PORT   the admin listener of a process, by default port 9090; all addresses of a host name are replicas
--prometheus     ask a Prometheus that scrapes the cluster with deploy/prometheus instead
Exit status: 0; 1 when a replica does not answer or is not ready, or Prometheus knows none of a process.
"""

import argparse
import json
import os
import re
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from terminal import shown

TIMEOUT_SECONDS = 5
SAMPLE = re.compile(r'^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$')
PROCESSES = Path(__file__).resolve().parents[1] / "processes"
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
WANTED = re.compile(
    r"expops_(ready|proxy_requests_total|http_requests_total|jobs_queued|jobs_running|outbox_unsent|outbox_oldest_seconds"
    r"|events_lag_seconds|events_parked|dead_letters|harvest_(last_success_seconds|missed_announcements|added_papers|next_seconds))|process_(start_time_seconds|resident_memory_bytes)"
)


class Replica:
    """One process: {(metric, a label's value or None): value}, summed over the other labels; or why there is none."""

    def __init__(self, service, address):
        self.service, self.address = service, address
        self.values = defaultdict(float)
        self.fault = None

    def add(self, name, labels, value):
        what = f"{labels['source']} {labels['set']}" if "set" in labels else None
        self.values[name, next((labels[one] for one in ("status", "stream", "type") if one in labels), what)] += value

    def of(self, name):
        """{label value: value}"""
        return {label: value for (known, label), value in self.values.items() if known == name}

    def total(self, name):
        return sum(self.of(name).values())

    @property
    def is_ready(self):
        return self.fault is None and self.total("expops_ready") == 1


# --- Reading ----------------------------------------------------------------------------------------------------------------------


def get(url):
    """The status and the text of an answer; without the proxies of the environment."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode(errors="replace")


def why_unready(address):
    document = json.loads(get(f"http://{address}/readyz")[1])
    return "; ".join([*document["reasons"], *document["faults"]])


def ask_replica(service, address):
    replica = Replica(service, address)
    try:
        for line in get(f"http://{address}/metrics")[1].splitlines():
            sample = SAMPLE.match(line)
            if sample and WANTED.fullmatch(sample["name"]):
                replica.add(sample["name"], dict(LABEL.findall(sample["labels"] or "")), float(sample["value"]))
        if not replica.is_ready:
            replica.fault = why_unready(address)
    except (OSError, ValueError, KeyError) as error:
        replica.fault = f"does not answer: {getattr(error, 'reason', error)}"
    return replica


def addresses_of(target):
    """[(NAME, host:port)] of NAME=HOST[:PORT]."""
    name, _, place = target.partition("=")
    host, _, port = place.partition(":")
    try:
        found = socket.getaddrinfo(host, int(port or 9090), socket.AF_INET, socket.SOCK_STREAM)
    except socket.gaierror:
        return [(name, f"{host}:{port or 9090}")]
    return sorted({(name, f"{address[0]}:{address[1]}") for *_, address in found})


def ask_replicas(targets):
    found = [one for target in targets for one in addresses_of(target)]
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda one: ask_replica(*one), found))


def expected_services():
    return re.findall(r"^([a-z][a-z-]*) ", PROCESSES.read_text(), re.M)


def ask_prometheus(url):
    query = urllib.parse.quote('{job="expops",__name__=~"' + WANTED.pattern + '|up"}')
    status, text = get(f"{url.rstrip('/')}/api/v1/query?query={query}")
    if status != 200:
        sys.exit(shown(f"{url} answered {status}: {text[:200]}"))
    replicas = {}
    for one in json.loads(text)["data"]["result"]:
        labels = one["metric"]
        name, key = labels.pop("__name__"), (labels.get("service", "?"), labels["instance"])
        replica = replicas.setdefault(key, Replica(*key))
        if name == "up":
            replica.fault = None if one["value"][1] == "1" else "does not answer Prometheus"
            continue
        replica.add(name, labels, float(one["value"][1]))
    for replica in replicas.values():
        if not replica.fault and not replica.is_ready:
            replica.fault = "is not ready"
    return sorted(replicas.values(), key=lambda one: (one.service, one.address))


# --- Printing ---------------------------------------------------------------------------------------------------------------------


def duration(seconds):
    for unit, name, smaller, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if seconds >= unit:
            return f"{seconds // unit:.0f} {name} {seconds % unit // smaller:.0f} {small}"
    return f"{seconds:.1f} s"


def table(heads, rows, texts=1):
    """The first columns are texts, the others numbers."""
    rows = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        cells = [cell.ljust(width) if i < texts else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


HEADS = ["PROCESS", "READY", "UP FOR", "MEMORY", "REQUESTS", "5XX", "QUEUED", "RUNNING", "UNSENT", "OLDEST", "DEAD TASKS", "DEAD EVENTS"]


def row_of(service, replicas):
    """What all replicas measure of the same thing, such as the queue, is the largest."""
    alive = [one for one in replicas if one.values]
    if not alive:
        return [service, f"0/{len(replicas)}", *["-"] * (len(HEADS) - 2)]
    most = lambda name: max((one.total(name) for one in alive), default=0)  # noqa: E731
    counter = "expops_proxy_requests_total" if service == "gateway" else "expops_http_requests_total"
    dead = {kind: max((one.of("expops_dead_letters").get(kind, 0) for one in alive), default=0) for kind in ("task", "event")}
    starts = [one.total("process_start_time_seconds") for one in alive]
    return [
        service,
        f"{sum(one.is_ready for one in replicas)}/{len(replicas)}",
        duration(time.time() - max(starts)),
        f"{most('process_resident_memory_bytes') / 1e6:.0f} MB",
        f"{sum(one.total(counter) for one in alive):.0f}",
        f"{sum(one.of(counter).get('5xx', 0) for one in alive):.0f}",
        f"{most('expops_jobs_queued'):.0f}",
        f"{sum(one.total('expops_jobs_running') for one in alive):.0f}",
        f"{most('expops_outbox_unsent'):.0f}",
        duration(most("expops_outbox_oldest_seconds")),
        f"{dead['task']:.0f}",
        f"{dead['event']:.0f}",
    ]


def stream_rows(services):
    rows = []
    for service, replicas in services.items():
        streams = sorted({stream for one in replicas for stream in one.of("expops_events_lag_seconds")})
        for stream in streams:
            largest = [max(one.of(f"expops_events_{what}").get(stream, 0) for one in replicas) for what in ("lag_seconds", "parked")]
            rows.append([stream, service, duration(largest[0]), f"{largest[1]:.0f}"])
    return sorted(rows)


def harvest_lines(replicas, now):
    """What came of each set of papers that is harvested, which all replicas of svc-search know from Postgres:
    `arxiv cs: 612 new last night, next 22:30 New York`."""
    largest = lambda what, name: max(one.of(f"expops_harvest_{what}").get(name, 0) for one in replicas)  # noqa: E731
    lines = []
    for name in sorted({name for one in replicas for name in one.of("expops_harvest_last_success_seconds")}):
        read, missed = now - largest("last_success_seconds", name), largest("missed_announcements", name)
        zone, place = ("America/New_York", "New York") if name.startswith("arxiv ") else ("UTC", "UTC")
        due = datetime.fromtimestamp(largest("next_seconds", name), ZoneInfo(zone))
        line = f"{name}: {largest('added_papers', name):.0f} new "
        line += "last night" if read < 86400 else f"{duration(read)} ago"
        line += f", next {due:%H:%M} {place}"
        lines.append(line + (f", {missed:.0f} announcements missed" if missed else ""))
    return lines


def show(replicas, expected):
    """`expected`: services that have to have a replica."""
    services = defaultdict(list)
    for one in replicas:
        services[one.service].append(one)
    absent = [service for service in expected if service not in services]
    table(HEADS, [row_of(service, services.get(service, [])) for service in [*services, *absent]])
    rows = stream_rows(services)
    if rows:
        print()
        table(["STREAM", "READ BY", "BEHIND", "PARKED"], rows, texts=2)
    papers = harvest_lines(replicas, time.time())
    if papers:
        print()
        print(*map(shown, papers), sep="\n")
    faults = [f"{one.service} {one.address}: {one.fault}" for one in replicas if one.fault]
    faults += [f"{service}: Prometheus knows no replica" for service in absent]
    dead = [f"{service} has dead letters: {service} dead list" for service, ones in services.items() if any(one.total("expops_dead_letters") for one in ones)]
    if faults or dead:
        print("\nLook at:", *map(shown, faults + dead), sep="\n  ")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--prometheus")
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    if bool(arguments.prometheus) == bool(arguments.targets):
        parser.error("give either --prometheus or addresses")
    try:
        replicas = ask_prometheus(arguments.prometheus) if arguments.prometheus else ask_replicas(arguments.targets)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(shown(f"{arguments.prometheus} cannot be asked: {error}"))
    if not replicas:
        sys.exit("there are no replicas")
    return show(replicas, expected_services() if arguments.prometheus else [])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # of `status | head`, which has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
