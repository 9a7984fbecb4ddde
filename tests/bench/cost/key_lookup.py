#!/usr/bin/python3
"""Instructions that the gateway spends on a proxied request with a key that it knows, and more on one whose key it looks up first.

usage: key_lookup.py [--requests N] [--keys N] [--gateway PROGRAM]

Counted by callgrind in all threads of a gateway with one worker. Each number is the difference between two runs, of which one makes twice
as many requests, so start and end do not count; what the process does by time is little beside 1,000 requests. PROGRAM is the gateway of
another build, such as one from before accounts had members; the services are those of this one. Needs valgrind.
"""

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.append(str(Path(__file__).resolve().parents[2]))

from lib.http.client import Api  # noqa: E402
from lib.system.cluster import Cluster  # noqa: E402

TARGET = "/api/v1.0/experiments?limit=1"
KEYS_OF_ACCOUNT = 150
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)


def new_keys(cluster, count):
    found = []
    while len(found) < count:
        user = cluster.user()
        api = Api(user.api.url, user.key, False)  # another gateway may answer in another form
        for number in range(min(KEYS_OF_ACCOUNT, count - len(found))):
            found.append(api.post("/account/api-keys", {"name": f"key {number}"}, expect=201).json()["key"])
    return found


class OtherGateway(Cluster):
    def __init__(self, program):
        self.program = program
        super().__init__()

    def binary(self, name):
        return self.program if name == "gateway" and self.program else super().binary(name)

    def insert_person(self, account):
        """Where accounts have no members, keys are the owner's."""
        with self.postgres.connect("account") as db:
            if db.execute("SELECT to_regclass('account.person')").fetchone()[0]:
                super().insert_person(account)


class Counted:
    """A gateway under callgrind."""

    def __init__(self, cluster, folder, label):
        self.out = Path(folder) / label
        self.process = cluster.separate("gateway", label, WORKERS="1", LOG_LEVEL="info", RATE_LIMIT="0")
        wrapper = Path(folder) / f"{label}.sh"
        wrapper.write_text(f"#!/bin/sh\nexec valgrind --tool=callgrind --callgrind-out-file={self.out} {self.process.binary} \"$@\"\n")
        wrapper.chmod(0o755)
        self.process.binary = str(wrapper)

    def instructions(self, requests):
        """All that it executes from its start to its end while it answers requests: [(key, times)]."""
        self.process.start()
        while True:
            try:
                if httpx.get(f"{self.process.admin_url}/readyz", timeout=30).status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            time.sleep(0.5)
        with httpx.Client(base_url=self.process.url, timeout=300) as client:
            for key, times in requests:
                for _ in range(times):
                    answer = client.get(TARGET, headers={"Authorization": f"Bearer {key}"})
                    assert answer.status_code == 200, answer.text
        self.process.popen.terminate()
        self.process.popen.wait(600)
        return int(TOTAL.findall(self.out.read_text())[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--keys", type=int, default=300)
    parser.add_argument("--gateway", type=Path)
    args = parser.parse_args()
    with OtherGateway(args.gateway) as cluster, tempfile.TemporaryDirectory() as folder:
        keys = new_keys(cluster, 2 * args.keys)
        count = lambda label, requests: Counted(cluster, folder, label).instructions(requests)  # noqa: E731
        once, twice = (count(f"known-{n}", [(keys[0], n * args.requests)]) for n in (1, 2))
        known = (twice - once) / args.requests
        few, many = (count(f"new-{n}", [(key, 1) for key in keys[: n * args.keys]]) for n in (1, 2))
        looked_up = (many - few) / args.keys
        print(f"a proxied request: {known:,.0f} instructions; with a key that is looked up: {looked_up:,.0f}, {looked_up - known:,.0f} more")


if __name__ == "__main__":
    main()
