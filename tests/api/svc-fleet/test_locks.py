"""The rows that repositories are locked by."""

from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

NAME = "acme/held"


def test_locks_that_nobody_holds_are_deleted(cluster, db):
    fleet_tables.add_locks(db, "acme", 2500)
    with cluster.postgres.connect("fleet") as other, other.transaction():
        fleet_tables.lock_repository(other, NAME)
        fleet_tables.lock_repository(other, "acme/1")
        process = cluster.separate("svc-fleet", "forgetful")
        process.start()
        wait_for(lambda: fleet_tables.locks_of(db, "acme") == ["acme/1"], "the other locks are deleted")
    process.stop()
    assert NAME in fleet_tables.locks_of(db, "acme")
