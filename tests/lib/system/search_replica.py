"""A svc-search of a test's own, and the built-in embedder that the replicas share."""

import secrets

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.wait import PATIENCE_SECONDS, wait_for


class Replica:
    """A svc-search with its own port and folder, called without the gateway."""

    def __init__(self, cluster, number, **settings):
        self.cluster = cluster
        self.folder = cluster.servers.base / f"index-{number}"
        self.process = cluster.separate("svc-search", f"index-{number}", DATA_DIR=str(self.folder), **settings)

    def start(self):
        self.process.start()
        self.process.wait_ready()

    def call(self, method, path, body=None):
        answer = plain_http.request(
            method, f"{self.process.url}/api/v1.0{path}", json=body,
            auth=identity(self.cluster, "svc-search"), timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert answer.status_code == 200, answer.text
        return answer.json()

    def find(self, query):
        """The papers that contain a word of the query, without those that are only similar in meaning."""
        hits = self.call("POST", "/search/assets", {"query": query, "max_results": 100})
        return {hit["arxiv_id"] for hit in hits if hit["highlights"]}

    def ranking(self, query):
        """Ids and scores of the answer to a query."""
        hits = self.call("POST", "/search/assets", {"query": query, "max_results": 100})
        return [(hit["arxiv_id"], hit["relevance_score"]) for hit in hits]

    def embedder(self):
        """The version of the embedder that it answers by."""
        return self.call("GET", "/search/stats")["index"]["embedder"]

    def documents(self):
        return self.call("GET", "/search/stats")["index"]["documents"]

    def total(self):
        return self.call("GET", "/search/stats")["total_assets"]

    def wait_all(self):
        wait_for(lambda: self.documents() == self.total(), "the index has all papers")

    def snapshots(self):
        return sorted(self.folder.glob("index-*.snapshot*"))

    def count(self, message):
        return self.process.log().count(f'"message":"{message}"')


@pytest.fixture
def replica(cluster):
    """replica(): start another svc-search."""
    made = []

    def start(**settings):
        made.append(Replica(cluster, secrets.token_hex(4), **settings))
        made[-1].start()
        return made[-1]

    yield start
    for one in made:
        one.process.stop()
    assert [fault for one in made for fault in one.process.check()] == []


def current_embedder(db):
    row = db.execute("SELECT version FROM embedder ORDER BY number DESC LIMIT 1").fetchone()
    return row and row[0]
