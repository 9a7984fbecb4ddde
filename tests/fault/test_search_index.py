"""The index of every svc-search replica follows Postgres: restarts, kills, damaged files, database restores."""

import json
import secrets
import threading

import psycopg
import pytest

from lib.system.search_replica import current_embedder, replica  # noqa: F401
from lib.wait import wait_for
from lib.scenario.words import new_word
from lib.tables import search as search_tables

PAPERS = 2500  # enough for a merge, which saves a snapshot
LOADED_PAPERS = 4500
IMPORTED_PAPERS = 20_000  # enough that the newest ones are read first


@pytest.fixture
def word():
    return new_word()


@pytest.fixture
def db(cluster):
    with cluster.postgres.connect("search") as connection:
        yield connection


@pytest.fixture
def store(db):
    """store(word, count): store papers with the word in their titles; returns their ids."""

    def insert(word, count=1):
        first = int(secrets.token_hex(2), 16) % 60000
        ids = [f"{9700 + (first + n) // 100000:04}.{(first + n) % 100000:05}" for n in range(count)]
        papers = [
            {"arxiv_id": name, "title": f"{word} number {n}", "abstract": f"Paper {n} is about topic {n % 50} of {n % 7}."}
            for n, name in enumerate(ids)
        ]
        db.execute(
            "INSERT INTO asset (arxiv_id, title, abstract, categories) SELECT arxiv_id, title, abstract, '{cs.LG}'"
            " FROM jsonb_populate_recordset(NULL::asset, %s::jsonb)"
            " ON CONFLICT (arxiv_id) DO UPDATE SET title = excluded.title, abstract = excluded.abstract, is_deleted = false",
            [json.dumps(papers)],
        )
        return ids

    return insert


@pytest.fixture
def many(db, store, word):
    """Enough papers with the word for a merge, so that a snapshot is saved; withdrawn afterwards."""
    ids = store(word, PAPERS)
    yield ids
    search_tables.withdraw(db, ids)


@pytest.fixture
def temporary(db, word):
    """Withdraw the papers whose titles begin with the word afterwards."""
    yield
    db.execute("UPDATE asset SET is_deleted = true WHERE starts_with(title, %s)", [word])


def wait_saved(replica):
    """Wait until the replica has a snapshot with all papers."""
    replica.wait_all()
    wait_for(lambda: replica.snapshots(), "the index is saved")


def test_a_change_reaches_every_replica(replica, db, store):
    replicas = [replica(), replica()]
    word = "zqaaa" + secrets.token_hex(4).translate(str.maketrans("0123456789", "ghijklmnop"))
    (name,) = store(word)
    for one in replicas:
        wait_for(lambda one=one: one.find(word) == {name}, "found everywhere")
    db.execute("UPDATE asset SET title = 'Another' WHERE arxiv_id = %s", [name])
    for one in replicas:
        wait_for(lambda one=one: one.find(word) == set(), "changed everywhere")
    db.execute("UPDATE asset SET title = %s WHERE arxiv_id = %s", [word, name])
    search_tables.withdraw(db, [name])
    for one in replicas:
        wait_for(lambda one=one: one.documents() == one.total(), "withdrawn everywhere")
        assert one.find(word) == set()


def test_a_change_is_found_before_the_import_ahead_of_it(replica, db, store, word):
    one = replica()
    with db.transaction():
        ids = store(word, IMPORTED_PAPERS)
        ids += store(f"{word}late")
    wait_for(lambda: one.find(f"{word}late"), "the last paper is found")
    assert one.documents() < one.total()
    one.wait_all()
    with db.transaction():
        search_tables.withdraw(db, ids)
        (late,) = store(f"{word}last")
    wait_for(lambda: one.find(f"{word}last") == {late}, "the last paper is found")
    one.wait_all()
    assert one.find(word) == set()


def test_a_restart_restores_the_index(replica, many, word, store):
    one = replica()
    wait_saved(one)
    one.process.stop()
    (late,) = store(f"{word}late")
    one.start()
    assert one.count("index restored") == 1
    wait_for(lambda: one.find(f"{word}late") == {late}, "the paper stored meanwhile is found")
    one.wait_all()


def test_a_restart_after_a_kill_restores_the_index(replica, many, word):
    one = replica()
    wait_saved(one)
    one.process.kill9()
    one.start()
    one.wait_all()
    assert one.count("index restored") == 1
    assert len(one.find(word)) == 100


def wait_one_embedder(db, replicas):
    """Wait until no version is to be trained and all replicas use the current one, which is returned."""

    def settled():
        papers, changed = db.execute(
            "SELECT e.papers, (SELECT count(*) FROM asset WHERE NOT is_deleted) FROM embedder e ORDER BY number DESC LIMIT 1"
        ).fetchone() or (0, 0)
        version = current_embedder(db)
        is_right = papers and papers / 1.5 < changed < papers * 1.5
        return version if is_right and {one.embedder() for one in replicas} == {version} else None

    for one in replicas:
        one.wait_all()
    return wait_for(settled, "all replicas use one embedder")


QUERIES = ["topic 7 of 3", "paper about a topic", "number 12", "abstract methods for topic 31"]


def test_replicas_answer_alike(replica, db, store, word, temporary):
    """One process trains the embedder for all, whichever replica papers came through and whatever its history."""
    replicas = [replica()]
    store(word, 300)
    replicas[0].wait_all()
    replicas.append(replica())
    ids = store(f"{word}more", 700)
    db.execute("UPDATE asset SET title = title || ' again' WHERE arxiv_id = ANY (%s)", [ids[::3]])
    search_tables.withdraw(db, ids[::5])
    version = wait_one_embedder(db, replicas)
    replicas.append(replica())
    wait_one_embedder(db, replicas)
    for query in [word, *QUERIES]:
        answers = [one.ranking(query) for one in replicas]
        assert answers[0] and answers[1:] == answers[:1] * 2
    replicas[1].process.stop()
    adopted = replicas[1].count("embedder adopted")
    replicas[1].start()
    assert replicas[1].embedder() == version
    assert [replicas[1].ranking(query) for query in QUERIES] == [replicas[0].ranking(query) for query in QUERIES]
    assert replicas[1].count("embedder adopted") == adopted


def test_replicas_follow_a_new_version(replica, db, store, word, temporary):
    replicas = [replica(), replica()]
    store(word, 50)
    before = wait_one_embedder(db, replicas)
    papers = replicas[0].total()
    (number,) = db.execute("SELECT max(number) FROM embedder").fetchone()
    store(f"{word}grown", papers)

    def followed():
        assert replicas[0].ranking(QUERIES[0])  # it answers all the time
        return current_embedder(db) != before

    wait_for(followed, "a new version is trained")
    wait_one_embedder(db, replicas)
    assert db.execute("SELECT count(*) <= 2, max(number) = %s FROM embedder", [number + 1]).fetchone() == (True, True)
    for query in [word, *QUERIES]:
        assert replicas[0].ranking(query) == replicas[1].ranking(query)


def test_a_checkpoint_of_no_use_is_removed(replica, db, store, word, temporary):
    """A replica was killed in a training that another one has finished."""
    store(word, 40)
    one = replica()
    wait_one_embedder(db, [one])
    one.process.stop()
    (source,) = db.execute("SELECT id FROM index_source").fetchone()
    checkpoint = one.folder / f"index-{source}.training"
    checkpoint.write_bytes(b"left")
    one.start()
    wait_for(lambda: not checkpoint.exists(), "the checkpoint is removed")


@pytest.mark.parametrize("damage", ["cut", "byte", "empty", "other"])
def test_a_damaged_snapshot_is_not_used(replica, many, word, damage):
    one = replica()
    wait_saved(one)
    one.process.stop()
    (path,) = one.snapshots()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"cut": data[: len(data) // 2], "byte": data, "empty": b"", "other": b"nonsense" * 100}[damage])
    one.start()
    one.wait_all()
    assert one.count("index restored") == 0
    assert len(one.find(word)) == 100


def test_the_index_works_without_data_dir(replica, many, word):
    one = replica()
    one.process.stop()
    one.process.env["DATA_DIR"] = ""
    one.start()
    one.wait_all()
    assert len(one.find(word)) == 100


def test_the_index_works_when_data_dir_cannot_be_written(replica, many, word):
    one = replica()
    one.process.stop()
    one.process.env["DATA_DIR"] = "/proc/no/such/folder"
    one.start()
    one.wait_all()
    assert one.count("cannot save the index in DATA_DIR") == 1
    assert len(one.find(word)) == 100


def test_stale_snapshot_files_are_removed(replica, many):
    one = replica()
    wait_saved(one)
    one.process.stop()
    for name in ("index-00000000-0000-7000-8000-000000000000.snapshot", one.snapshots()[0].name + ".aB3xYz"):
        (one.folder / name).write_bytes(b"old")
    (one.folder / "keep.me").write_bytes(b"")
    one.start()
    one.wait_all()
    assert len(one.snapshots()) == 1 and (one.folder / "keep.me").exists()


def test_a_stop_during_a_merge_loses_no_paper(replica, many, word):
    """The process exits with status 0 (checked by the fixture), and no paper is missing after the next start."""
    one = replica()
    one.process.stop()
    for path in one.snapshots():
        path.unlink()
    one.process.start()
    wait_for(lambda: one.count("starting") == 2, "it runs")
    one.process.stop()
    one.start()
    one.wait_all()
    assert len(one.find(word)) == 100


def test_the_index_follows_again_after_postgres_was_killed(cluster, replica, store):
    one = replica()
    one.wait_all()
    word = "zqpgk" + secrets.token_hex(4).translate(str.maketrans("0123456789", "ghijklmnop"))
    cluster.postgres.kill9()
    wait_for(lambda: one.count("cannot read changes from Postgres"), "the failure is logged")
    cluster.postgres.start()
    with cluster.postgres.connect("search") as connection:
        connection.execute("INSERT INTO asset (arxiv_id, title) VALUES ('9699.00001', %s) ON CONFLICT (arxiv_id)"
                           " DO UPDATE SET title = excluded.title", [word])  # fmt: skip
    wait_for(lambda: one.find(word) == {"9699.00001"}, "the index follows again")


def test_an_embedder_of_the_former_release_is_replaced(replica, db, store, temporary, word):
    """The version that the former release trained is replaced at once by one of the present recipe, which the replicas keep
    when a process of the former release stores another one."""
    store(word, 40)
    replicas = [replica(), replica()]
    before = wait_one_embedder(db, replicas)
    (number,) = db.execute("SELECT number FROM embedder WHERE version = %s", [before]).fetchone()
    db.execute("UPDATE embedder SET recipe = 1, fingerprint = '\\x00'")
    newer = "SELECT FROM embedder WHERE recipe > 1 AND number > %s"
    wait_for(lambda: db.execute(newer, [number]).rowcount == 1, "it is trained again")
    version = wait_one_embedder(db, replicas)
    db.execute(
        "INSERT INTO embedder (version, format, bytes, fingerprint, papers, change)"
        " SELECT %s, format, 1, fingerprint, papers, change FROM embedder WHERE version = %s",
        [word, version],
    )
    (name,) = store(f"{word}later")
    for one in replicas:
        wait_for(lambda one=one: name in one.find(f"{word}later"), "the index follows")
        assert one.embedder() == version and one.count("cannot load the embedder") == 0
    db.execute("DELETE FROM embedder WHERE version = %s", [word])


def test_a_read_is_repeated_after_postgres_was_killed(cluster, replica, store, word):
    """Reading the papers fails at some point and is repeated; no paper is missing afterwards."""
    ids = store(word, LOADED_PAPERS)
    one = replica()
    for start in range(2, 5):
        one.wait_all()
        one.process.stop()
        for path in one.snapshots():
            path.unlink()
        one.process.start()
        wait_for(lambda start=start: one.count("starting") == start, "it runs")
        cluster.postgres.kill9()
        cluster.postgres.start()
        one.process.wait_ready()
    one.wait_all()
    assert len(one.find(word)) == 100
    with cluster.postgres.connect("search") as connection:
        search_tables.withdraw(connection, ids)


@pytest.fixture
def unreadable(db):
    """unreadable(arxiv_id): reading this paper's row fails, until unreadable(None)."""

    def make(arxiv_id):
        db.execute("ALTER TABLE asset DISABLE ROW LEVEL SECURITY")
        db.execute("DROP POLICY IF EXISTS unreadable ON asset")
        if arxiv_id:
            db.execute(f"CREATE POLICY unreadable ON asset USING (arxiv_id <> '{arxiv_id}' OR 1 / (length(title) * 0) = 0)")
            db.execute("ALTER TABLE asset ENABLE ROW LEVEL SECURITY")
            db.execute("ALTER TABLE asset FORCE ROW LEVEL SECURITY")

    yield make
    make(None)


def test_a_snapshot_saved_with_a_gap_loses_no_paper(cluster, replica, db, store, word, unreadable):
    """While older papers cannot be read, newer changes are applied, and the index is saved. The process is killed. Its next
    start reads the missing papers."""
    cluster.stop("svc-search")
    one = replica()
    one.process.stop()
    for path in one.snapshots():
        path.unlink()
    ids = store(word, 2 * LOADED_PAPERS)
    unreadable(ids[LOADED_PAPERS + LOADED_PAPERS // 2])
    one.process.start()
    wait_for(lambda: one.count("cannot read changes from Postgres"), "a read failed")
    ids += store(f"{word}late", PAPERS)
    wait_for(one.snapshots, "the index is saved")
    one.process.kill9()
    unreadable(None)
    for _ in range(2):
        one.start()
        one.wait_all()
        one.process.stop()
    search_tables.withdraw(db, ids)


def test_a_paper_whose_id_is_too_long_is_left_out(replica, db, store, word, temporary):
    one = replica()
    search_tables.add_paper_of_64_bytes(db, f"{word} long")
    (name,) = store(f"{word} next")
    wait_for(lambda: one.find(word) == {name}, "the index follows")
    assert one.count("the id of a paper is too long for the index")


def test_writers_commit_in_the_order_of_their_change_numbers(cluster, db, store, word):
    """A transaction that writes a paper waits for the one that has drawn the number before, so nobody sees a number before
    a lower one that is committed later. A transaction that is rolled back leaves a hole."""
    first, second, third = (store(f"{word}{name}")[0] for name in "abc")
    touch = "UPDATE asset SET license = %s WHERE arxiv_id = %s RETURNING change"
    changes = []
    with psycopg.connect(cluster.postgres.url(), options="-c search_path=search") as slow:
        (before,) = slow.execute(touch, [word, first]).fetchone()

        def write_second():
            with cluster.postgres.connect("search") as other:
                changes.extend(other.execute(touch, [word, second]).fetchone())

        writer = threading.Thread(target=write_second)
        writer.start()
        blocked = "SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        wait_for(lambda: db.execute(blocked, [slow.info.backend_pid]).rowcount == 1, "the second writer waits")
        assert db.execute("SELECT FROM asset WHERE change >= %s", [before]).rowcount == 0
        slow.commit()
        writer.join()
    with psycopg.connect(cluster.postgres.url(), options="-c search_path=search") as undone:
        (hole,) = undone.execute(touch, ["undone", third]).fetchone()
        undone.rollback()
    (after,) = db.execute(touch, [word, third]).fetchone()
    assert [before, *changes, hole, after] == sorted([before, *changes, hole, after])


def alter(db, statement):
    """Change papers without new change numbers and without a notification."""
    db.execute("ALTER TABLE asset DISABLE TRIGGER USER")
    db.execute(statement)
    db.execute("ALTER TABLE asset ENABLE TRIGGER USER")


@pytest.mark.parametrize("is_replaced", [True, False])
def test_the_process_exits_when_the_database_was_replaced(cluster, replica, db, many, is_replaced):
    """The database is replaced by another, or restored from a backup, while the process runs. The process exits with
    status 0, and after a restart its index matches the database."""
    cluster.stop("svc-search")
    alter(db, "UPDATE asset SET change = change + 1000000")
    one = replica()
    wait_saved(one)
    alter(db, "UPDATE asset SET change = change - 1000000")
    if is_replaced:
        db.execute("UPDATE index_source SET id = gen_random_uuid()")
    wait_for(lambda: not one.process.is_running, "it ends")
    assert one.process.popen.returncode == 0
    assert one.count("the database was replaced or restored from a backup: exiting to rebuild the index") == 1
    one.start()
    one.wait_all()
    assert one.count("index restored") == 0
