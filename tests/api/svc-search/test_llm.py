"""Searching with use_llm: a language model widens the query, and nothing that it does spoils a search.

The model is a stand-in with an OpenAI-compatible interface, asked by replicas of their own kind that only these tests use.
"""

import json
import threading
from contextlib import contextmanager

import httpx
import pytest

from lib.identity import signed
from lib.process import Process
from lib.servers import free_port
from lib.stand_in import StandIn
from lib.wait import PATIENCE_SECONDS, wait_for


class Model:
    """What the stand-in answers: `say` sets it."""

    def __init__(self):
        self.stand_in = StandIn(self.answer)
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
    made.stand_in.close()


@contextmanager
def run_replica(cluster, model, timeout):
    """svc-search with a model that it waits for so long, on a port of its own."""
    changes = {
        "LISTEN": f"127.0.0.1:{free_port()}", "DATA_DIR": "", "LLM_URL": model.stand_in.url + "/v1", "LLM_MODEL": "small",
        "LLM_KEY": "sk-test", "LLM_TIMEOUT": timeout,
    }  # fmt: skip
    name = f"llm-{timeout}"
    settings = cluster.settings("svc-search", name, **changes)
    process = Process("svc-search", cluster.binary("svc-search"), settings, cluster.servers.base / f"svc-search-{name}.log")
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
def impatient(cluster, model):
    """Another, that hardly waits."""
    with run_replica(cluster, model, "100ms") as process:
        yield process


@pytest.fixture
def ask(cluster, replica):
    """ask(query, ...): (strategy, ids) of a search by that replica, or by another."""

    def search(query, use_llm=True, by=replica):
        answer = httpx.post(
            f"{by.url}/api/v1.0/search/assets",
            json={"query": query, "use_llm": use_llm}, headers=signed(cluster, "personal"), timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert answer.status_code == 200, answer.text
        hits = [hit for hit in answer.json() if query.startswith("qq") or hit["highlights"]]
        return answer.headers["X-Search-Strategy"], [hit["arxiv_id"] for hit in hits]

    return search


@pytest.fixture
def paper(put, word, ask):
    """One with the word, which that replica finds."""
    name = put(title=f"About {word}")["arxiv_id"]
    wait_for(lambda: ask(word, use_llm=False)[1] == [name], "the replica finds the paper")
    return name


def test_a_widened_query_finds_more(ask, model, paper, word):
    model.say(f"transformers {word} attention")
    strategy, ids = ask("qqxxyyzzqqxxyyzz")
    assert strategy == "hybrid+llm" and paper in ids
    method, path, headers, body = model.stand_in.requests[-1]
    assert (method, path, headers["Authorization"]) == ("POST", "/v1/chat/completions", "Bearer sk-test")
    asked = json.loads(body)
    assert asked["model"] == "small" and asked["messages"][-1] == {"role": "user", "content": "qqxxyyzzqqxxyyzz"}


def test_it_is_not_asked_unless_wanted(ask, model, word):
    count = len(model.stand_in.requests)
    assert ask(word, use_llm=False)[0] in ("hybrid", "lexical")
    assert len(model.stand_in.requests) == count


NONSENSE = {
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


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_does_no_harm(ask, model, paper, word, name):
    model.reply = NONSENSE[name]
    strategy, ids = ask(word)
    assert strategy in ("hybrid", "lexical")
    assert ids == ask(word, use_llm=False)[1] == [paper]


def test_a_slow_model_is_not_waited_for(ask, model, impatient, paper, word):
    wait_for(lambda: ask(word, use_llm=False, by=impatient)[1] == [paper], "the replica finds the paper")
    done = threading.Event()
    model.reply = lambda request: done.wait() and request.cut("")
    try:
        strategy, ids = ask(word, by=impatient)
        assert strategy != "hybrid+llm" and ids == [paper]
    finally:
        done.set()


def test_an_endless_text_is_cut(ask, model, paper, word):
    model.say(f"{word} " + "é" * 5000)
    strategy, ids = ask("qqxxyyzzqqxxyyzz")
    assert strategy == "hybrid+llm" and paper in ids


def test_a_model_that_is_away(ask, model, paper, word):
    model.stand_in.close()
    strategy, ids = ask(word)
    assert strategy != "hybrid+llm" and ids == [paper]
