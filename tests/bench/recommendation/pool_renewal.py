#!/usr/bin/python3
"""How pools that are renewed with each night's papers (svc-interests/pool/pool.h) differ from those of a search of all papers each night.

usage: pool_renewal.py [--corpus FILE] [--interests N] [--days N]

The papers are those of a corpus such as ../shared/data/arxiv-cs; its last days are the nights. Three accounts have the same interests,
each of the title and the first sentences of a paper: all papers are searched for the first account's each night, for the second's once in
seven nights, in turns, and for the third's never again. After some nights it prints, of the second and the third beside the first: the
part of the pools, of their best 50, of what the night brought to them, and of the papers recommended that night, that is the same, the
greatest difference of relevances in the best 50, and the mean score of what was recommended.
"""

import argparse
import itertools
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / "cost"), str(Path(__file__).resolve().parents[2])]

from daily import CONTEXT_CHARACTERS, CORPUS, SETTINGS, import_papers, is_idle, read_papers, run_day  # noqa: E402

from lib.system.cluster import Cluster  # noqa: E402
from lib.wait import wait_for  # noqa: E402

WEEK = 7
BEST = 50
SHOWN = (1, 2, 7, 14, 21, 30)
TODAY = "(now() AT TIME ZONE 'UTC')::date"
NAMES = ("once a week", "never again")


def nights_of(papers, days):
    """The papers before, and those of each of the last days."""
    by_day = [list(group) for _, group in itertools.groupby(papers, key=lambda paper: paper["update_date"])]
    return [paper for group in by_day[:-days] for paper in group], by_day[-days:]


def make_interests(users, papers, count):
    """[[interest of each user]]"""
    made = []
    for number in range(count):
        paper = papers[number * len(papers) // count]
        body = {"name": paper["title"][:180], "context": paper["abstract"][:CONTEXT_CHARACTERS]}
        made.append([user.api.post("/interests", body, expect=201).json()["id"] for user in users])
    return made


def set_whole(db, interest, is_due):
    db.execute(f"UPDATE pool_search SET whole_on = {TODAY} + %s WHERE interest_id = %s", [-WEEK if is_due else 1, interest])


def set_turns(db, interests, night):
    for number, (each, weekly, never) in enumerate(interests):
        set_whole(db, each, True)
        set_whole(db, weekly, number % WEEK == night % WEEK)
        set_whole(db, never, False)


def pool_of(db, interest):
    rows = db.execute("SELECT e.arxiv_id, e.relevance FROM interest i JOIN pool_entry e ON e.interest_id = i.id"
                      " AND e.pool_version = i.pool_version WHERE i.id = %s ORDER BY e.relevance DESC, e.arxiv_id", [interest])
    return dict(rows.fetchall())


def recommended(db, interest, since):
    rows = db.execute("SELECT arxiv_id, relevance_score FROM recommendation WHERE interest_id = %s AND recommended_at > %s", [interest, since])
    return dict(rows.fetchall())


def share(some, of):
    """How much of the second is in the first."""
    return [len(set(some) & set(of)) / len(of)] if of else []


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


class Difference:
    """Of one interest, or many, beside those for which all papers are searched."""

    def __init__(self):
        self.pool, self.best, self.night, self.picks, self.gaps, self.scores = [], [], [], [], [], []

    def add(self, pool, whole, picks, picks_of_whole, night):
        best = list(whole)[:BEST]
        self.pool += share(pool, whole)
        self.best += share(list(pool)[:BEST], best)
        self.night += share(pool, set(whole) & night)
        self.picks += share(picks, picks_of_whole)
        self.gaps += [max((abs(pool[paper] - whole[paper]) for paper in best if paper in pool), default=0)]
        self.scores += picks.values()

    def report(self, name):
        print(f"  {name}: pool {mean(self.pool):.4f}, best {BEST} {mean(self.best):.4f}, of the night {mean(self.night):.4f}, "
              f"recommended {mean(self.picks):.4f}, relevance {max(self.gaps):.3f}, score {mean(self.scores):.4f}", flush=True)


def compare(db, interests, night, since):
    differences = [Difference() for _ in NAMES]
    whole_scores = []
    for each, *others in interests:
        whole, picks = pool_of(db, each), recommended(db, each, since)
        whole_scores += picks.values()
        for difference, other in zip(differences, others, strict=True):
            difference.add(pool_of(db, other), whole, recommended(db, other, since), picks, night)
    for name, difference in zip(NAMES, differences, strict=True):
        difference.report(name)
    print(f"  each night: score {mean(whole_scores):.4f}", flush=True)


def measure(cluster, options):
    first, nights = nights_of(read_papers(options.corpus), options.days)
    users = [cluster.user() for _ in range(1 + len(NAMES))]
    known = len(first)
    import_papers(cluster, users[0].api, first, known)
    with cluster.postgres.connect("interests") as db:
        db.autocommit = True
        wait_for(lambda: db.execute("SELECT FROM daily_run WHERE next_account IS NULL").rowcount, "the run without interests is made")
        interests = make_interests(users, first, options.interests)
        ready = "SELECT count(*) FROM interest WHERE pool_status <> 'ready'"
        wait_for(lambda: db.execute(ready).fetchone() == (0,) and is_idle(db), "all pools are ready", patience=600)
        for number, papers in enumerate(nights):
            known += len(papers)
            import_papers(cluster, users[0].api, papers, known)
            set_turns(db, interests, number)
            (since,) = db.execute("SELECT clock_timestamp()").fetchone()
            run_day(db)
            if number + 1 in SHOWN or number + 1 == len(nights):
                print(f"night {number + 1}, {len(papers)} papers of {known}:", flush=True)
                compare(db, interests, {paper["id"] for paper in papers}, since)
        print("searches:", *(line for line in cluster["svc-interests"][0].metrics().splitlines() if line.startswith("expops_pool_searches")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--interests", type=int, default=50)
    parser.add_argument("--days", type=int, default=30)
    options = parser.parse_args()
    SETTINGS.update(DAILY_CHECK="200ms", ACTIVE_INTERESTS_MAX="1000", INTERESTS_MAX="1000")
    with Cluster() as cluster:
        measure(cluster, options)


if __name__ == "__main__":
    main()
