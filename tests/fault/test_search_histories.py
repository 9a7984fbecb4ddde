"""One corpus, one ranking: answers depend neither on the history of the corpus, nor on that of a replica or of a training."""

import json
import math
import random
import struct
import threading
from dataclasses import dataclass

import pytest

from lib.system.search_replica import current_embedder, replica  # noqa: F401
from lib.system.servers import ROOT
from lib.wait import wait_for
from lib.scenario.words import new_word
from lib.tables import search as search_tables

SAMPLE = ROOT / "deploy" / "sample" / "papers.jsonl"

TRAINED_PAPERS = 1000  # enough that a training has all its epochs and each of them lasts a while
EPOCHS = 20

# The version follows every change of the corpus.
FOLLOWING = {"EMBEDDER_MAX_AGE": "0"}


@pytest.fixture
def db(cluster):
    with cluster.postgres.connect("search") as connection:
        yield connection


def withdraw_all(db):
    db.execute("UPDATE asset SET is_deleted = true WHERE NOT is_deleted")
    db.execute("DELETE FROM embedder")


@pytest.fixture
def empty(cluster, db):
    """empty(): withdraw all papers and forget the embedder, while no svc-search runs but those of the test."""
    cluster.stop("svc-search")
    yield lambda: withdraw_all(db)
    withdraw_all(db)


# --- Histories of a corpus ----------------------------------------------------------------------------------------------------


@dataclass
class Collection:
    """Papers in the form of arXiv's snapshot, and queries with judgments {arXiv id: gain}."""

    papers: list
    queries: list


@pytest.fixture(scope="module")
def collection():
    """The sample, in which each title asks for its paper."""
    papers = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    return Collection(papers, [(paper["title"], {paper["id"]: 1}) for paper in papers[::4]])


def ndcg10(ranking, gains):
    def sum_of(found):
        return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(found[:10]))

    return sum_of([gains.get(name, 0) for name, _ in ranking]) / sum_of(sorted(gains.values(), reverse=True))


def measure(one, collection):
    """The rankings of all queries, and their mean nDCG@10."""
    rankings = [one.ranking(query) for query, _ in collection.queries]
    scores = [ndcg10(ranking, gains) for ranking, (_, gains) in zip(rankings, collection.queries)]
    return rankings, sum(scores) / len(scores)


@pytest.fixture
def load(cluster, tmp_path):
    """load(papers): import papers, in this order."""

    def run(papers):
        path = tmp_path / "papers.jsonl"
        path.write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
        cluster.run("svc-search", "import", path)

    return run


def wait_settled(db, replicas):
    """Wait until the embedder is that of the corpus as it is now and all replicas use it. Returns its version."""

    def settled():
        row = db.execute(
            "SELECT version, change = (SELECT max(change) FROM asset) FROM embedder ORDER BY number DESC LIMIT 1"
        ).fetchone()
        return row and row[1] and {one.embedder() for one in replicas} == {row[0]} and row[0]

    for one in replicas:
        one.wait_all()
    return wait_for(settled, "the embedder is that of the corpus")


def test_two_histories_give_one_ranking(db, replica, empty, load, collection):  # noqa: F811
    """The papers come in one import. Then they come once more in another order and other pieces, some in an older state first,
    among others that are withdrawn later, with embedders that are trained on the way, and the replica is stopped and killed."""
    empty()
    load(collection.papers)
    plain = replica(**FOLLOWING)
    version = wait_settled(db, [plain])
    expected = measure(plain, collection)
    plain.process.stop()

    empty()
    noise = random.Random(1)
    shuffled = noise.sample(collection.papers, len(collection.papers))
    half = len(shuffled) // 2
    others = [{**paper, "id": f"9503.{number:05}"} for number, paper in enumerate(shuffled[: half // 4])]
    load([{**paper, "title": f"Draft {new_word()}"} for paper in shuffled[:half:3]] + others)
    other = replica(**FOLLOWING)
    assert wait_settled(db, [other]) != version
    load(shuffled[half:])
    other.process.kill9()
    search_tables.withdraw(db, [paper["id"] for paper in others])
    other.start()
    load(shuffled[half // 3 : half])
    other.process.restart()
    other.process.wait_ready()
    load(shuffled[: half // 3])

    assert wait_settled(db, [other]) == version
    assert measure(other, collection) == expected
    assert expected[1] > 0.3
    rebuilt = replica(**FOLLOWING)
    other.process.restart()
    other.process.wait_ready()
    assert wait_settled(db, [other, rebuilt]) == version
    assert measure(other, collection) == measure(rebuilt, collection) == expected


# --- Trainings that are killed ------------------------------------------------------------------------------------------------


def generated_papers():
    """Papers of a few hundred topics, whose words are of a generated vocabulary."""
    noise = random.Random(2)
    words = [f"z{a}{b}{c}q" for a in "bcdfghjk" for b in "bcdfghjk" for c in "bcdfghjkmnprtvwx"]
    topics = [noise.sample(words, 40) for _ in range(300)]
    for number in range(TRAINED_PAPERS):
        topic = topics[number % len(topics)]
        text = [noise.choice(topic if noise.random() < 0.8 else words) for _ in range(130)]
        sentences = [" ".join(text[at : at + 13]).capitalize() + "." for at in range(10, 130, 13)]
        yield {"id": f"9504.{number:05}", "title": " ".join(text[:10]), "abstract": " ".join(sentences), "authors": "", "categories": "cs.LG"}


class Training:
    """What is seen of a training from outside: its checkpoint in the replica's folder."""

    HEADER = struct.Struct("=Q32sIII")  # magic, fingerprint, terms, dimension, epochs

    def __init__(self, db, one):
        (source,) = db.execute("SELECT id FROM index_source").fetchone()
        self.db, self.one = db, one
        self.path = one.folder / f"index-{source}.training"

    def epochs(self):
        """Epochs in the checkpoint; None: there is none."""
        try:
            data = self.path.read_bytes()[: self.HEADER.size]
        except FileNotFoundError:
            return None
        return self.HEADER.unpack(data)[4]

    def has_begun(self):
        return self.db.execute("SELECT FROM lease WHERE name = 'embedder'").rowcount == 1

    def kill(self):
        """Kill the process, and let its lease expire."""
        assert current_embedder(self.db) is None
        self.one.process.kill9()
        left = self.epochs()
        self.db.execute("DELETE FROM lease WHERE name = 'embedder'")
        return left


def kill_while_it_stores(cluster, db, training):
    """Kill it when all is trained, and the version is about to be committed."""
    waits = "SELECT FROM pg_stat_activity WHERE usename = 'expops_search' AND wait_event_type = 'Lock'"
    with cluster.postgres.connect("search") as locker, locker.transaction():
        locker.execute("LOCK TABLE embedder IN EXCLUSIVE MODE")
        wait_for(lambda: db.execute(waits).rowcount == 1, "it stores the version")
        return training.kill()


def watch(training, seen, is_over):
    while not is_over.wait(0.01):
        seen.append(training.epochs())


def test_a_killed_training_goes_on_and_gives_the_same_version(cluster, db, replica, empty, load):  # noqa: F811
    """Killed in the analysis, after it, in several epochs, and while the version is stored."""
    empty()
    load(generated_papers())
    one = replica()
    training = Training(db, one)
    wait_for(training.has_begun, "it trains")
    training.kill()
    seen, is_over = [], threading.Event()
    watcher = threading.Thread(target=watch, args=(training, seen, is_over))
    watcher.start()
    try:
        for least in (0, 1, 2, 4, 6):
            one.start()
            wait_for(lambda least=least: (training.epochs() or 0) >= least and training.epochs() is not None, "epochs are done")
            left = training.kill()
            assert least <= left < EPOCHS
        one.start()
        assert kill_while_it_stores(cluster, db, training) == EPOCHS
    finally:
        is_over.set()
        watcher.join()
    epochs = [number for number in seen if number is not None]
    assert epochs == sorted(epochs), "a training began again"
    one.start()
    version = wait_for(one.embedder, "the version is used")
    wait_for(lambda: not training.path.exists(), "the checkpoint is removed")
    queries = [paper["title"] for paper in list(generated_papers())[::100]]
    rankings = [one.ranking(query) for query in queries]
    one.process.stop()

    db.execute("DELETE FROM embedder")
    undisturbed = replica()
    assert wait_for(undisturbed.embedder, "an undisturbed training ends") == version
    assert [undisturbed.ranking(query) for query in queries] == rankings
