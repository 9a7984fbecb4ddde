"""Search in an index with a built-in embedder: by words and meaning, and how a score is explained.

The embedder learns from what is in the index. These tests have a cluster of their own, with the sample papers.
"""

import base64

import pytest

from lib.system.cluster import Cluster
from lib.fixtures import run_cluster
from lib.scenario.sample import load_sample
from lib.scenario.words import new_word
from lib.wait import wait_for


@pytest.fixture(scope="module")
def cluster():
    with run_cluster(Cluster(1)) as made:
        load_sample(made)
        yield made


def faults(document):
    return {fault["field"] for fault in document["errors"]}


def hits(api, query, **members):
    return api.post("/search/assets", {"query": query, **members}, expect=200).json()


def matching(api, query, **members):
    """The hits that contain a word of the query, without those that are only similar in meaning."""
    return [hit for hit in hits(api, query, **members) if hit["highlights"]]


@pytest.mark.parametrize("use_llm", [False, True])
def test_the_strategy_is_in_a_header(api, use_llm):
    answer = api.post("/search/assets", {"query": "attention", "use_llm": use_llm}, expect=200)
    assert answer.headers["X-Search-Strategy"] == "hybrid"


def test_similar_returns_vectors_of_one_model(internal, put, word, found):
    topics = ["attention of transformers", "graph neural networks", "gradient descent", "protein folding", "robot arms"]
    ids = [put(title=f"{word} {topics[n % 5]}", abstract=f"About {topics[n % 5]}, part {n}.")["arxiv_id"] for n in range(30)]
    found(word, ids, max_results=100)
    answer = internal("/internal/assets/similar", {"text": f"{word} graph neural networks", "limit": 30}).json()
    relevances = [row["relevance"] for row in answer["results"]]
    assert relevances == sorted(relevances, reverse=True) and len(relevances) <= 30
    assert "graph" in answer["results"][0]["title"]
    assert word in answer["results"][0]["matched"]
    assert answer["dimension"] > 0
    for row in answer["results"]:
        assert len(base64.b64decode(row["vector"])) == answer["dimension"] and row["scale"] > 0


# Explanations


def quotient(part, greatest):
    return max(part, 0) / greatest if greatest > 0 else 0


def recomputed(explanation):
    """The score of a hit, from its explanation alone."""
    lexical, dense = explanation["lexical"], explanation["dense"]
    words = sum(term["score"] for term in lexical["terms"]) + lexical["other_terms"]
    pairs = sum(pair["score"] for pair in lexical["pairs_found"])
    assert (words, pairs) == (pytest.approx(lexical["words"], abs=1e-4), pytest.approx(lexical["pairs"], abs=1e-4))
    for term in lexical["terms"]:
        assert term["title"] + term["abstract"] + term["authors"] == pytest.approx(term["score"], abs=1e-5)
    fused = quotient(words + pairs, lexical["greatest"])
    if dense:
        fused += dense["weight"] * quotient(dense["cosine"], dense["greatest"])
    assert fused == pytest.approx(explanation["fused"], abs=1e-4)
    if explanation["has_id_of_query"]:
        return 1
    return min(fused * explanation["relevance_factor"], explanation["relevance_limit"])


def best_score(explanation):
    """The score of the first hit, from what it covers of the query."""
    lexical, dense, weight = explanation["lexical"], explanation["dense"], explanation["cosine_weight"]
    if explanation["has_id_of_query"]:
        return 1
    if not dense or dense["is_pending"]:
        weight = 0
    cosine = min(max(dense["cosine"], 0), 1) if dense else 0
    return (1 - weight) * min(lexical["smoothed"] / explanation["full_score"], 1) + weight * cosine


def test_an_explanation_gives_the_parts_of_the_score(api, put, word, author, found):
    other = new_word()
    ids = {
        put(title=f"{word} {other} {number}", abstract=f"On {other} " * number, authors=[f"Ann {author}"])["arxiv_id"]
        for number in range(5)
    }
    found(word, ids)
    for query in (word, f"{word} {other} paper", f"Ann {author}", f"{author} {other}", f"about {min(ids)} {other}"):
        answer = hits(api, query, explain=True)
        assert {hit["arxiv_id"] for hit in answer} >= ids, (query, answer)
        for hit in answer:
            assert recomputed(hit["explanation"]) == pytest.approx(hit["relevance_score"], abs=2e-4)
        assert best_score(answer[0]["explanation"]) == pytest.approx(answer[0]["relevance_score"], abs=2e-4)
        plain = hits(api, query)
        assert [{**hit, "explanation": None} for hit in answer] == [{**hit, "explanation": None} for hit in plain]
        assert not any("explanation" in hit for hit in plain)


def test_an_explanation_names_words_and_fields(api, put, word, author, found):
    other = new_word()
    name = put(title=f"Of {word}s", abstract=f"About {other}.", authors=[f"Ann {author}"])["arxiv_id"]
    found(word, [name])
    (hit,) = matching(api, f"{word} {other}", explain=True)
    terms = {term["word"]: term for term in hit["explanation"]["lexical"]["terms"]}
    assert terms[word]["title"] == terms[word]["score"] > 0 and terms[word]["abstract"] == 0
    assert terms[other]["abstract"] == terms[other]["score"] > 0 and terms[other]["title"] == 0
    assert hit["explanation"]["lexical"]["rank"] == 1
    (hit,) = matching(api, f"Ann {author}", explain=True)
    assert all(term["authors"] == term["score"] for term in hit["explanation"]["lexical"]["terms"]), hit
    assert hit["explanation"]["dense"] is None


@pytest.mark.parametrize("value", ["yes", 1, None, [True]])
def test_explain_is_a_boolean(api, value):
    problem = api.problem("POST", "/search/assets", 400, "invalid_request", {"query": "x", "explain": value})
    assert faults(problem) == {"explain"}


# Renewed answers


def ask(internal, text, **members):
    return internal("/internal/assets/similar", {"text": text, "limit": 300, "brief": True, **members}).json()


def renew(internal, text, answer, cursor=None):
    among = [row["arxiv_id"] for row in answer["results"]]
    return ask(internal, text, cursor=cursor or answer["cursor"], among=among)


def with_word(answer, word):
    return {row["arxiv_id"] for row in answer["results"] if word in row["matched"]}


def test_a_renewed_answer_has_what_has_changed(operator, internal, put, word, found):
    stays, leaves = put(title=f"{word} stays")["arxiv_id"], put(title=f"{word} leaves")["arxiv_id"]
    found(word, [stays, leaves])
    before = ask(internal, word)
    assert before["is_whole"] and with_word(before, word) == {stays, leaves}
    enters = put(title=f"{word} enters")["arxiv_id"]
    operator.api.put(f"/search/assets/{leaves}", {"title": "Another title"}, expect=200)
    wait_for(lambda: with_word(ask(internal, word), word) == {stays, enters}, "both changes are indexed")
    after, whole = renew(internal, word, before), ask(internal, word)
    assert not after["is_whole"] and after["cursor"] == whole["cursor"] != before["cursor"]
    assert with_word(after, word) == with_word(whole, word) == {stays, enters}
    of_whole = {row["arxiv_id"]: row["relevance"] for row in whole["results"]}
    assert all(row["relevance"] == pytest.approx(of_whole[row["arxiv_id"]], abs=1e-3) for row in after["results"])


def test_a_renewed_answer_keeps_what_it_was_given(internal, put, word, found):
    """A paper that has not changed does not enter; that is what the whole search is for."""
    first, second = put(title=f"{word} one")["arxiv_id"], put(title=f"{word} two")["arxiv_id"]
    found(word, [first, second])
    answer = ask(internal, word)
    answer["results"] = [row for row in answer["results"] if row["arxiv_id"] != second]
    assert with_word(renew(internal, word, answer), word) == {first}


@pytest.mark.parametrize("change", [lambda cursor: "", lambda cursor: "x" + cursor, lambda cursor: cursor + "x",
                                    lambda cursor: cursor.rpartition("/")[0] + "/", lambda cursor: cursor + "0000",
                                    lambda cursor: cursor.partition("/")[0] + "/other-embedder/1"])
def test_a_cursor_that_means_nothing_has_all_papers_searched(internal, put, word, found, change):
    first, second = put(title=f"{word} one")["arxiv_id"], put(title=f"{word} two")["arxiv_id"]
    found(word, [first, second])
    answer = ask(internal, word)
    answer["results"] = answer["results"][:1]
    again = renew(internal, word, answer, change(answer["cursor"]) or "/")
    assert again["is_whole"] and with_word(again, word) == {first, second}
