#!/usr/bin/python3
"""Memory of each process at its start, at rest and after requests, and what connections and requests add to the gateway and a service.

usage: memory.py [--rest SECONDS] [--connections N] [--requests N]

One replica of each process with one worker. RSS counts the pages of shared libraries in every process, PSS shares them out; private
are those that only this process has. Connections to the gateway have each made one request and are kept. Requests are all sent
before the first answer is read.
"""

import argparse
import http
import re
import resource
import socket
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import SETTINGS, Cluster  # noqa: E402

MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$")
TARGET = "/api/v1.0/experiments"


def memory_of(process):
    """KiB of a process: RSS, PSS and private, and RSS of its own program, of libraries and of what has no file."""
    sums, part = Counter(), None
    for line in Path(f"/proc/{process.popen.pid}/smaps").read_text().splitlines():
        if mapping := MAPPING.match(line):
            path = mapping.group(1)
            part = "own" if path.endswith("/" + process.name) else "libraries" if path.startswith("/") else "data"
            continue
        name, value = line.split(":", 1)
        if name in ("Rss", "Pss", "Private_Clean", "Private_Dirty"):
            kib = int(value.split()[0])
            sums[name.partition("_")[0]] += kib
            if name == "Rss":
                sums[part] += kib
    return sums


def print_memory(cluster, when):
    print(f"{when + ', MB':20}{'RSS':>7}{'PSS':>7}{'private':>9}{'program':>9}{'libraries':>11}{'heap, stacks':>14}")
    for name, (process,) in cluster.processes.items():
        sums = memory_of(process)
        row = [sums[part] / 1024 for part in ("Rss", "Pss", "Private", "own", "libraries", "data")]
        print(f"{name:20}{row[0]:7.1f}{row[1]:7.1f}{row[2]:9.1f}{row[3]:9.1f}{row[4]:11.1f}{row[5]:14.1f}")


def peak_kib(process):
    return int(Path(f"/proc/{process.popen.pid}/status").read_text().split("VmHWM:")[1].split()[0])


def forget_peak(process):
    Path(f"/proc/{process.popen.pid}/clear_refs").write_text("5")


def private_kib(processes):
    return [memory_of(process)["Private"] for process in processes]


class Connections:
    """Connections to the gateway, all from this program."""

    def __init__(self, cluster, key, count):
        self.request = f"GET {TARGET} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
        address = ("127.0.0.1", cluster["gateway"][0].port)
        self.sockets = [socket.create_connection(address) for _ in range(count)]

    def send(self):
        for one in self.sockets:
            one.sendall(self.request)

    def receive(self):
        """Read the answers; the statuses with their numbers."""
        statuses = Counter()
        for one in self.sockets:
            with one.makefile("rb") as answer:
                statuses[http.HTTPStatus(int(answer.readline().split()[1]))] += 1
                length = next(int(line[15:]) for line in iter(answer.readline, b"\r\n") if line.lower().startswith(b"content-length:"))
                answer.read(length)
        return statuses

    def close(self):
        for one in self.sockets:
            one.close()


def make_one_request(cluster, key):
    """So that no page of code is counted as memory of the connections that follow."""
    connection = Connections(cluster, key, 1)
    connection.send()
    connection.receive()
    connection.close()


def measure_idle(cluster, key, count):
    make_one_request(cluster, key)
    processes = [cluster["gateway"][0], cluster["svc-experiments"][0]]
    before = private_kib(processes)
    made = []
    for _ in range(0, count, 100):
        made.append(Connections(cluster, key, 100))
        made[-1].send()
        made[-1].receive()
    after = private_kib(processes)
    print(f"{count} idle connections: gateway {(after[0] - before[0]) * 1024 / count:.0f} bytes each, "
          f"svc-experiments {(after[1] - before[1]) * 1024 / count:.0f}")
    for one in made:
        one.close()


def measure_at_once(cluster, key, count):
    processes = [cluster["gateway"][0], cluster["svc-experiments"][0]]
    connections = Connections(cluster, key, count)
    for process in processes:
        forget_peak(process)
    before = [peak_kib(process) for process in processes]
    connections.send()
    statuses = connections.receive()
    grown = [(peak_kib(process) - was) / count for process, was in zip(processes, before)]
    print(f"{count} requests at once ({', '.join(f'{number} x {status.value}' for status, number in statuses.items())}): "
          f"gateway {grown[0]:.1f} KiB each at most, svc-experiments {grown[1]:.1f}")
    connections.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rest", type=int, default=60)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=1000)
    options = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    SETTINGS.update(WORKERS="1", IDLE_TIMEOUT="1h")
    with Cluster() as cluster:
        print_memory(cluster, "at start")
        time.sleep(options.rest)
        print_memory(cluster, "at rest")
        key = cluster.user().key
        measure_idle(cluster, key, options.connections)  # first: later ones use memory that requests have left
        measure_at_once(cluster, key, options.requests)
        print_memory(cluster, "after them")


if __name__ == "__main__":
    main()
