"""Tables of svc-search."""


def withdraw(db, ids):
    """Papers as if their source had deleted them."""
    db.execute("UPDATE asset SET is_deleted = true WHERE arxiv_id = ANY (%s)", [list(ids)])


def change_of(db, paper):
    """The number of a paper's last change; None: there is no such paper."""
    row = db.execute("SELECT change FROM asset WHERE arxiv_id = %s", [paper]).fetchone()
    return row and row[0]
