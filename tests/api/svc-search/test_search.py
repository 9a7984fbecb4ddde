"""POST /search/assets, and the internal routes for other services."""

from datetime import date, timedelta

import pytest

from lib.scenario.words import new_word
from lib.wait import wait_for


def faults(document):
    return {fault["field"] for fault in document["errors"]}


def hits(api, query, **members):
    return api.post("/search/assets", {"query": query, **members}, expect=200).json()


def matching(api, query, **members):
    """The hits that contain a word of the query, without those that are only similar in meaning."""
    return [hit for hit in hits(api, query, **members) if hit["highlights"]]


def test_a_hit_has_the_asset_a_score_and_highlights(api, put, word, found):
    stored = put(title=f"On {word} & <b>more</b>", abstract=f"The {word}s of things. The rest.", categories=["cs.LG"])
    found(word, [stored["arxiv_id"]])
    (hit,) = matching(api, word)
    asset = {name: stored[name] for name in hit if name not in ("relevance_score", "highlights")}
    assert {name: hit[name] for name in asset} == asset
    assert 0 < hit["relevance_score"] <= 1
    marked = {fragment["field"]: fragment["text"] for fragment in hit["highlights"]}
    assert marked == {
        "title": f"On <em>{word}</em> &amp; &lt;b&gt;more&lt;/b&gt;",
        "abstract": f"The <em>{word}s</em> of things. The rest.",
    }


def test_a_long_abstract_is_whole(api, put, word, found):
    abstract = ("Every sentence of this abstract has some forty characters. " * 20).strip()
    stored = put(title=word, abstract=abstract)
    found(word, [stored["arxiv_id"]])
    (hit,) = matching(api, word)
    assert hit["abstract"] == abstract


def test_hits_are_sorted_by_relevance(api, put, word, found):
    first = put(title=f"{word} {word}", abstract=f"{word} alone")["arxiv_id"]
    second = put(title="Something else", abstract=f"Which names {word} in a long abstract, " + "and much besides, " * 30)
    found(word, [first, second["arxiv_id"]])
    results = matching(api, word)
    assert [hit["arxiv_id"] for hit in results] == [first, second["arxiv_id"]]
    assert results[0]["relevance_score"] > results[1]["relevance_score"]


def test_an_arxiv_id_finds_its_paper(api, put, word, found):
    stored = put(title=word)
    found(word, [stored["arxiv_id"]])
    assert hits(api, stored["arxiv_id"])[0]["arxiv_id"] == stored["arxiv_id"]


@pytest.mark.parametrize("form", ["arXiv:{}v2", "https://arxiv.org/abs/{}", "is {} about arxiv papers?"])
def test_a_paper_whose_id_is_in_the_query_comes_first(api, put, word, found, form):
    """Even if the other words of the query match other papers better."""
    stored = put(title=word)
    for number in range(3):
        put(title=f"On arXiv abs papers {number}", abstract="The arXiv org has papers. https arxiv.org abs.")
    found(word, [stored["arxiv_id"]])
    first, *others = hits(api, form.format(stored["arxiv_id"]))
    assert (first["arxiv_id"], first["relevance_score"]) == (stored["arxiv_id"], 1)
    assert all(hit["relevance_score"] <= 1 for hit in others)


def test_a_misspelled_word_is_corrected(api, put, word, found):
    """Six papers, so that one segment has enough of them for spelling correction, whenever a merge happens."""
    ids = {put(title=f"{word} {number}")["arxiv_id"] for number in range(6)}
    found(word, ids)
    for slip in (word[:3] + word[4:], word[:3] + "x" + word[3:], word[:3] + "x" + word[4:]):
        assert {hit["arxiv_id"] for hit in hits(api, slip)} >= ids


def test_an_unknown_word_finds_nothing(api):
    assert hits(api, "qqxxyyzzqqxxyyzz") == []


def test_stop_words_find_nothing(api):
    assert hits(api, "the of and") == []


def test_max_results(api, put, word, found):
    ids = [put(title=f"{word} {number}")["arxiv_id"] for number in range(12)]
    found(word, ids, max_results=100)
    assert len(hits(api, word)) == 10
    assert len(hits(api, word, max_results=3)) == 3
    assert len(matching(api, word, max_results=1000)) == 12


@pytest.mark.parametrize("sort", ["relevance", "newest"])
def test_pages_are_parts_of_one_ranking(api, put, word, found, sort):
    ids = [put(title=f"{word} {number}", published_at=f"2023-05-{number + 1:02}T00:00:00.000Z")["arxiv_id"] for number in range(12)]
    found(word, ids, max_results=100)

    def page(offset, limit, **members):
        body = {"query": word, "sort": sort, "offset": offset, "max_results": limit, **members}
        answer = api.post("/search/assets", body, expect=200)
        assert all(("explanation" in hit) == members.get("explain", False) for hit in answer.json())
        return [hit["arxiv_id"] for hit in answer.json()], int(answer.headers["X-Total-Count"])

    best, total = page(0, 100)
    assert set(best[:12]) == set(ids) and len(best) == min(total, 100)
    assert [page(offset, 5)[0] for offset in (0, 5, 10)] == [best[:5], best[5:10], best[10:15]]
    assert page(5, 5, explain=True)[0] == best[5:10]
    assert {page(offset, 5)[1] for offset in (0, 5, 1000)} == {total}
    assert page(total, 5)[0] == []
    assert page(1, 5, categories=["no.such"]) == ([], 0)


def test_without_an_offset_there_are_no_pages(api, put, word, found):
    found(word, [put(title=word)["arxiv_id"]])
    assert "X-Total-Count" not in api.post("/search/assets", {"query": word}, expect=200).headers


@pytest.fixture
def filtered(put, word, found):
    """Four papers with the word: {name: id}."""
    ids = {
        "both": put(title=word, categories=["cs.LG", "stat.ML"], container_status="ready")["arxiv_id"],
        "vision": put(title=word, categories=["cs.CV"])["arxiv_id"],
        "strings": put(title=word, categories=["hep-th"], container_status="ready")["arxiv_id"],
        "none": put(title=word)["arxiv_id"],
    }
    found(word, ids.values())
    return ids


@pytest.mark.parametrize(
    ("members", "names"),
    [
        ({"categories": ["cs"]}, {"both", "vision"}),
        ({"categories": ["cs.LG"]}, {"both"}),
        ({"categories": ["stat", "hep-th"]}, {"both", "strings"}),
        ({"categories": ["cs.L"]}, set()),
        ({"categories": []}, {"both", "vision", "strings", "none"}),
        ({"categories": None, "has_container": None}, {"both", "vision", "strings", "none"}),
        ({"has_container": True}, {"both", "strings"}),
        ({"has_container": False}, {"vision", "none"}),
        ({"has_container": True, "categories": ["cs"]}, {"both"}),
        ({"has_container": False, "categories": ["math"]}, set()),
    ],
)
def test_filters(api, word, filtered, members, names):
    assert {hit["arxiv_id"] for hit in matching(api, word, **members)} == {filtered[name] for name in names}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"), ({"query": ""}, "query"), ({"query": " \t\n "}, "query"), ({"query": "x" * 1001}, "query"),
        ({"query": None}, "query"), ({"query": 5}, "query"), ({"query": ["x"]}, "query"),
        ({"query": "x", "max_results": 0}, "max_results"), ({"query": "x", "max_results": -1}, "max_results"),
        ({"query": "x", "offset": -1}, "offset"), ({"query": "x", "offset": 1001}, "offset"),
        ({"query": "x", "max_results": "many"}, "max_results"), ({"query": "x", "max_results": 1.5}, "max_results"),
        ({"query": "x", "categories": "cs"}, "categories"), ({"query": "x", "categories": [1]}, "categories"),
        ({"query": "x", "categories": ["cs"] * 101}, "categories"), ({"query": "x", "categories": [""]}, "categories"),
        ({"query": "x", "has_container": "yes"}, "has_container"), ({"query": "x", "use_llm": "yes"}, "use_llm"),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_an_invalid_search(api, body, field):
    assert faults(api.problem("POST", "/search/assets", 400, "invalid_request", body)) == {field}


def test_long_queries_and_any_script(api):
    for query in ("é" * 1000, "  " + "x" * 1000 + "  ", "注意力机制", "🜁🜂🜃", "a\u200b\u202eb", "'; DROP TABLE asset; --", "%_\\", "\"((("):
        api.post("/search/assets", {"query": query}, expect=200)


def test_search_needs_a_key(anonymous):
    anonymous.post("/search/assets", {"query": "x"}, expect=401)


def test_a_changed_title_is_indexed(cluster, api, operator, put, word, found):
    """The paper is found by its old title, then only by its new one."""
    name = put(title=f"First {word}")["arxiv_id"]
    found(word, [name])
    operator.api.put(f"/search/assets/{name}", {"title": f"Second {word}x"}, expect=200)
    found(word, [])
    found(f"{word}x", [name])


# Internal routes


def test_internal_routes_accept_only_services(cluster, api, internal):
    routes = {"lookup": {"arxiv_ids": []}, "similar": {"text": "x"}, "sample": {"limit": 1}}
    for path, body in ((f"/internal/assets/{name}", body) for name, body in routes.items()):
        assert internal(path, body).status_code == 200
        for kind in ("personal", "automation"):
            assert internal(path, body, kind).status_code == 404
        api.request("POST", path.replace("/internal", "/api/internal"), body, expect=404, checked=False)
        assert api.http.post(path, json=body).status_code == 404


def test_lookup_keeps_the_order_of_the_ids(internal, put, word, found):
    first, second = put(title=f"{word} one", categories=["cs.LG"]), put(title=f"{word} two", abstract="Whole. " * 100)
    found(word, [first["arxiv_id"], second["arxiv_id"]])
    asked = [second["arxiv_id"] + "v1", "0001.00001", "nonsense", first["arxiv_id"], second["arxiv_id"]]
    answer = internal("/internal/assets/lookup", {"arxiv_ids": asked}).json()
    rows = answer["results"]
    assert [row["arxiv_id"] for row in rows] == [second["arxiv_id"], first["arxiv_id"], second["arxiv_id"]]
    assert rows[0]["abstract"] == "Whole. " * 99 + "Whole."
    assert rows[1]["categories"] == ["cs.LG"]
    assert all(row["relevance"] == 0 and row["asset"]["arxiv_id"] == row["arxiv_id"] for row in rows)
    assert not any("abstract" in row["asset"] for row in rows)


def test_lookup_limits(internal):
    assert internal("/internal/assets/lookup", {"arxiv_ids": []}).json()["results"] == []
    assert internal("/internal/assets/lookup", {}).status_code == 400
    assert internal("/internal/assets/lookup", {"arxiv_ids": ["x"] * 1001}).status_code == 400


def test_brief_rows_have_no_papers_but_their_versions(internal, operator, put, word, found):
    first, second = (put(title=f"{word} {day}", published_at=f"2024-03-0{day}T20:00:00.000Z")["arxiv_id"] for day in (5, 6))
    found(word, [first, second])
    whole = internal("/internal/assets/similar", {"text": word}).json()
    brief = internal("/internal/assets/similar", {"text": word, "brief": True}).json()
    for row, full in zip(brief["results"], whole["results"], strict=True):
        if row["arxiv_id"] in (first, second):
            assert date(1970, 1, 1) + timedelta(row["published_day"]) == date.fromisoformat(full["published_at"][:10])
        assert set(row) == {"arxiv_id", "version", "relevance", "matched", "has_vector", "has_container", "published_day", "is_changed"}
        assert row["has_vector"] == (full["vector"] is not None)
        assert row["has_container"] == full["has_container"]
        assert all(row[name] == full[name] for name in ("arxiv_id", "version", "relevance", "matched"))
    assert {name: brief[name] for name in ("model", "documents")} == {name: whole[name] for name in ("model", "documents")}
    before = {row["arxiv_id"]: row["version"] for row in brief["results"]}

    def version():
        (row,) = internal("/internal/assets/lookup", {"arxiv_ids": [first]}).json()["results"]
        return row["version"]

    assert version() == before[first]
    operator.api.put(f"/search/assets/{first}", {"title": f"{word} changed"}, expect=200)
    wait_for(lambda: version() > before[first], "the change is indexed")


def test_only_some_rows_are_explained(internal, put, word, found):
    first, second = put(title=f"{word} one")["arxiv_id"], put(title=f"{word} two")["arxiv_id"]
    found(word, [first, second])
    whole = internal("/internal/assets/similar", {"text": word, "explain": True}).json()["results"]
    body = {"text": word, "explain": True, "brief": True, "only": [second, "0001.00001"]}
    (row,) = internal("/internal/assets/similar", body).json()["results"]
    assert row["arxiv_id"] == second
    assert row["explanation"] == next(full["explanation"] for full in whole if full["arxiv_id"] == second)
    assert internal("/internal/assets/similar", {"text": word, "only": []}).json()["results"] == []


def test_papers_are_ranked_again_without_a_search(internal, put, word, found):
    first, second, third = (put(title=f"{word} {number}")["arxiv_id"] for number in ("one", "two", "three"))
    found(word, [first, second, third])
    whole = internal("/internal/assets/similar", {"text": word, "brief": True}).json()
    ids = [row["arxiv_id"] for row in whole["results"]]
    body = {"text": word, "brief": True, "among": [*ids, "0001.00001"], "feedback": whole["feedback"]}
    assert internal("/internal/assets/similar", body).json()["results"] == whole["results"]
    (row,) = internal("/internal/assets/similar", {**body, "among": [third]}).json()["results"]
    assert row["arxiv_id"] == third
    assert internal("/internal/assets/similar", {**body, "among": []}).json()["results"] == []
    for name in ("among", "feedback"):
        assert internal("/internal/assets/similar", {**body, name: "all"}).status_code == 400


def test_a_renewed_answer_tells_what_has_changed(internal, operator, put, word, found):
    first, second = put(title=f"{word} one")["arxiv_id"], put(title=f"{word} two")["arxiv_id"]
    found(word, [first, second])
    before = internal("/internal/assets/similar", {"text": word, "brief": True}).json()
    assert before["is_whole"] and all(row["is_changed"] for row in before["results"])
    operator.api.put(f"/search/assets/{first}", {"title": f"{word} changed"}, expect=200)
    body = {"text": word, "brief": True, "cursor": before["cursor"], "among": [first, second]}

    def only_first_has_changed():
        after = internal("/internal/assets/similar", body).json()
        return not after["is_whole"] and {row["arxiv_id"]: row["is_changed"] for row in after["results"]} == {first: True, second: False}

    wait_for(only_first_has_changed, "the change is indexed")


def test_only_takes_ids(internal, word):
    assert internal("/internal/assets/similar", {"text": word, "only": "all"}).status_code == 400


def test_sample_is_of_all_papers(internal, put, word, found):
    names = [put(title=f"{word} {number}")["arxiv_id"] for number in range(3)]
    found(word, names)
    whole = internal("/internal/assets/sample", {"limit": 10000}).json()
    assert len(set(whole["arxiv_ids"])) == len(whole["arxiv_ids"]) == whole["documents"]
    assert set(names) <= set(whole["arxiv_ids"])
    part = internal("/internal/assets/sample", {"limit": 2}).json()
    assert part == {"documents": whole["documents"], "arxiv_ids": whole["arxiv_ids"][:2]}
    for limit in ({}, {"limit": 0}, {"limit": "many"}):
        assert internal("/internal/assets/sample", limit).status_code == 400


def test_similar_filters_by_date(internal, put, word, found):
    old = put(title=f"{word} old", published_at="2020-01-01T00:00:00.000Z")["arxiv_id"]
    new = put(title=f"{word} new", published_at="2024-01-01T00:00:00.000Z")["arxiv_id"]
    found(word, [old, new])
    answer = internal("/internal/assets/similar", {"text": word, "published_since": "2023-01-01"}).json()
    ids = [row["arxiv_id"] for row in answer["results"]]
    assert ids[0] == new and old not in ids
    assert all(row["published_at"] >= "2023-01-01" for row in answer["results"])
    assert internal("/internal/assets/similar", {"text": word, "published_since": "soon"}).status_code == 400


# Authors


def test_an_author_finds_papers(api, put, word, author, found):
    mine = put(title=f"Of {word}", authors=[f"Zoë {author}", "Someone Else"])["arxiv_id"]
    put(title=f"Another on {word}", authors=["Someone Else"])
    found(author, [mine])
    for query in (author, f"Zoe {author}", f"{author}, Z.", f"Z. {author}", author.lower(), f"{author} {word}"):
        assert hits(api, query)[0]["arxiv_id"] == mine, query
    (hit,) = hits(api, f"Zoe {author}")
    assert hit["highlights"] == [{"field": "authors", "text": f"<em>Zoë {author}</em>"}]
    assert hit["relevance_score"] > 0.8


def test_changed_authors_are_indexed(api, operator, put, word, author, found):
    name = put(title=word, authors=[f"Ann {author}"])["arxiv_id"]
    found(author, [name])
    operator.api.put(f"/search/assets/{name}", {"authors": ["Someone Else"]}, expect=200)
    found(author, [])


def test_an_author_is_escaped(api, put, word, author, found):
    name = put(title=word, authors=[f"<b>Ann {author}"])["arxiv_id"]
    found(author, [name])
    (hit,) = hits(api, author)
    assert hit["highlights"][0]["text"] == f"<em>&lt;b&gt;Ann {author}</em>"


def test_an_empty_answer_says_why(api, put, word, author, found):
    name = put(title=word, authors=[f"Ann {author}"], categories=["cs.LG"])["arxiv_id"]
    found(author, [name])
    for query, members, hint in (
        ("the", {}, "no_words"),
        ("Donaudampfschifffahrtsgesellschaftskapitän", {}, "unknown_words"),
        (f"Xaver {author}, Q.", {}, "unknown_name"),
        (f"{author}, Q.", {}, "unknown_name"),
        (author, {"categories": ["math"]}, "filtered"),
    ):
        answer = api.post("/search/assets", {"query": query, **members}, expect=200)
        assert (answer.json(), answer.headers.get("X-Search-Hint")) == ([], hint), query
    assert "X-Search-Hint" not in api.post("/search/assets", {"query": author}, expect=200).headers


def test_a_compound_is_split(api, put, word, found):
    other = new_word()
    names = {put(title=f"{word} and {other}, part {number}")["arxiv_id"] for number in range(3)}
    found(word, names)
    assert {hit["arxiv_id"] for hit in matching(api, word + other)} == names
