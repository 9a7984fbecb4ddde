"""Tables of svc-fleet."""


def age_access(db, repo):
    """Who may see a repository was asked five minutes before."""
    db.execute("UPDATE repo_access SET asked_at = asked_at - interval '5 minutes' WHERE repo_key = lower(%s)", [repo])
