#!/usr/bin/python3
"""The preference model as users of the API meet it, beside the model alone (preference_quality.c): AUC and Recall@50 on
citeulike-a-sub, before and after a refit.

usage: preference_api.py PREFERENCE_QUALITY [STRIDE [DATA_DIRECTORY]]

PREFERENCE_QUALITY is that program. Every STRIDE-th user is measured, with the same known papers in both. The index contains the
papers of the collection. An interest is created from the first known paper, its name from the title, its context from the
abstract. All other papers are scored by score-candidates, then the known ones are recorded as liked, the model is refit, and they
are scored again. The model alone gets the vectors that svc-search gave.
"""

import base64
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from ranking_quality import import_papers, like, read

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import Cluster  # noqa: E402
from lib.wait import wait_for  # noqa: E402

COLLECTION = "citeulike-a-sub"
SETTINGS = {"3 likes": lambda count: 3, "half a library": lambda count: count // 2}
DEPTH = 50
BATCH = 500
BITS = (1 << 64) - 1


def shuffled(items, seed):
    """As shuffle() of citeulike.c: xorshift64* (Vigna, 2016)."""
    items = list(items)
    state = (seed * 0x9E3779B97F4A7C15 + 1) & BITS
    for count in range(len(items), 1, -1):
        state ^= state >> 12
        state ^= state << 25 & BITS
        state ^= state >> 27
        other = (state * 0x2545F4914F6CDD1D & BITS) % count
        items[count - 1], items[other] = items[other], items[count - 1]
    return items


def area_under_curve(scores, relevant):
    """Of scores {paper: score}. Ties count half."""
    order = sorted(scores, key=lambda one: scores[one])
    rank_sum, start = 0, 0
    while start < len(order):
        end = start
        while end < len(order) and scores[order[end]] == scores[order[start]]:
            end += 1
        rank_sum += sum(one in relevant for one in order[start:end]) * (start + end + 1) / 2
        start = end
    wanted, others = len(relevant), len(order) - len(relevant)
    return (rank_sum - wanted * (wanted + 1) / 2) / (wanted * others)


def measure(scores, relevant):
    """(AUC, Recall@50) of scores {paper: score}. Ties count as found."""
    limit = sorted(scores.values())[-DEPTH]
    return area_under_curve(scores, relevant), sum(scores[one] >= limit for one in relevant) / len(relevant)


def score(api, history, papers):
    scores = {}
    for start in range(0, len(papers), BATCH):
        body = {"candidates": papers[start : start + BATCH]}
        for one in api.post(f"{history}/score-candidates", body, expect=200).json():
            scores[one["arxiv_id"]] = one["score"]
    return scores


def trial(api, db, name, papers, known, rest):
    """[(AUC, Recall@50)] before and after a refit to `known`, [(arXiv id, paper)]."""
    text = known[0][1]
    body = {"name": name, "context": text["text"] or text["title"]}
    interest = api.post("/interests", body, expect=201).json()
    path = f"/interests/{interest['id']}"
    wait_for(lambda: api.get(path).json()["pool_status"] == "ready", "the pool is ready")
    history = f"/experiment-histories/{interest['experiment_history_id']}"
    known_ids = {one for one, _ in known}
    others = [one for one in papers if one not in known_ids]
    results = [measure(score(api, history, others), rest)]
    for arxiv_id, paper in known:
        like(db, interest, arxiv_id, paper)
    api.wait_task(api.post(f"{history}/refit-preference-model", expect=202))
    results.append(measure(score(api, history, others), rest))
    api.delete(path, expect=200)
    return results


def write_vectors(db, ids, papers, path):
    """The vectors of the papers as the model alone reads them."""
    stored = db.execute("SELECT v.arxiv_id, v.vector, v.scale FROM paper_vector v JOIN (SELECT embedder FROM interest) i "
                        "USING (embedder)").fetchall()
    vectors = {one: [byte * scale for byte in struct.unpack(f"{len(data)}b", data)]
               for one, packed, scale in stored for data in [base64.b64decode(packed)]}
    length = max(map(len, vectors.values()))
    with path.open("wb") as out:
        for paper in papers:
            out.write(struct.pack(f"={length}f", *vectors.get(ids[paper["_id"]], [0] * length)))


def store_vectors(api, db, ids):
    """Let svc-interests read the vectors of all papers: by an interest that has signals for all."""
    interest = api.post("/interests", {"name": "All", "context": "all"}, expect=201).json()
    wait_for(lambda: api.get(f"/interests/{interest['id']}").json()["pool_status"] == "ready", "the pool is ready")
    for one in ids.values():
        like(db, interest, one, {"title": one, "text": ""})
    api.wait_task(api.post(f"/experiment-histories/{interest['experiment_history_id']}/refit-preference-model", expect=202))


def main(program, stride="1", data="../shared/data"):
    folder = Path(data) / COLLECTION
    papers, libraries = read(folder / "corpus.jsonl.gz"), read(folder / "users.jsonl")
    by_id = {paper["_id"]: paper for paper in papers}
    results = {label: [] for label in SETTINGS}
    with Cluster() as cluster, cluster.postgres.connect("interests") as db, tempfile.TemporaryDirectory() as dense:
        api = cluster.user().api
        ids = import_papers(cluster, api, papers)
        wait_for(lambda: api.get("/search/stats").json()["index"]["embedder"], "the embedder is trained")
        for number in range(0, len(libraries), int(stride)):
            order = shuffled(libraries[number]["liked"], number + 1)
            for label, count in SETTINGS.items():
                split = count(len(order))
                known = [(ids[one], by_id[one]) for one in order[:split]]
                rest = {ids[one] for one in order[split:]}
                name = f"{known[0][1]['title']}"[:200] or "untitled"
                results[label].append(trial(api, db, name, list(ids.values()), known, rest))
        store_vectors(api, db, ids)
        write_vectors(db, ids, papers, Path(dense) / f"{COLLECTION}.f32")
        alone = subprocess.run([program, data, stride, dense], stdout=subprocess.PIPE, text=True, check=False).stdout
    for label, measured in results.items():
        print(f"{COLLECTION}, {label}, {len(measured)} users, through the API")
        for stage, row in zip(("before the refit", "after the refit"), zip(*measured)):
            means = (sum(column) / len(measured) for column in zip(*row))
            print("  {:24} AUC {:.3f}  Recall@50 {:.3f}".format(stage, *means))
    print(alone)


if __name__ == "__main__":
    main(*sys.argv[1:])
