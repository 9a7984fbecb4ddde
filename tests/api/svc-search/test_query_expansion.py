"""Search with use_llm: a language model expands the query, and failures of the model never break a search.

The model is a stub with an OpenAI-compatible interface, used by replicas that only these tests use.
"""

import json
import threading
from contextlib import contextmanager

import pytest

from lib import plain_http
from lib.identity import identity
from lib.stub_server import StubServer
from lib.wait import wait_for


class Model:
    """A stub of a language model; `say` sets its answer."""

    def __init__(self):
        self.stub = StubServer(self.answer)
        self.reply = None

    def answer(self, request):
        self.reply(request)

    def say(self, content):
        text = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]})
        self.reply = lambda request: request.reply(200, text, Content_Type="application/json")


@pytest.fixture(scope="module")
def model():
    made = Model()
    yield made
    made.stub.close()


@contextmanager
def run_replica(cluster, model, timeout):
    """A svc-search on its own port that uses the model with this timeout."""
    settings = {"LLM_URL": model.stub.url + "/v1", "LLM_MODEL": "small", "LLM_KEY": "sk-test", "LLM_TIMEOUT": timeout}
    process = cluster.separate("svc-search", f"llm-{timeout}", DATA_DIR="", **settings)
    process.start()
    process.wait_ready()
    yield process
    process.stop()
    assert process.check() == []


@pytest.fixture(scope="module")
def replica(cluster, model):
    with run_replica(cluster, model, "25s") as process:
        yield process


@pytest.fixture
def impatient_replica(cluster, model):
    """A replica with a short timeout."""
    with run_replica(cluster, model, "100ms") as process:
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
        hits = [hit for hit in answer.json() if query.startswith("qq") or hit["highlights"]]
        return answer.headers["X-Search-Strategy"], [hit["arxiv_id"] for hit in hits]

    return search


@pytest.fixture
def paper(put, word, ask):
    """A paper with the word, in the index of `replica`."""
    name = put(title=f"About {word}")["arxiv_id"]
    wait_for(lambda: ask(word, use_llm=False)[1] == [name], "the replica finds the paper")
    return name


def test_an_expanded_query_finds_more(ask, model, paper, word):
    model.say(f"transformers {word} attention")
    strategy, ids = ask("qqxxyyzzqqxxyyzz")
    assert strategy == "hybrid+llm" and paper in ids
    method, path, headers, body = model.stub.requests[-1]
    assert (method, path, headers["Authorization"]) == ("POST", "/v1/chat/completions", "Bearer sk-test")
    asked = json.loads(body)
    assert asked["model"] == "small" and asked["messages"][-1] == {"role": "user", "content": "qqxxyyzzqqxxyyzz"}


def test_the_model_is_called_only_with_use_llm(ask, model, word):
    count = len(model.stub.requests)
    assert ask(word, use_llm=False)[0] in ("hybrid", "lexical")
    assert len(model.stub.requests) == count


UNUSABLE_ANSWERS = {
    "error": lambda request: request.reply(500, "oops"),
    "refused": lambda request: request.reply(401, "{}"),
    "text": lambda request: request.reply(200, "not JSON"),
    "list": lambda request: request.reply(200, "[]"),
    "no choice": lambda request: request.reply(200, '{"choices": []}'),
    "choice of another kind": lambda request: request.reply(200, '{"choices": [5]}'),
    "no text": lambda request: request.reply(200, '{"choices": [{"message": {"content": null}}]}'),
    "blank": lambda request: request.reply(200, '{"choices": [{"message": {"content": " \\n"}}]}'),
    "cut": lambda request: request.cut('{"choices": [{'),
    "too much": lambda request: request.reply(200, '{"choices": [{"message": {"content": "' + "x" * 500_000 + '"}}]}'),
    "moved": lambda request: request.reply(302, "", Location="/v1/chat/completions"),
}


@pytest.mark.parametrize("name", UNUSABLE_ANSWERS)
def test_an_unusable_answer_does_not_break_the_search(ask, model, paper, word, name):
    model.reply = UNUSABLE_ANSWERS[name]
    strategy, ids = ask(word)
    assert strategy in ("hybrid", "lexical")
    assert ids == ask(word, use_llm=False)[1] == [paper]


def test_a_search_does_not_wait_for_a_slow_model(ask, model, impatient_replica, paper, word):
    wait_for(lambda: ask(word, use_llm=False, by=impatient_replica)[1] == [paper], "the replica finds the paper")
    done = threading.Event()
    model.reply = lambda request: done.wait() and request.cut("")
    try:
        strategy, ids = ask(word, by=impatient_replica)
        assert strategy != "hybrid+llm" and ids == [paper]
    finally:
        done.set()


def test_a_long_answer_is_cut(ask, model, paper, word):
    model.say(f"{word} " + "é" * 5000)
    strategy, ids = ask("qqxxyyzzqqxxyyzz")
    assert strategy == "hybrid+llm" and paper in ids


def test_an_unreachable_model_does_not_break_the_search(ask, model, paper, word):
    model.stub.close()
    strategy, ids = ask(word)
    assert strategy != "hybrid+llm" and ids == [paper]
