"""Tables of svc-evalenv."""


def reach_deadline(db, work):
    """A build or run has taken as long as it may."""
    db.execute("UPDATE work SET deadline_at = now() WHERE id = %s", [work])


def expire_claim(db, work):
    """The worker of a build or run has not been heard of for as long as it may."""
    db.execute("UPDATE work SET lease_until = now() - interval '1 second' WHERE id = %s", [work])
