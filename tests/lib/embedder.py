"""An OpenAI-compatible embeddings endpoint, and a svc-search that asks it."""

import json
import re
import secrets

import httpx

from lib.identity import signed
from lib.process import Process
from lib.servers import free_port
from lib.stand_in import StandIn
from lib.wait import PATIENCE_SECONDS
from lib.words import new_word

DIMENSION = 128
KEY = "sk-do-not-tell"


class Embedder:
    """A text's vector is the sum of the axes of its words; only words that were learned have one, and a text without any
    lies on axis 0. What a test wants otherwise it says with `reply`: a function that is given the request and the texts,
    and answers itself or returns False to have them answered well. `calls` has (texts, body, headers) of each so far."""

    def __init__(self):
        self.axes, self.calls = {}, []
        self.dimension = DIMENSION
        self.reply = lambda request, texts: False
        self.stand_in = StandIn(self.answer)
        self.url = self.stand_in.url + "/v1"

    def learn(self, count=2):
        """So many new words that mean the same, and no others do."""
        axis = 1 + len(set(self.axes.values()))
        assert axis < DIMENSION
        words = [new_word() for _ in range(count)]
        self.axes.update(dict.fromkeys(words, axis))
        return words

    def vector(self, text):
        vector = [0.0] * self.dimension
        for word in re.findall(r"\w+", text):
            if word in self.axes:
                vector[self.axes[word]] += 1.0
        return vector if any(vector) else [0.25] + vector[1:]

    def answer(self, request):
        body = json.loads(request.body)
        self.calls.append((body["input"], body, dict(request.headers)))
        if self.reply(request, body["input"]) is False:
            self.answer_well(request, body["input"])

    def answer_well(self, request, texts):
        entries = [{"object": "embedding", "index": at, "embedding": self.vector(text)} for at, text in enumerate(texts)]
        entries.reverse()  # nobody promised an order
        answer = {"object": "list", "data": entries, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        request.reply(200, json.dumps(answer), Content_Type="application/json")

    def times(self, word):
        """How often a text with the word was sent."""
        return sum(word in text for texts, _, _ in list(self.calls) for text in texts)

    def close(self):
        self.stand_in.close()


class EmbeddingReplica:
    """A svc-search with an outside embedder, on a port of its own, asked past the gateway."""

    def __init__(self, cluster, embedder, **changes):
        name = f"embedding-{secrets.token_hex(4)}"
        settings = {
            "LISTEN": f"127.0.0.1:{free_port()}", "DATA_DIR": "", "WORKERS": "1", "EMBEDDINGS_URL": embedder.url,
            "EMBEDDINGS_MODEL": name, "EMBEDDINGS_KEY": KEY, "EMBEDDINGS_TIMEOUT": "2s", **changes,
        }  # fmt: skip
        self.cluster, self.name = cluster, name
        self.process = Process(
            "svc-search", cluster.binary("svc-search"), cluster.settings("svc-search", name, **settings),
            cluster.servers.base / f"svc-search-{name}.log",
        )  # fmt: skip

    def start(self):
        self.process.start()
        self.process.wait_ready()
        return self

    @property
    def space(self):
        return self.process.env["EMBEDDINGS_MODEL"]

    def post(self, path, body, kind="personal"):
        answer = httpx.post(self.process.url + path, json=body, headers=signed(self.cluster, kind), timeout=PATIENCE_SECONDS)
        assert answer.status_code == 200, answer.text
        return answer

    def search(self, query, **members):
        """(strategy, ids), the best first."""
        answer = self.post("/api/v1.0/search/assets", {"query": query, **members})
        return answer.headers["X-Search-Strategy"], [hit["arxiv_id"] for hit in answer.json()]

    def nearest(self, word):
        """The best paper for a word, by words and vectors; None where the search went without vectors. Each time another
        query, so that none is known already."""
        strategy, ids = self.search(f"{word} {new_word()}")
        return ids[0] if strategy == "hybrid" and ids else None

    def logged(self, *texts):
        """How many lines of its log hold all of these."""
        return sum(all(text in line for text in texts) for line in self.process.log().splitlines())
