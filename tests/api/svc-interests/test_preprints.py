"""Papers of bioRxiv and medRxiv are recommended, liked and planned as those of arXiv are."""

import itertools

import pytest

from lib.tables import search as search_tables
from lib.wait import wait_for

numbers = itertools.count(1)
CONTEXT = "Genome-wide CRISPR interference screens in human intestinal organoids, and which genes they find to control stem cells."


PAPERS = {
    "biorxiv": (
        "Genome-wide CRISPR interference screens find regulators of intestinal stem cells",
        "We screen all genes by CRISPR interference in human intestinal organoids. Regulators of stem cells are confirmed in mice.",
    ),
    "medrxiv": (
        "Organoids of patients with hereditary polyposis, and their response to treatment",
        "Organoids were grown from biopsies of forty patients. CRISPR repair of the gene that controls stem cells restored growth.",
    ),
}


def found_by(api, text):
    return [hit["arxiv_id"] for hit in api.post("/search/assets", {"query": text}, expect=200).json()]


@pytest.fixture
def preprints(cluster, papers, operator):
    """{source: id} of new papers about the context, which are withdrawn after the test."""
    made = {}
    for source, (title, abstract) in PAPERS.items():
        made[source] = f"{source}:10.1101/2026.11.20.{next(numbers):06}"
        body = {"title": title, "abstract": abstract, "categories": [f"{source}.cell_biology"], "published_at": "2026-11-20T00:00:00Z"}
        operator.api.put(f"/search/assets/{made[source]}", body, expect=200)
        is_found = lambda text=title, paper=made[source]: paper in found_by(operator.api, text)  # noqa: E731
        wait_for(is_found, "the paper is found")
    yield made
    with cluster.postgres.connect("search") as search:
        search_tables.withdraw(search, list(made.values()))


def recommended(interests, interest):
    interests.refresh(interest, num_results=10)
    return {one["resource_id"]: one for one in interests.recommended(interest)}


def test_a_preprint_is_recommended_liked_and_planned(api, interests, preprints):
    interest = interests.ready(context=CONTEXT)
    found = recommended(interests, interest)
    assert set(preprints.values()) <= set(found)
    one = found[preprints["medrxiv"]]
    assert (one["source_type"], one["resource"]["source"]) == ("medrxiv_paper", "medrxiv")
    assert one["url"] == "https://doi.org/" + preprints["medrxiv"].split(":")[1]
    assert interests.feedback(one, "like")["signal"] == "like"
    assert interests.refit(interest)["status"] == "completed"
    digest = api.get("/papers/recommended/digest", params={"source_type": "biorxiv_paper", "limit": 10}, expect=200).json()
    (shown,) = [row for row in digest["interests"] if row["id"] == interest["id"]]
    assert {row["resource_id"] for row in shown["recommendations"]} == {preprints["biorxiv"]}
    body = {"name": "Screen", "source_type": "medrxiv_paper", "source_ref": preprints["medrxiv"], "status": "running"}
    api.post("/experiments", body, expect=201)
    wait_for(lambda: "Screen (running)" in interests.get(interest)["experiment_history"], "the experiment is part of the history")


@pytest.mark.parametrize("sources", [["biorxiv"], ["biorxiv", "medrxiv"]])
def test_an_interest_is_limited_to_sources(api, interests, preprints, sources):
    interest = interests.ready(context=CONTEXT, sources=sources)
    assert (interest["sources"], interest["pool_size"]) == (sources, len(sources))
    assert set(recommended(interests, interest)) == {preprints[source] for source in sources}
    changed = api.put(f"/interests/{interest['id']}", {"sources": None}, expect=200).json()
    assert (changed["sources"], changed["pool_invalidated"]) == (None, len(sources))
    assert interests.wait_pool(interest)["pool_size"] > len(preprints)


@pytest.mark.parametrize("sources", [[], ["nature"], ["arxiv", 5], "arxiv"])
def test_sources_are_checked(api, sources):
    document = api.post("/interests", {"name": "x", "context": "y", "sources": sources}, expect=400).json()
    assert {one["field"] for one in document["errors"]} == {"sources"}
