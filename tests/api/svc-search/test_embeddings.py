"""Search with an external embedder: papers are found by meaning, and failures of the embedder never break a search.

The embedder is a stub with an OpenAI-compatible interface, used by a replica that only these tests use.
"""

import base64
import json
import threading
import time

import pytest

from lib.outside.embedder import DIMENSION, KEY, Embedder, EmbeddingReplica
from lib.wait import wait_for
from lib.scenario.words import new_word


@pytest.fixture(scope="module")
def model():
    made = Embedder()
    yield made
    made.close()


@pytest.fixture(scope="module")
def replica(cluster, model):
    made = EmbeddingReplica(cluster, model, EMBEDDINGS_BATCH="16", EMBEDDINGS_MAX_TEXT="256").start()
    yield made
    made.process.stop()
    assert made.process.check() == []


@pytest.fixture
def other(cluster):
    """other(embedder, ...): start another replica, with these settings."""
    made = []

    def start(embedder, **changes):
        made.append(EmbeddingReplica(cluster, embedder, **changes).start())
        return made[-1]

    yield start
    for one in made:
        one.process.stop()
    assert [fault for one in made for fault in one.process.check()] == []


@pytest.fixture(autouse=True)
def normal_answers(model, replica, put):
    """Each test begins and ends with an embedder that answers normally, and a replica that uses its vectors."""
    model.reply = lambda request, texts: False
    model.dimension = DIMENSION
    put(title="Something to compare with")
    wait_for(lambda: replica.nearest(new_word()), "the replica searches with vectors")
    yield
    model.reply = lambda request, texts: False
    model.dimension = DIMENSION


@pytest.fixture
def pair(model, put):
    """(id, word, synonym): a paper with the word. It may not be embedded yet."""
    word, synonym = model.learn()
    return put(title=f"About {word}", abstract="An abstract.")["arxiv_id"], word, synonym


def test_a_paper_is_found_without_a_common_word(replica, model, pair, api):
    name, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")
    assert api.post("/search/assets", {"query": synonym}, expect=200).json() == [], "not found by words"
    texts, body, headers = next(call for call in model.calls if f"About {word}\nAn abstract." in call[0])
    assert len(texts) <= 16
    assert body["model"] == replica.space and headers["Authorization"] == f"Bearer {KEY}"
    assert set(body) == {"model", "input"}
    assert {path for _, path, _, _ in model.stub.requests} == {"/v1/embeddings"}


def test_texts_of_other_languages_find_papers_by_meaning(replica, model, put):
    """As a multilingual model does, the stand-in gives words of three languages one vector."""
    word, german = model.learn()
    chinese = "语音识别"
    model.axes[chinese] = model.axes[word]
    name = put(title=f"About {word}", abstract="An abstract.")["arxiv_id"]
    wait_for(lambda: replica.nearest(german) == name, "found by meaning")
    for text in (f"Wir suchen Verfahren für {german}, {new_word()}", f"我们研究 {chinese} {new_word()}"):
        answer = wait_for(lambda text=text: hybrid(replica, text), "embedded in time")
        best, *others = answer["results"]
        assert best["arxiv_id"] == name and best["matched"] == []
        assert all(one["relevance"] < best["relevance"] for one in others)


def hybrid(replica, text):
    answer = replica.post("/internal/assets/similar", {"text": text}, kind="service").json()
    return answer if answer["strategy"] == "hybrid" else None


def test_a_repeated_query_is_embedded_once(replica, model, pair):
    name, _, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")
    query = f"{synonym} {new_word()}"
    wait_for(lambda: replica.search(query)[0] == "hybrid", "embedded")
    count = len(model.calls)
    assert replica.search(query, max_results=5)[1][0] == name
    assert replica.search(query, has_container=False)[1][0] == name
    assert len([texts for texts, _, _ in model.calls[count:] if query in texts]) == 0


def test_a_changed_text_is_embedded_again(replica, operator, model, pair):
    name, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")
    now, now_synonym = model.learn()
    operator.api.put(f"/search/assets/{name}", {"title": f"About {now}"}, expect=200)
    wait_for(lambda: replica.nearest(now_synonym) == name, "found by its new meaning")
    assert replica.nearest(synonym) != name


def test_an_unchanged_text_is_not_embedded_again(replica, operator, model, pair):
    name, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")
    assert model.times(f"About {word}\n") == 1
    operator.api.put(f"/search/assets/{name}", {"container_status": "ready"}, expect=200)
    wait_for(lambda: replica.search(word, has_container=True)[1][:1] == [name], "the change is indexed")
    operator.api.put(f"/search/assets/{name}", {"license": "MIT"}, expect=200)
    wait_for(lambda: replica.nearest(synonym) == name, "still found by meaning")
    assert model.times(f"About {word}\n") == 1


def test_a_long_text_is_cut_at_a_character(replica, model, put):
    word, synonym = model.learn()
    name = put(title=f"{word} a", abstract="é" * 1000)["arxiv_id"]
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")
    (text,) = [text for texts, _, _ in model.calls for text in texts if word in text]
    assert 254 <= len(text.encode()) <= 256 and set(text[-100:]) == {"é"}


def test_internal_routes_return_the_vectors(replica, internal, pair):
    name, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")

    def similar():
        answer = replica.post("/internal/assets/similar", {"text": f"{synonym} {new_word()}"}, kind="service").json()
        return answer if answer["strategy"] == "hybrid" else None

    answer = wait_for(similar, "embedded in time")
    row = answer["results"][0]
    assert row["arxiv_id"] == name and answer["dimension"] == DIMENSION
    vector = [byte - 256 if byte > 127 else byte for byte in base64.b64decode(row["vector"])]
    assert len(vector) == DIMENSION and sorted(vector)[-1] == 127 and sorted(vector)[-2] == 0
    looked_up = replica.post("/internal/assets/lookup", {"arxiv_ids": [name]}, kind="service").json()
    assert looked_up["results"][0]["vector"] == row["vector"] and looked_up["model"] == answer["model"]
    built_in = internal("/internal/assets/lookup", {"arxiv_ids": [name]}).json()
    assert built_in["model"] != answer["model"]


def say(text):
    return lambda request, texts: request.reply(200, text if isinstance(text, str) else json.dumps(text))


def vectors(*vectors):
    return say({"data": [{"embedding": vector} for vector in vectors]})


UNIT = [1.0] + [0.0] * (DIMENSION - 1)
UNUSABLE_ANSWERS = {
    "error": lambda request, texts: request.reply(500, "oops"),
    "busy": lambda request, texts: request.reply(429, "slow down"),
    "forbidden": lambda request, texts: request.reply(401, json.dumps({"error": f"Incorrect key {KEY}"})),
    "not there": lambda request, texts: request.reply(404, "{}"),
    "refused": lambda request, texts: request.reply(400, "{}"),
    "moved": lambda request, texts: request.reply(302, "", Location="/v1/embeddings"),
    "cut": lambda request, texts: request.cut('{"data": ['),
    "text": say("not JSON"),
    "list": say("[]"),
    "nothing": say({"data": []}),
    "null": say({"data": None}),
    "no vector": say({"data": [{"index": 0}]}),
    "empty vector": vectors([]),
    "no numbers": vectors(["a"] * DIMENSION),
    "zero": vectors([0.0] * DIMENSION),
    "too large": say('{"data": [{"embedding": [' + ", ".join(["1e999"] * DIMENSION) + "]}]}"),
    "too many": vectors(*[UNIT] * 40),
    "too long": vectors([1.0] * 5000),
    "shorter": vectors(UNIT[:-1]),
    "longer": vectors([*UNIT, 1.0]),
    "of another text": say({"data": [{"index": 7, "embedding": UNIT}]}),
}


@pytest.mark.parametrize("name", UNUSABLE_ANSWERS)
def test_an_unusable_answer_for_a_query_does_not_break_the_search(replica, model, pair, name):
    paper, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == paper, "found by meaning")
    query, failed = f"{word} {new_word()}", []

    def fail(request, texts):
        failed.extend(texts)
        return UNUSABLE_ANSWERS[name](request, texts)

    model.reply = fail
    assert replica.search(query) == ("lexical", [paper])
    assert failed == [query]
    assert replica.search(query) == ("lexical", [paper]), "no call during the pause"
    model.reply = lambda request, texts: False
    wait_for(lambda: replica.search(query)[0] == "hybrid", "the embedder is called again")
    assert KEY not in replica.process.log()


@pytest.mark.parametrize("name", UNUSABLE_ANSWERS)
def test_an_unusable_answer_for_papers_is_retried(replica, model, put, name):
    word, synonym = model.learn()
    failed = []

    def fail(request, texts):
        failed.extend(texts)
        return UNUSABLE_ANSWERS[name](request, texts)

    model.reply = fail
    paper = put(title=f"About {word}")["arxiv_id"]
    wait_for(lambda: any(f"About {word}" in text for text in failed), "called")
    wait_for(lambda: replica.search(word)[1] == [paper], "found by its word")
    model.reply = lambda request, texts: False
    wait_for(lambda: replica.nearest(synonym) == paper, "retried")


def test_a_search_does_not_wait_for_a_slow_embedder(replica, model, pair):
    paper, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == paper, "found by meaning")
    done = threading.Event()
    model.reply = lambda request, texts: done.wait(100) and request.cut("")
    try:
        assert replica.search(f"{word} {new_word()}") == ("lexical", [paper])
        assert not done.is_set()
    finally:
        done.set()


def test_a_refused_text_is_skipped(replica, model, put):
    """The other texts of its batch are embedded."""
    poison, (word, synonym) = new_word(), model.learn()
    model.reply = lambda request, texts: poison in "".join(texts) and request.reply(400, "{}")
    bad = put(title=f"About {poison}")["arxiv_id"]
    good = put(title=f"About {word}")["arxiv_id"]
    wait_for(lambda: replica.nearest(synonym) == good, "the others are embedded")
    assert replica.logged("the embedder refused a paper", bad) == 1
    wait_for(lambda: replica.search(poison)[1] == [bad], "found by its word")


@pytest.mark.parametrize("name", ["error", "zero"])
def test_a_paper_that_the_embedder_fails_for_does_not_stop_the_others(replica, model, put, name):
    """Those of its batch, and those that come later."""
    (first, first_synonym), poison, (last, last_synonym) = model.learn(), new_word(), model.learn()
    model.reply = lambda request, texts: UNUSABLE_ANSWERS[name](request, texts) if poison in "".join(texts) else False
    papers = [put(title=f"About {word}")["arxiv_id"] for word in (first, poison, last)]
    wait_for(lambda: replica.nearest(last_synonym) == papers[2], "the paper behind it is embedded")
    assert replica.nearest(first_synonym) == papers[0]
    assert [replica.logged("the embedder refused a paper", paper) for paper in papers] == [0, 1, 0]


@pytest.mark.parametrize("is_probe_embedded", [False, True])
def test_no_paper_is_skipped_because_the_embedder_was_down(replica, model, put, is_probe_embedded):
    """Down for long, or up again between the call for the paper and that for another text."""
    (word, synonym), tried = model.learn(), threading.Event()

    def fail(request, texts):
        if tried.is_set():
            return False
        if texts == ["paper"]:
            tried.set()
            return False if is_probe_embedded else request.reply(500, "oops")
        return request.reply(500, "oops")

    model.reply = fail
    paper = put(title=f"About {word}")["arxiv_id"]
    wait_for(lambda: replica.nearest(synonym) == paper, "embedded")
    assert tried.is_set() and replica.logged("the embedder refused a paper", paper) == 0


def test_a_refused_batch_is_halved(other, model, put):
    """Until it is below the limit of the endpoint."""
    model.reply = lambda request, texts: len(texts) > 3 and request.reply(422, "{}")
    word, synonym = model.learn()
    papers = {put(title=f"About {word}", abstract=f"Number {n}.")["arxiv_id"] for n in range(8)}
    one = other(model, EMBEDDINGS_BATCH="64")
    wait_for(lambda: papers == set(one.search(synonym, max_results=8)[1]), "all are embedded")
    assert one.logged("the embedder refused a paper") == 0


def test_retry_after_is_obeyed(replica, model, put):
    word, synonym = model.learn()
    times = []

    def busy(request, texts):
        if not any(f"{word} first" in text for text in texts):
            return False
        times.append(time.monotonic())
        return request.reply(429, "{}", Retry_After="2") if len(times) == 1 else False

    model.reply = busy
    paper = put(title=f"{word} first")["arxiv_id"]
    wait_for(lambda: replica.nearest(f"about {synonym}") == paper, "embedded")
    assert times[1] - times[0] >= 2


def test_vectors_of_another_dimension_are_refused(replica, model, put, pair):
    paper, word, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == paper, "found by meaning")
    model.dimension = DIMENSION + 1
    later, later_synonym = model.learn()
    name = put(title=f"About {later}")["arxiv_id"]
    wait_for(lambda: replica.logged("change EMBEDDINGS_MODEL"), "the failure is logged")
    wait_for(lambda: replica.search(later) == ("lexical", [name]), "found by its word")
    model.dimension = DIMENSION
    wait_for(lambda: replica.nearest(later_synonym) == name, "embedded after the dimension is right again")


def test_the_dimension_is_requested(other, model, pair):
    name, _, synonym = pair
    one = other(model, EMBEDDINGS_DIMENSION=str(DIMENSION))
    wait_for(lambda: one.nearest(synonym) == name, "found by meaning")
    assert all(body["dimensions"] == DIMENSION for _, body, _ in model.calls if body["model"] == one.space)
    two = other(model, EMBEDDINGS_DIMENSION="8", EMBEDDINGS_MODEL=one.space)
    wait_for(lambda: two.logged(f"its vectors have {DIMENSION} elements, 8 were requested"), "the wrong dimension is logged")
    assert two.search(synonym) == ("lexical", [])


def test_an_unreachable_embedder(other, pair):
    """The service is ready without it and searches by words."""
    model = Embedder()
    model.close()
    name, word, synonym = pair
    one = other(model)
    wait_for(lambda: one.search(word) == ("lexical", [name]), "found by its word")
    wait_for(lambda: one.logged("cannot embed papers"), "the failure is logged")
    assert one.search(synonym) == ("lexical", [])


@pytest.mark.parametrize("missing", ["EMBEDDINGS_URL", "EMBEDDINGS_MODEL"])
def test_an_incomplete_configuration_is_ignored(other, model, pair, missing):
    name, word, _ = pair
    one = other(model, **{missing: ""})
    wait_for(lambda: word and name in one.search(word)[1], "found by its word")
    assert one.logged("must both be set") == 1


def test_no_authorization_header_without_a_key(other, model, pair):
    name, _, synonym = pair
    one = other(model, EMBEDDINGS_KEY="")
    wait_for(lambda: one.nearest(synonym) == name, "found by meaning")
    assert all("Authorization" not in headers for _, body, headers in model.calls if body["model"] == one.space)


def test_the_key_is_not_shown(replica, cluster):
    shown = cluster.run("svc-search", "--show-config", EMBEDDINGS_KEY=KEY, EMBEDDINGS_URL=replica.process.env["EMBEDDINGS_URL"])
    assert "EMBEDDINGS_URL" in shown and KEY not in shown
    assert KEY not in replica.process.log()
    assert "EMBEDDINGS_TIMEOUT" in cluster.run("svc-search", "--help")


def test_calls_are_counted(replica, pair):
    name, _, synonym = pair
    wait_for(lambda: replica.nearest(synonym) == name, "found by meaning")
    metrics = replica.process.metrics()
    assert 'expops_embedding_calls_total{purpose="papers",outcome="made"}' in metrics
    assert 'expops_embedding_calls_total{purpose="query",outcome="made"}' in metrics
    assert replica.process.metric("expops_embedded_papers_total") >= 1
