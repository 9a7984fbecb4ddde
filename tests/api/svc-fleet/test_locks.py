"""The rows that repositories are locked by."""

from lib.wait import wait_for

NAME = "acme/held"


def test_locks_that_nobody_holds_are_deleted(cluster, db):
    db.execute("INSERT INTO repo_guard (repo_key) SELECT 'acme/' || n FROM generate_series(1, 2500) n ON CONFLICT DO NOTHING")
    with cluster.postgres.connect("fleet") as other, other.transaction():
        other.execute("SELECT repo_lock(%s)", [NAME])
        other.execute("SELECT repo_lock('acme/1')")
        process = cluster.separate("svc-fleet", "forgetful")
        process.start()
        rows = "SELECT array_agg(repo_key ORDER BY repo_key) FROM repo_guard WHERE repo_key LIKE 'acme/%'"
        wait_for(lambda: db.execute(rows).fetchone()[0] == ["acme/1"], "the other locks are deleted")
    process.stop()
    assert db.execute("SELECT count(*) FROM repo_guard WHERE repo_key = %s", [NAME]).fetchone()[0] == 1
