#!/usr/bin/python3
"""The daily run: what the refresh of all interests costs on the first day and on later ones.

usage: daily.py [--corpus FILE] [--papers N] [--interests N] [--days N] [--night N] [--accounts N] [--whole] [--feedback N]

The papers are those of a corpus such as ../shared/data/arxiv-cs, in the order of their days; of more than it has, all are made of its
sentences as in search_speed.py. All but the last nights are there when
the interests are made, each of the title and the first sentences of a paper; every night brings --night more. A day is over when
every task of its run has ended. Pools are renewed with the papers of the night, as on six of seven days; with --whole all papers are
searched for each of them, as on the seventh. With --feedback each interest has that many of its first papers liked and half as many
dismissed, and its model fitted, before the first night. One replica of each process, Postgres with fsync. CPU time is that of the processes and of the
servers, from /proc, for each interest; WAL is what Postgres wrote. Meanwhile a user searches ten times a second
through the gateway: p99, and that of a quiet half minute before each day, so that both are of the same time. The CPU time of a search of
the quiet cluster, with what the processes use at rest until the next, is subtracted for each search during a day. At the end the digest of the first account, which has --interests
divided by --accounts interests, is asked for again and again, eleven of them. Needs wrk and binaries of a release
build.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import tempfile
import time
from datetime import date, datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path

import httpx

from cost import PREFIX, Meter, settled, wrk
from fleet import percentile

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1] / "search")]

import search_speed  # noqa: E402
from lib.system import servers  # noqa: E402
from lib.system.cluster import SETTINGS, Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of, cpu_of_process  # noqa: E402
from lib.wait import wait_for  # noqa: E402

CORPUS = servers.ROOT.parent / "shared" / "data" / "arxiv-cs" / "corpus.jsonl.gz"
MEASURED = ("gateway", "svc-interests", "svc-search")
CONTEXT_CHARACTERS = 600
SEARCH_PAUSE = 0.1
FIRST_DAY = date(2015, 1, 1)
QUIET_SECONDS = 30
CLIENT_NICE = -10  # a user has a processor of their own
DIGEST = "/papers/recommended/digest?limit_interests=11"
DIGEST_SECONDS = 5
PATIENCE = 3600
TASKS = "SELECT count(*) FROM task WHERE kind LIKE 'recommendations_refresh%' AND status IN ('pending', 'running')"


def arxiv_time(day):
    return format_datetime(datetime.fromisoformat(day).replace(tzinfo=timezone.utc), usegmt=True)


def read_papers(path):
    """The papers of a corpus, the oldest first, as `svc-search import` takes them."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = sorted(map(json.loads, file), key=lambda row: (row["published_at"], row["_id"]))
    return [{"id": row["_id"], "title": row["title"], "abstract": row["text"], "categories": " ".join(row["categories"]),
             "authors": ", ".join(row["authors"]), "update_date": row["published_at"],
             "versions": [{"version": "v1", "created": arxiv_time(row["published_at"])}]} for row in rows]


def make_papers(data, count):
    """So many papers made by search_speed.py, the oldest first."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        search_speed.make_papers(search_speed.load(data), count, file.name)
        rows = sorted((line.rstrip("\n").split("\t") for line in file), key=lambda row: (int(row[4]), row[0]))
    days = [(FIRST_DAY + timedelta(days=number)).isoformat() for number in range(search_speed.DAYS)]
    return [{"id": paper_id, "title": title, "abstract": abstract, "categories": categories, "authors": "A. Author",
             "update_date": days[int(day)], "versions": [{"version": "v1", "created": arxiv_time(days[int(day)])}]}
            for paper_id, title, abstract, categories, day in rows]


def import_papers(cluster, api, papers, total):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(paper) + "\n" for paper in papers)
        file.flush()
        cluster.run("svc-search", "import", file.name, timeout=PATIENCE)
    wait_for(lambda: api.get("/search/stats").json()["index"]["documents"] >= total, "the papers are found", patience=PATIENCE)
    settled(cluster["svc-search"][0])


def search_until(connection, url, key, queries):
    """Search again and again until something arrives; send the times in ms."""
    times = []
    os.setpriority(os.PRIO_PROCESS, 0, CLIENT_NICE)
    with httpx.Client(base_url=url + PREFIX, headers={"Authorization": f"Bearer {key}"}) as http:
        while not connection.poll(SEARCH_PAUSE):
            began = time.perf_counter()
            http.post("/search/assets", json={"query": queries[len(times) % len(queries)]}).raise_for_status()
            times.append((time.perf_counter() - began) * 1000)
    connection.send(times)


class Searches:
    """A user who searches again and again, a process of its own; the times in ms."""

    def __init__(self, cluster, key, papers):
        processes = multiprocessing.get_context("spawn")
        self.connection, other = processes.Pipe()
        queries = [paper["title"][:200] for paper in papers]
        self.process = processes.Process(target=search_until, args=(other, cluster.gateway_url, key, queries))
        self.times = []

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *error):
        self.connection.send("over")
        self.times = self.connection.recv()
        self.process.join()


def summary(times):
    return f"p50 {percentile(times, 0.5):.1f}, p99 {percentile(times, 0.99):.1f} ms of {len(times)}" if times else "none"


class Usage:
    """CPU time, WAL and wall time since it was made."""

    def __init__(self, cluster, db):
        self.cluster, self.db, self.postgres = cluster, db, PostgresTime(cluster.postgres)
        self.own = db.info.backend_pid  # which asks again and again whether the day is over
        self.before = self.now()

    def now(self):
        (lsn,) = self.db.execute("SELECT pg_current_wal_lsn() - '0/0'").fetchone()
        cpu = {name: cpu_of(self.cluster, name) for name in MEASURED}
        cpu |= {"Postgres": self.postgres.seconds() - cpu_of_process(self.own), "Redis": cpu_of_process(self.cluster.redis.pid())}
        return {**cpu, "wall": time.monotonic(), "wal": float(lsn)}

    def used(self):
        return {key: value - self.before[key] for key, value in self.now().items()}

    def report(self, name, interests, other):
        """`other`: the CPU time that is not of the run."""
        used = {key: value - other.get(key, 0) for key, value in self.used().items()}
        wall, wal = used.pop("wall"), used.pop("wal")
        parts = ", ".join(f"{part} {seconds / interests * 1000:.1f}" for part, seconds in used.items())
        memory = ", ".join(f"{part} {self.cluster[part][0].memory_bytes() >> 20}" for part in MEASURED[1:])
        print(f"{name}: {sum(used.values()) / interests * 1000:.1f} ms of CPU an interest ({parts}), WAL {wal / interests / 1024:.1f} KB, "
              f"{wall:.0f} s, MiB: {memory}", flush=True)


def make_interests(users, papers, count):
    for number in range(count):
        paper = papers[number * len(papers) // count]
        body = {"name": f"{paper['title'][:180]} {number}", "context": paper["abstract"][:CONTEXT_CHARACTERS]}
        users[number % len(users)].api.post("/interests", body, expect=201, checked=False)


def give_feedback(db, users, likes):
    """Have more papers recommended for each interest, like the first ones, dismiss the next, and fit the models."""
    for user in users:
        for interest in user.api.get("/interests", params={"limit": 100}, checked=False).json():
            user.api.post("/papers/recommended/refresh", {"interest_id": interest["id"], "num_results": 2 * likes}, expect=202, checked=False)
    wait_for(lambda: is_idle(db), "papers are recommended", patience=PATIENCE)
    for user in users:
        for interest in user.api.get("/interests", params={"limit": 100}, checked=False).json():
            shown = user.api.get("/papers/recommended", params={"interest_id": interest["id"], "limit": 100}, checked=False).json()
            for number, one in enumerate(shown[: likes * 3 // 2]):
                signal = {"signal": "like" if number < likes else "dismiss"}
                user.api.post(f"/papers/recommended/{one['recommendation_id']}/feedback", signal, expect=200, checked=False)
            user.api.post(f"/experiment-histories/{interest['experiment_history_id']}/refit-preference-model", expect=202, checked=False)
    fits = "SELECT count(*) FROM task WHERE kind = 'preference_model_refit' AND status IN ('pending', 'running')"
    wait_for(lambda: db.execute(fits).fetchone() == (0,), "models are fitted", patience=PATIENCE)


def measure_digest(cluster, api):
    """CPU time of a digest by process; requests a second are those of this machine, with the client on it."""
    answer = api.get(DIGEST)
    print(f"digest of {len(answer.json()['interests'])} interests, {answer.json()['total']} papers, {len(answer.content) >> 10} KB:", flush=True)
    meter = Meter(cluster, "svc-interests")
    count = wrk(cluster.gateway_url, api.key, "GET", DIGEST, None, DIGEST_SECONDS)
    gateway, service, postgres, _ = (micros / 1000 for micros in meter.micros(count))
    print(f"  {gateway + service + postgres:.2f} ms of CPU (gateway {gateway:.2f}, svc-interests {service:.2f}, Postgres {postgres:.2f}), "
          f"{count / DIGEST_SECONDS:.0f} requests a second", flush=True)


def is_idle(db):
    return db.execute(TASKS).fetchone() == (0,)


def run_day(db):
    """Make the run of the day due, and wait until it is over."""
    db.execute("DELETE FROM daily_run")
    wait_for(lambda: db.execute("SELECT count(*) FROM daily_run WHERE next_account IS NULL").fetchone()[0] > 0, "all accounts have their tasks")
    wait_for(lambda: is_idle(db), "the run is over", patience=PATIENCE)


def measure(cluster, options):
    wanted = options.papers + options.days * options.night
    papers = read_papers(options.corpus)
    papers = papers[-wanted:] if wanted <= len(papers) else make_papers(options.corpus.parents[1], wanted)
    first, nights = papers[: -options.days * options.night], papers[-options.days * options.night :]
    users = [cluster.user() for _ in range(options.accounts)]
    api = users[0].api
    import_papers(cluster, api, first, len(first))
    with cluster.postgres.connect("interests") as db:
        db.autocommit = True
        wait_for(lambda: db.execute("SELECT count(*) FROM daily_run WHERE next_account IS NULL").fetchone()[0] > 0, "the run without interests is made")
        made = Usage(cluster, db)
        make_interests(users, first, options.interests)
        ready = "SELECT count(*) FROM interest WHERE pool_status <> 'ready'"
        wait_for(lambda: db.execute(ready).fetchone() == (0,) and is_idle(db), "all pools are ready", patience=PATIENCE)
        made.report("made", options.interests, {})
        if options.feedback:
            give_feedback(db, users, options.feedback)
        quiet, meanwhile = [], []
        for day in range(options.days):
            known = len(first) + (day + 1) * options.night
            import_papers(cluster, api, nights[day * options.night : (day + 1) * options.night], known)
            resting = Usage(cluster, db)
            with Searches(cluster, api.key, first[:500]) as before:
                time.sleep(QUIET_SECONDS)
            search = {key: value / len(before.times) for key, value in resting.used().items() if key not in ("wall", "wal")}
            quiet += before.times
            if options.whole:
                db.execute("UPDATE pool_search SET whole_on = whole_on - 7")
            used = Usage(cluster, db)
            with Searches(cluster, api.key, first[:500]) as searches:
                run_day(db)
            searched = {key: value * len(searches.times) for key, value in search.items()}
            used.report(f"day {day + 1}", options.interests, searched)
            print(f"  searches in quiet: {summary(before.times)}; meanwhile: {summary(searches.times)}", flush=True)
            meanwhile += searches.times
        ratio = percentile(meanwhile, 0.99) / percentile(quiet, 0.99)
        print(f"searches in quiet: {summary(quiet)}; in all days: {summary(meanwhile)}, {ratio:.2f} of the p99 in quiet", flush=True)
        measure_digest(cluster, api)
        recommended = db.execute("SELECT count(*) FROM recommendation").fetchone()[0]
        (size,) = db.execute("SELECT pg_database_size(current_database()) >> 20").fetchone()
        print(f"{recommended} recommendations; the database has {size} MiB; load average {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--papers", type=int, default=39_000)
    parser.add_argument("--interests", type=int, default=1000)
    parser.add_argument("--accounts", type=int, default=10)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--night", type=int, default=100, help="papers that a night brings")
    parser.add_argument("--whole", action="store_true", help="search all papers for each interest")
    parser.add_argument("--feedback", type=int, default=0, help="papers of each interest that are liked")
    options = parser.parse_args()
    SETTINGS.update(DAILY_CHECK="200ms", ACTIVE_INTERESTS_MAX="1000", INTERESTS_MAX="1000")
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    with Cluster() as cluster:
        measure(cluster, options)


if __name__ == "__main__":
    main()
