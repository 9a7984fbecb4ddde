"""Killing a service between what it has done and the commit that stores it.

    points = KillPoints(cluster, "svc-interests", db, ["provision_step", "task"])
    points.hold("task", "NEW.kind = 'provision' AND NEW.status = 'completed'")
    ...                                # start the work
    points.wait()                      # the statement waits for a lock that the test holds
    points.kill()                      # the process is killed and started again
    points.release()                   # at the end of the test, or for the statement to go on
"""

from lib.wait import wait_for

HOLD = """
CREATE OR REPLACE FUNCTION test_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(4711);
    RETURN NEW;
END $$;
CREATE TRIGGER test_hold BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION test_hold();
"""
WAITING = "SELECT FROM pg_stat_activity WHERE usename = %s AND wait_event_type = 'Lock' AND wait_event = 'advisory'"


class KillPoints:
    def __init__(self, cluster, service, db, tables):
        self.cluster, self.service, self.db, self.tables = cluster, service, db, tables

    def hold(self, table, condition):
        """Let updates of rows that meet the condition wait."""
        self.db.execute(HOLD.format(table=table, condition=condition))
        self.db.execute("SELECT pg_advisory_lock(4711)")

    def is_waiting(self):
        role = "expops_" + self.service.removeprefix("svc-")
        return self.db.execute(WAITING, [role]).fetchone() is not None

    def wait(self):
        wait_for(self.is_waiting, "the statement waits")

    def drop_triggers(self):
        for table in self.tables:
            self.db.execute(f"DROP TRIGGER IF EXISTS test_hold ON {table}")

    def kill(self):
        """Kill the process, then start it, as if its leases had expired meanwhile."""
        self.cluster.kill9(self.service)
        self.drop_triggers()
        self.db.execute("SELECT pg_advisory_unlock_all()")
        wait_for(lambda: not self.is_waiting(), "the statement of the killed process is over")
        self.db.execute("DELETE FROM lease")
        self.db.execute("UPDATE task SET lease_until = now() WHERE status = 'running'")
        self.cluster.start(self.service, len(self.cluster[self.service]))
        self.cluster.wait_ready(self.service)

    def release(self):
        """What waits goes on."""
        self.db.execute("SELECT pg_advisory_unlock_all()")
        self.drop_triggers()
        self.db.execute("DROP FUNCTION IF EXISTS test_hold")
