"""The sample papers of deploy/sample."""

import json

from lib.system.servers import ROOT
from lib.wait import wait_for

PAPERS = ROOT / "deploy" / "sample" / "papers.jsonl"


def load_sample(cluster):
    """Import the sample papers, and wait until all papers of the cluster are indexed and there is a built-in embedder, which in a
    cluster without others was trained with them. Returns {arXiv id: paper}."""
    cluster.run("svc-search", "import", PAPERS)
    lines = PAPERS.read_text(encoding="utf-8").splitlines()
    loaded = {paper["id"]: paper for paper in map(json.loads, lines)}
    api = cluster.user().api

    def indexed():
        stats = api.get("/search/stats", expect=200).json()
        is_whole = stats["index"]["documents"] == stats["total_assets"] >= len(loaded)
        return is_whole and stats["index"]["embedder"]

    wait_for(indexed, "the sample is indexed and has vectors")
    return loaded
