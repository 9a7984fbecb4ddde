#!/usr/bin/python3
"""Quality of what is recommended for new interests: precision of the first ten papers, and how well their scores tell fitting
papers from others.

usage: interest_quality.py RUN [DATA_DIRECTORY]

Measures the run in the file RUN, a line of JSON for each recommended paper. If there is no such file, makes it first: imports the
papers of arxiv-cs, creates the interests of interests/interests.jsonl and refreshes each of them for ten papers.

interests/judgments.tsv has a line for each pair of an interest and a paper that somebody has judged by its title and abstract:
interest, paper, grade and reason. The grades are
    on        the paper is on the subject that the interest describes
    related   it is of use to the reader, but on another subject: a wider one, or the same method for something else
    no        neither; or it is about what the interest refuses
Pairs of the run that are not judged are printed as such lines, with "?" and the title. Until they are judged, precision counts them
as "no", and the figures of scores leave them out. Interests of the set "kept out" are for checking: no constant of the ranking may
be chosen by them.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

from preference_api import area_under_curve
from ranking_quality import read

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import Cluster  # noqa: E402
from lib.wait import wait_for  # noqa: E402

FOLDER = Path(__file__).parent / "interests"
GRADES = ("on", "related", "no")
DEPTH = 10
LONG_SECONDS = 1800


def recommend(api, row):
    """The papers recommended for a new interest, as lines of the run."""
    interest = api.post("/interests", {"name": row["name"], "context": row["context"]}, expect=201).json()
    path = f"/interests/{interest['id']}"
    wait_for(lambda: api.get(path).json()["pool_status"] == "ready", "the pool is ready")
    body = {"interest_id": interest["id"], "num_results": DEPTH}
    api.wait_task(api.post("/papers/recommended/refresh", body, expect=202))
    query = {"interest_id": interest["id"], "limit": DEPTH}
    papers = api.get("/papers/recommended", params=query, expect=200).json()
    api.delete(path, expect=200)
    members = ("resource_id", "rank", "relevance_score", "title", "abstract", "reasoning")
    return [{"interest": row["interest"], **{member: paper[member] for member in members}} for paper in papers]


def make_run(interests, data):
    corpus = Path(data) / "arxiv-cs" / "corpus.jsonl.gz"
    count = len(read(corpus))
    with Cluster() as cluster:
        api = cluster.user().api
        search = cluster["svc-search"][0]
        search.stop()  # an embedder that is trained during the import knows a part of the papers only
        cluster.run("svc-search", "import", corpus, timeout=LONG_SECONDS)
        search.start()
        search.wait_ready()

        def is_indexed():
            index = api.get("/search/stats", expect=200).json()["index"]
            return index["documents"] == count and index["embedder"]

        wait_for(is_indexed, "all papers are indexed and embedded", patience=LONG_SECONDS)
        return [line for row in interests for line in recommend(api, row)]


def read_judgments():
    with open(FOLDER / "judgments.tsv", encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(interest, paper): grade for interest, paper, grade, _ in rows}


def report(interests, run, judgments):
    shown = {row["interest"]: [line for line in run if line["interest"] == row["interest"]] for row in interests}
    counts = {name: Counter(judgments.get((name, line["resource_id"])) for line in lines) for name, lines in shown.items()}
    print(f"{'interest':24}{'shown':>6}{'on':>6}{'related':>8}{'P@10':>7}{'first':>7}{'last':>6}  kind")
    for row in interests:
        lines, count = shown[row["interest"]], counts[row["interest"]]
        scores = [line["relevance_score"] for line in lines] or [0]
        cells = (row["interest"], len(lines), count["on"], count["related"], count["on"] / DEPTH, scores[0], scores[-1])
        print("{:24}{:6}{:6}{:8}{:7.1f}{:7.2f}{:6.2f}".format(*cells), f" {row['kind']}, {row['set']}")
    # An interest that the corpus has nothing for has no precision.
    for sets in (["tuning"], ["kept out"], ["tuning", "kept out"]):
        names = [row["interest"] for row in interests if row["set"] in sets and not row.get("is_absent")]
        on, related = (sum(counts[name][grade] for name in names) / len(names) / DEPTH for grade in ("on", "related"))
        label = " and ".join(sets)
        print(f"{label}, {len(names)} interests: precision at 10 {on:.3f}, with related papers {on + related:.3f}")


def report_scores(run, judgments):
    graded = [(line["relevance_score"], judgments.get((line["interest"], line["resource_id"]))) for line in run]
    for grade in GRADES:
        scores = [score for score, given in graded if given == grade]
        mean = sum(scores) / max(1, len(scores))
        print(f"{grade:8} {len(scores):4} papers, mean score {mean:.3f}")
    for label, wanted in (("on from the others", GRADES[:1]), ("on and related from no", GRADES[:2])):
        scores = {number: score for number, (score, given) in enumerate(graded) if given}
        fitting = {number for number in scores if graded[number][1] in wanted}
        if 0 < len(fitting) < len(scores):
            print(f"AUC of the score, {label}: {area_under_curve(scores, fitting):.3f}")


def main(path, data="../shared/data"):
    interests = read(FOLDER / "interests.jsonl")
    if not Path(path).exists():
        run = make_run(interests, data)
        Path(path).write_text("".join(json.dumps(line) + "\n" for line in run), encoding="utf-8")
    run, judgments = read(Path(path)), read_judgments()
    for line in run:
        if (line["interest"], line["resource_id"]) not in judgments:
            print(line["interest"], line["resource_id"], "?", line["title"], sep="\t")
    report(interests, run, judgments)
    report_scores(run, judgments)


if __name__ == "__main__":
    main(*sys.argv[1:])
