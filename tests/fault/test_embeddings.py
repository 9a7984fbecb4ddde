"""Restarts, kills and changes of the model with an external embedder: each paper is embedded exactly once."""

import json
import threading
import time

import pytest

from lib.outside.embedder import Embedder, EmbeddingReplica
from lib.wait import wait_for


@pytest.fixture
def model():
    made = Embedder()
    yield made
    made.close()


@pytest.fixture
def replica(cluster, model):
    """replica(...): start a svc-search that uses the embedder."""
    made = []

    def start(**changes):
        made.append(EmbeddingReplica(cluster, model, **changes))
        return made[-1].start()

    yield start
    for one in made:
        one.process.stop()
    assert [fault for one in made for fault in one.process.check()] == []


@pytest.fixture
def db(cluster):
    with cluster.postgres.connect("search") as connection:
        yield connection


@pytest.fixture
def store(db, model):
    """store(count): store papers, each with a new meaning; returns [(id, word, synonym)]."""
    numbers = iter(range(100))

    def insert(count=1):
        made = []
        for _ in range(count):
            word, synonym = model.learn()
            name = f"9901.{int.from_bytes(word[3:5].encode(), 'big') % 900:03}{next(numbers):02}"
            db.execute("INSERT INTO asset (arxiv_id, title) VALUES (%s, %s) ON CONFLICT (arxiv_id) DO UPDATE"
                       " SET title = excluded.title", [name, f"About {word}"])  # fmt: skip
            made.append((name, word, synonym))
        return made

    return insert


def finds(one, papers):
    """Wait until each paper is found by its synonym, that is by its vector."""
    for name, _, synonym in papers:
        wait_for(lambda name=name, synonym=synonym: one.nearest(synonym) == name, "found by meaning")


def test_two_replicas_embed_each_paper_once(replica, model, store):
    papers = store(10)
    one = replica(EMBEDDINGS_BATCH="3")
    two = replica(EMBEDDINGS_BATCH="3", EMBEDDINGS_MODEL=one.space)
    papers += store(10)
    for each in (one, two):
        finds(each, papers)
    assert [model.times(f"About {word}") for _, word, _ in papers] == [1] * len(papers)
    assert one.process.metric("expops_embedded_papers_total") + two.process.metric("expops_embedded_papers_total") >= 20


@pytest.mark.parametrize("end", ["stop", "kill9"])
@pytest.mark.parametrize("folder", ["", "kept"])
def test_a_restart_embeds_no_paper_again(replica, model, store, cluster, end, folder):
    data = str(cluster.servers.base / f"embedded-{end}") if folder else ""
    papers = store(5)
    one = replica(DATA_DIR=data)
    finds(one, papers)
    getattr(one.process, end)()
    papers += store(1)
    one.start()
    finds(one, papers)
    assert [model.times(f"About {word}") for _, word, _ in papers] == [1] * len(papers)


@pytest.mark.parametrize("end", ["stop", "kill9"])
def test_another_replica_repeats_an_interrupted_batch(replica, model, store, end):
    """The other replica does so when the lease of the first one has expired."""
    one = replica(EMBEDDINGS_TIMEOUT="500ms")
    finds(one, store(1))
    held, done = threading.Event(), threading.Event()

    def hold(request, texts):
        if held.is_set() or len(texts) < 2:
            return False
        held.set()
        return done.wait(100) and request.cut("")

    model.reply = hold
    try:
        papers = store(5)
        wait_for(held.is_set, "a batch is under way")
        getattr(one.process, end)()
        two = replica(EMBEDDINGS_TIMEOUT="500ms", EMBEDDINGS_MODEL=one.space)
        finds(two, papers)
    finally:
        done.set()


def test_retry_after_applies_to_all_replicas(replica, model, store):
    """One replica receives Retry-After; the other one waits, too."""
    one = replica()
    finds(one, store(1))
    two = replica(EMBEDDINGS_MODEL=one.space)
    times = []

    def busy(request, texts):
        if not any(text.startswith("About") for text in texts):
            return False
        times.append(time.monotonic())
        return request.reply(429, "{}", Retry_After="4") if len(times) == 1 else False

    model.reply = busy
    papers = store(1)
    for each in (one, two):
        finds(each, papers)
    assert times[1] - times[0] >= 4


@pytest.fixture
def many(db, store):
    """Enough papers for a merge, so that a snapshot is saved; withdrawn afterwards."""
    rows = [{"arxiv_id": f"9902.{n:05}", "title": f"number {n} of topic {n % 50}"} for n in range(2500)]
    db.execute(
        "INSERT INTO asset (arxiv_id, title) SELECT arxiv_id, title FROM jsonb_populate_recordset(NULL::asset, %s::jsonb)"
        " ON CONFLICT (arxiv_id) DO UPDATE SET title = excluded.title, is_deleted = false", [json.dumps(rows)])  # fmt: skip
    yield store(3)
    db.execute("UPDATE asset SET is_deleted = true WHERE arxiv_id LIKE '9902.%%'")


def test_vectors_of_two_models_are_kept_apart(replica, model, db, many, cluster):
    """A snapshot made with one model is not used with another. The vectors of both stay in Postgres."""
    folder = cluster.servers.base / "embedded-models"
    one = replica(DATA_DIR=str(folder), EMBEDDINGS_BATCH="512")
    first = one.space
    finds(one, many)

    def is_saved():
        """Whether all papers are embedded and the index is in its file."""
        (waiting,) = db.execute(
            "SELECT (SELECT max(change) FROM asset) > done FROM vector_space WHERE name = %s", [first]).fetchone()  # fmt: skip
        return not waiting and any(folder.glob("*.snapshot"))

    wait_for(is_saved, "all are embedded and the index is saved")
    one.process.restart()
    one.process.wait_ready()
    assert one.logged("index restored") == 1
    finds(one, many)
    one.process.stop()
    one.process.env["EMBEDDINGS_MODEL"] = "another-" + first
    one.start()
    assert one.logged("index restored") == 1
    finds(one, many)
    assert [model.times(f"About {word}") for _, word, _ in many] == [2] * len(many)
    one.process.stop()
    one.process.env["EMBEDDINGS_MODEL"] = first
    one.start()
    finds(one, many)
    assert [model.times(f"About {word}") for _, word, _ in many] == [2] * len(many)
    one.process.stop()
    one.process.env["EMBEDDINGS_URL"] = ""
    one.start()
    name, word, _ = many[0]
    wait_for(lambda: one.search(word)[0] == "hybrid", "the built-in embedder is trained")
    assert one.search(word)[1][0] == name


def test_embedding_continues_after_postgres_was_killed(replica, model, store, cluster):
    one = replica()
    finds(one, store(2))
    cluster.postgres.kill9()
    cluster.postgres.start()
    cluster.wait_ready("svc-search")
    word, synonym = model.learn()
    with cluster.postgres.connect("search") as connection:
        connection.execute("INSERT INTO asset (arxiv_id, title) VALUES ('9903.00001', %s) ON CONFLICT (arxiv_id)"
                           " DO UPDATE SET title = excluded.title", [f"About {word}"])  # fmt: skip
    finds(one, [("9903.00001", word, synonym)])
