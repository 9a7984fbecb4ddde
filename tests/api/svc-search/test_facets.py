"""POST /search/assets/facets, and `sort` of POST /search/assets."""

import pytest


def faults(document):
    return {fault["field"] for fault in document["errors"]}


@pytest.fixture
def papers(put, word, found):
    """Four papers on one word, and the newest of all, which only mentions it; returns the ids of the four."""
    rows = [
        {"published_at": "2021-05-01T00:00:00.000Z", "categories": ["cs.LG", "stat.ML"]},
        {"published_at": "2023-05-01T00:00:00.000Z", "categories": ["cs.LG"], "container_status": "ready"},
        {"published_at": "2022-05-01T00:00:00.000Z", "categories": ["cs.CL"]},
        {"published_at": None, "categories": ["cs.CL", "cs.LG"]},
    ]
    made = [put(title=word, abstract=f"{word} " * 8, **row)["arxiv_id"] for row in rows]
    mentions = put(title="A survey of all that there is", abstract=f"{word} " + "and much besides it, some of it also, " * 60,
                   published_at="2024-05-01T00:00:00.000Z")  # fmt: skip
    found(word, [*made, mentions["arxiv_id"]])
    return made


def facets(api, query, **members):
    answer = api.post("/search/assets/facets", {"query": query, **members}, expect=200)
    assert answer.headers["X-Search-Strategy"] in ("hybrid", "lexical")
    return answer.json()


def test_the_papers_that_match_are_counted(api, papers, word):
    counts = facets(api, word, max_results=1, sort="newest", explain=True)
    assert counts == {
        "total": 4,
        "truncated": False,
        "by_category": {"cs.LG": 3, "cs.CL": 2, "stat.ML": 1},
        "by_year": {"2021": 1, "2022": 1, "2023": 1},
        "by_container": {"with": 1, "without": 3},
        "by_source": {"arxiv": 4},
    }
    assert list(counts["by_category"]) == ["cs.LG", "cs.CL", "stat.ML"]


def test_the_filters_of_the_search(api, papers, word):
    assert facets(api, word, categories=["stat"])["by_category"] == {"cs.LG": 1, "stat.ML": 1}
    assert facets(api, word, has_container=True)["by_year"] == {"2023": 1}


def test_nothing_is_found(api):
    answer = api.post("/search/assets/facets", {"query": "qqxxyyzzqqxxyyzz"}, expect=200)
    assert answer.headers["X-Search-Hint"] == "unknown_words"
    assert answer.json()["total"] == 0 and answer.json()["by_source"] == {}


def test_the_newest_of_those_that_match_come_first(api, papers, word):
    def search(**members):
        return [hit["arxiv_id"] for hit in api.post("/search/assets", {"query": word, **members}, expect=200).json()]

    newest = [papers[1], papers[2], papers[0], papers[3]]
    assert search(sort="newest") == newest
    assert search(sort="newest", max_results=2) == newest[:2]
    assert search(sort="relevance") == search() != newest


@pytest.mark.parametrize("path", ["/search/assets", "/search/assets/facets"])
def test_invalid_members_are_named(api, path):
    assert faults(api.problem("POST", path, 400, "invalid_request", {"query": " ", "sort": "oldest"})) == {"query", "sort"}
