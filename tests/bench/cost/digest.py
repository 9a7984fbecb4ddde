#!/usr/bin/python3
"""What a digest costs: CPU time of gateway, svc-interests and Postgres for one, and digests a second.

usage: digest.py [--interests N] [--cache SIZE] [--seconds N]

The papers are those of the sample of `deploy/dev up`. The digest of one account, with three and five papers of each interest, is asked
for again and again over 32 connections by wrk, and as a client does that has it already. With a small --cache every paper is read from
Postgres each time, as on the first digest of a morning. One replica of each process. Needs wrk and binaries of a release build.
"""

import argparse
import os
import sys
from pathlib import Path

from cost import Meter, wrk

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.scenario.sample import load_sample  # noqa: E402
from lib.system.cluster import SETTINGS, Cluster  # noqa: E402
from lib.wait import wait_for  # noqa: E402

PATH = "/papers/recommended/digest"
PAPERS = (3, 5)


def make_interests(api, papers, count):
    """Each of the abstract of a paper; they have their recommendations."""
    for number, paper in enumerate(list(papers.values())[:count]):
        body = {"name": f"Interest {number}", "context": paper["abstract"][:600], "daily_count": max(PAPERS)}
        api.post("/interests", body, expect=201, checked=False)
    wait_for(lambda: api.get(PATH).json()["total"] >= min(PAPERS) * count, "all have recommendations", patience=600)


def measure(cluster, api, what, target, seconds, tag=None):
    wrk(cluster.gateway_url, api.key, "GET", target, None, 1, tag)
    meter = Meter(cluster, "svc-interests")
    count = wrk(cluster.gateway_url, api.key, "GET", target, None, seconds, tag)
    gateway, service, postgres, _ = meter.micros(count)
    print(f"{what}: {gateway + service + postgres:.0f} us of CPU (gateway {gateway:.0f}, svc-interests {service:.0f}, Postgres {postgres:.0f}), "
          f"{count / seconds:.0f} a second", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interests", type=int, default=11)
    parser.add_argument("--cache", help="RECOMMENDED_PAPER_CACHE")
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    SETTINGS.update({"RECOMMENDED_PAPER_CACHE": options.cache} if options.cache else {})
    with Cluster() as cluster:
        api = cluster.user().api
        make_interests(api, load_sample(cluster), options.interests)
        Meter.measure_rest(cluster)
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for limit in PAPERS:
            target = f"{PATH}?limit={limit}"
            answer = api.get(target, expect=200)
            what = f"{options.interests} interests, {answer.json()['total']} papers, {len(answer.content) >> 10} KB"
            measure(cluster, api, what, target, options.seconds)
        measure(cluster, api, "known already", PATH, options.seconds, tag=api.get(PATH).headers["ETag"])


if __name__ == "__main__":
    main()
