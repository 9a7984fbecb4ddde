"""Tables of svc-interests."""


def account_of(db, interest):
    return db.execute("SELECT account_id FROM interest WHERE id = %s", [interest]).fetchone()[0]


def task_status(db, task):
    """That of a task of svc-interests itself, which the API does not show."""
    return db.execute("SELECT status FROM task WHERE id = %s", [task]).fetchone()[0]


def signals_of(db, interest):
    """[(paper, signal)] that the interest's model learns from."""
    return db.execute("SELECT arxiv_id, signal FROM signal WHERE interest_id = %s", [interest]).fetchall()


def feedback_of(db, recommendation):
    """The signals that a recommendation has, in their order."""
    return [signal for (signal,) in db.execute("SELECT signal FROM feedback WHERE recommendation_id = %s ORDER BY 1", [recommendation])]
