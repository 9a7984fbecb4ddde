#!/usr/bin/python3
"""Quality of ranked papers by the weight of the preference score relative to the retrieval score
(svc-interests/ranking/final_score.h).

usage: ranking_quality.py [USERS [DATA_DIRECTORY]]

The index contains the papers of citeulike-a-sub. Three papers of each user's library, or half of it, are known likes. An
interest is created from the first of them, all of them are recorded as feedback, and the model is refit. The pool of the
interest without the known papers is ranked; the relevant papers are the rest of the library.
"""

import gzip
import json
import math
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import Cluster  # noqa: E402
from lib.wait import wait_for  # noqa: E402

WEIGHTS = (0, 0.25 / 0.6, 2 / 3, 1, 5 / 3)
DEPTH = 20


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def import_papers(cluster, api, papers):
    """Import papers under generated arXiv ids. Returns {paper id: arXiv id}."""
    ids = {paper["_id"]: f"1001.{n:05}" for n, paper in enumerate(papers)}
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for paper in papers:
            row = {"id": ids[paper["_id"]], "title": paper["title"] or "untitled", "abstract": paper["text"]}
            file.write(json.dumps({**row, "categories": "cs.IR", "update_date": "2020-01-01"}) + "\n")
        file.flush()
        cluster.run("svc-search", "import", file.name)
    wait_for(lambda: api.get("/search/stats").json()["index"]["documents"] == len(papers), "all papers are indexed")
    return ids


def like(db, interest, arxiv_id, paper):
    """Record that the paper was recommended and liked."""
    db.execute(
        "INSERT INTO paper (arxiv_id, asset, abstract) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        [arxiv_id, json.dumps({"title": paper["title"]}), paper["text"]],
    )
    db.execute(
        "WITH created AS (INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, "
        "relevance_score, rank, reasoning) SELECT id, account_id, %s, 1, 0, 1, '' FROM interest WHERE id = %s RETURNING id) "
        "INSERT INTO feedback (recommendation_id, signal) SELECT id, 'like' FROM created",
        [arxiv_id, interest["id"]],
    )


def trial(api, db, name, known, rest):
    """The pool as [(retrieval score, preference score times trust, is relevant)]; `known` is [(arXiv id, paper)]."""
    first = known[0][1]
    body = {"name": name, "context": f"{first['title']}. {first['text']}"}
    interest = api.post("/interests", body, expect=201).json()
    wait_for(lambda: api.get(f"/interests/{interest['id']}").json()["pool_status"] == "ready", "the pool is ready")
    for arxiv_id, paper in known:
        like(db, interest, arxiv_id, paper)
    history = f"/experiment-histories/{interest['experiment_history_id']}"
    result = api.wait_task(api.post(f"{history}/refit-preference-model", expect=202))["result"]
    scored = api.post(f"{history}/score-candidates", {"limit": 500}, expect=200).json()
    preference = {one["arxiv_id"]: one["score"] for one in scored}
    trust = max(0, 2 * (result["auc"] or 0.5) - 1)
    pool = db.execute("SELECT arxiv_id, relevance FROM pool_entry WHERE interest_id = %s", [interest["id"]]).fetchall()
    known_ids = {arxiv_id for arxiv_id, _ in known}
    return [(relevance, trust * preference.get(one, 0), one in rest) for one, relevance in pool if one not in known_ids]


def ndcg(pool, weight):
    gains = [relevant for _, _, relevant in sorted(pool, key=lambda one: -(one[0] + weight * one[1]))]
    ideal = sorted(gains, reverse=True)
    dcg, best = (sum(gain / math.log2(rank + 2) for rank, gain in enumerate(row[:DEPTH])) for row in (gains, ideal))
    return dcg / best


def main(users=120, data="../shared/data"):
    folder = Path(data) / "citeulike-a-sub"
    papers = read(folder / "corpus.jsonl.gz")
    libraries = read(folder / "users.jsonl")
    rng = random.Random(7)
    rng.shuffle(libraries)
    by_id = {paper["_id"]: paper for paper in papers}
    with Cluster() as cluster, cluster.postgres.connect("interests") as db:
        api = cluster.user().api
        ids = import_papers(cluster, api, papers)
        pools = {"3 likes": [], "half a library": []}
        for number, library in enumerate(libraries[: int(users)]):
            liked = rng.sample(library["liked"], len(library["liked"]))
            for label, count in (("3 likes", 3), ("half a library", len(liked) // 2)):
                known = [(ids[one], by_id[one]) for one in liked[:count]]
                pool = trial(api, db, f"{label} {number}", known, {ids[one] for one in liked[count:]})
                if any(relevant for _, _, relevant in pool):
                    pools[label].append(pool)
    print(f"nDCG@{DEPTH} by preference to retrieval:", *(f"{weight:.2f}" for weight in WEIGHTS))
    for label, tried in pools.items():
        means = (sum(ndcg(pool, weight) for pool in tried) / len(tried) for weight in WEIGHTS)
        print(f"{label}, {len(tried)} users:", *(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    main(*sys.argv[1:])
