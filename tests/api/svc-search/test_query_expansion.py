"""Search with use_llm: a language model expands the query, and failures of the model never break a search.

The model is a stub with an OpenAI-compatible interface, used by replicas that only these tests use. These tests have a cluster of
their own: no two of its papers share a word, so there is no built-in embedder, and a search finds papers by their words only.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.http import plain_http
from lib.system.cluster import Cluster
from lib.fixtures import run_cluster
from lib.http.identity import identity
from lib.outside.language_model import AWAY_ANSWERS, KEY, NAME, UNUSABLE_ANSWERS, LanguageModel, run_with
from lib.wait import wait_for


@pytest.fixture(scope="module")
def cluster():
    with run_cluster(Cluster(1)) as made:
        yield made


@pytest.fixture(scope="module")
def model():
    made = LanguageModel()
    yield made
    made.close()


@pytest.fixture(scope="module")
def replica(cluster, model):
    with run_with(model, cluster, "svc-search", "patient", DATA_DIR="") as process:
        yield process


@pytest.fixture
def impatient_replica(cluster, model):
    """A replica with a short timeout."""
    with run_with(model, cluster, "svc-search", "impatient", DATA_DIR="", LLM_TIMEOUT="100ms") as process:
        yield process


@pytest.fixture
def ask(cluster, replica):
    """ask(query, ...): (strategy, ids) of a search by `replica`, or by the replica `by`."""

    def search(query, use_llm=True, by=replica):
        answer = plain_http.post(
            f"{by.url}/api/v1.0/search/assets",
            json={"query": query, "use_llm": use_llm}, auth=identity(cluster, "svc-search"),
        )  # fmt: skip
        assert answer.status_code == 200, answer.text
        return answer.headers["X-Search-Strategy"], [hit["arxiv_id"] for hit in answer.json()]

    return search


@pytest.fixture
def paper(put, word, ask):
    """A paper with the word, in the index of `replica`."""
    name = put(title=f"About {word}")["arxiv_id"]
    wait_for(lambda: ask(word, use_llm=False)[1] == [name], "the replica finds the paper")
    return name


@pytest.fixture
def expanded(ask):
    """expanded(query, ...): the ids of a search that the model expanded. Waits until a pause after a failure is over."""

    def search(query, **options):
        def is_expanded():
            strategy, ids = ask(query, **options)
            return strategy == "hybrid+llm" and (ids,)

        return wait_for(is_expanded, "the model expands the query")[0]

    return search


def test_an_expanded_query_finds_more(ask, model, paper, word):
    model.say(f"transformers {word} attention")
    strategy, ids = ask("qqxxyyzzqqxxyyzz")
    assert strategy == "hybrid+llm" and ids == [paper]
    method, path, headers, _ = model.stub.requests[-1]
    assert (method, path, headers["Authorization"]) == ("POST", "/v1/chat/completions", f"Bearer {KEY}")
    asked = model.prompts[-1]
    assert asked["model"] == NAME and asked["messages"][-1] == {"role": "user", "content": "qqxxyyzzqqxxyyzz"}


def test_the_model_is_called_only_with_use_llm(ask, model, word):
    count = model.calls
    assert ask(word, use_llm=False)[0] == "lexical"
    assert model.calls == count


@pytest.mark.parametrize("name", [*UNUSABLE_ANSWERS, *AWAY_ANSWERS])
def test_an_unusable_answer_does_not_break_the_search(ask, model, paper, word, name):
    model.reply = {**UNUSABLE_ANSWERS, **AWAY_ANSWERS}[name]
    count = model.calls

    def is_asked():
        strategy, ids = ask(word)
        assert strategy == "lexical"
        assert ids == [paper]
        return model.calls > count

    wait_for(is_asked, "the model is asked")  # not during a pause
    assert ask(word, use_llm=False)[1] == [paper]


def test_a_model_that_fails_is_left_alone_for_a_while(ask, expanded, model, replica, paper, word):
    model.say(word)
    assert expanded("qqxxyyzzqqxxyyzz") == [paper]
    model.reply = AWAY_ANSWERS["error"]
    paused = replica.metric("expops_llm_calls_total")
    count = model.calls

    def is_left_alone():
        assert ask(word)[1] == [paper]
        return model.calls - count < replica.metric("expops_llm_calls_total") - paused

    wait_for(is_left_alone, "a search does not ask the model")
    assert 'expops_llm_calls_total{purpose="query_expansion",outcome="paused"}' in replica.metrics()
    model.say(word)
    assert expanded("qqxxyyzzqqxxyyzz") == [paper]


def test_a_search_does_not_wait_for_a_slow_model(ask, model, impatient_replica, paper, word):
    wait_for(lambda: ask(word, use_llm=False, by=impatient_replica)[1] == [paper], "the replica finds the paper")
    go_on = model.hold()
    try:
        for _ in range(2):
            strategy, ids = ask(word, by=impatient_replica)
            assert strategy == "lexical" and ids == [paper]
        late = 'expops_llm_calls_total{purpose="query_expansion",outcome="too_late"} 2'
        assert late in impatient_replica.metrics()
    finally:
        go_on.set()


def test_an_account_has_a_share_of_the_calls(ask, expanded, model, replica, paper, word):
    model.say(word)
    expanded("qqxxyyzzqqxxyyzz")
    go_on, count = model.hold(word), model.calls
    with ThreadPoolExecutor() as pool:
        try:
            waiting = [pool.submit(ask, "qqxxyyzzqqxxyyzz") for _ in range(2)]
            wait_for(lambda: model.calls == count + 2, "the model is asked twice")
            strategy, ids = ask(word)
            assert strategy == "lexical" and ids == [paper] and model.calls == count + 2
            assert 'outcome="busy"} 1' in replica.metrics()
            assert replica.metric("expops_llm_calls_running") == 2
        finally:
            go_on.set()
        assert {answer.result()[0] for answer in waiting} == {"hybrid+llm"}
    assert replica.metric("expops_llm_calls_running") == 0


def test_a_long_answer_is_cut(expanded, model, paper, word):
    model.say(f"{word} " + "é" * 5000)
    assert expanded("qqxxyyzzqqxxyyzz") == [paper]


def test_nothing_that_was_said_is_logged(expanded, ask, model, replica, paper, word):
    model.say("unspeakable")
    expanded("inaudible")
    model.reply = lambda request: request.reply(400, "unspeakable")
    ask("inaudible")
    lines = [line for line in replica.log().splitlines() if "no answer of the language model" in line]
    assert '"purpose":"query_expansion","reason":"refused","status":400' in lines[-1]
    for secret in ("unspeakable", "inaudible", KEY):
        assert secret not in replica.log()


def test_an_unreachable_model_does_not_break_the_search(ask, model, paper, word):
    model.close()
    strategy, ids = ask(word)
    assert strategy == "lexical" and ids == [paper]
