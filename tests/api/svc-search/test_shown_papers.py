"""Searches show papers from memory, as the index knows them."""

import time

from lib.http import plain_http
from lib.http.identity import identity
from lib.wait import wait_for


def shown(process):
    """How many papers the process has shown from memory, and from Postgres."""
    rows = dict(line.rsplit(" ", 1) for line in process.metrics().splitlines() if not line.startswith("#"))
    return [int(float(rows.get(f'expops_search_papers_shown_total{{source="{source}"}}', 0))) for source in ("memory", "postgres")]


def has_kept(process):
    """Whether it has read all that it keeps: a hundred papers come every tenth of a second."""
    before = process.metric("expops_search_papers_kept_bytes")
    time.sleep(3)
    return process.metric("expops_search_papers_kept_bytes") == before > 0


def search(cluster, process, query):
    answer = plain_http.post(process.url + "/api/v1.0/search/assets", json={"query": query}, auth=identity(cluster, "svc-search"))
    answer.raise_for_status()
    return answer.json()


def test_a_paper_is_shown_from_memory_also_the_first_time(cluster, put, word, found):
    stored = put(title=f"The {word}", authors=["Ada Lovelace"])
    found(word, [stored["arxiv_id"]])
    process = cluster.separate("svc-search", "fresh")
    process.start()
    try:
        process.wait_ready()
        wait_for(lambda: has_kept(process), "papers are kept")
        (hit,) = [hit for hit in search(cluster, process, word) if hit["highlights"]]
        assert {**stored, **hit} == {**hit, **stored}
        memory, postgres = shown(process)
        assert memory > 0 and postgres == 0
    finally:
        process.stop()


def test_a_changed_paper_is_shown_as_it_is_now(api, operator, put, word, found):
    stored = put(title=f"The {word}", comments="first")
    found(word, [stored["arxiv_id"]])
    for number in range(3):
        title = f"The {word}{chr(97 + number)}"
        operator.api.put(f"/search/assets/{stored['arxiv_id']}", {"title": title, "comments": f"version {number}"}, expect=200)
        found(title.split()[1], [stored["arxiv_id"]])
        hit = api.post("/search/assets", {"query": title}, expect=200).json()[0]
        assert (hit["title"], hit["comments"]) == (title, f"version {number}")


def test_a_paper_that_others_have_shown_is_not_read_again(cluster, api, put, word, found):
    stored = put(title=f"The {word}")
    found(word, [stored["arxiv_id"]])
    before = [sum(counts) for counts in zip(*map(shown, cluster["svc-search"]))]
    hits = api.post("/search/assets", {"query": word, "max_results": 1}, expect=200).json()
    after = [sum(counts) for counts in zip(*map(shown, cluster["svc-search"]))]
    assert len(hits) == 1
    assert after == [before[0] + 1, before[1]]
