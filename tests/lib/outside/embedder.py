"""A stub of an OpenAI-compatible embeddings endpoint, and a svc-search that uses it."""

import json
import re
import secrets

from lib.http import plain_http
from lib.http.identity import identity
from lib.outside.stub_server import StubServer
from lib.scenario.words import new_word

DIMENSION = 128
KEY = "sk-do-not-tell"


class Embedder:
    """The vector of a text is the sum of the axes of its words. Only words from learn() have an axis; a text without
    any of them is on axis 0. A test can replace the answer: `reply(request, texts)` sends an answer itself, or returns
    False for the normal answer. `calls` lists (texts, body, headers) of all calls so far."""

    def __init__(self):
        self.axes, self.calls = {}, []
        self.dimension = DIMENSION
        self.reply = lambda request, texts: False
        self.stub = StubServer(self.answer)
        self.url = self.stub.url + "/v1"

    def learn(self, count=2):
        """Return `count` new words with the same meaning: one new axis for all of them."""
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
            self.answer_normally(request, body["input"])

    def answer_normally(self, request, texts):
        entries = [{"object": "embedding", "index": at, "embedding": self.vector(text)} for at, text in enumerate(texts)]
        entries.reverse()  # the order of the entries is not specified
        answer = {"object": "list", "data": entries, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        request.reply(200, json.dumps(answer), Content_Type="application/json")

    def times(self, word):
        """How many texts with the word were sent."""
        return sum(word in text for texts, _, _ in list(self.calls) for text in texts)

    def close(self):
        self.stub.close()


class EmbeddingReplica:
    """A svc-search with an external embedder, on its own port, called without the gateway."""

    def __init__(self, cluster, embedder, **changes):
        name = f"embedding-{secrets.token_hex(4)}"
        settings = {
            "DATA_DIR": "", "WORKERS": "1", "EMBEDDINGS_URL": embedder.url, "EMBEDDINGS_MODEL": name, "EMBEDDINGS_KEY": KEY,
            "EMBEDDINGS_TIMEOUT": "2s", **changes,
        }  # fmt: skip
        self.cluster = cluster
        self.process = cluster.separate("svc-search", name, **settings)

    def start(self):
        self.process.start()
        self.process.wait_ready()
        return self

    @property
    def space(self):
        return self.process.env["EMBEDDINGS_MODEL"]

    def post(self, path, body, kind="personal"):
        sender = identity(self.cluster, "svc-search", kind)
        answer = plain_http.post(self.process.url + path, json=body, auth=sender)
        assert answer.status_code == 200, answer.text
        return answer

    def search(self, query, **members):
        """(strategy, ids), best first."""
        answer = self.post("/api/v1.0/search/assets", {"query": query, **members})
        return answer.headers["X-Search-Strategy"], [hit["arxiv_id"] for hit in answer.json()]

    def nearest(self, word):
        """The best paper for a word by hybrid search; None if the search used no vectors. Each call makes a new query,
        which is not in the cache of query vectors."""
        strategy, ids = self.search(f"{word} {new_word()}")
        return ids[0] if strategy == "hybrid" and ids else None

    def logged(self, *texts):
        """How many lines of its log contain all of these texts."""
        return sum(all(text in line for text in texts) for line in self.process.log().splitlines())
