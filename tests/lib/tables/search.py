"""Tables of svc-search."""


def add_papers_on_weather(db, ids):
    """Papers that no interest is about."""
    db.execute("INSERT INTO asset (arxiv_id, title, abstract, categories) SELECT id, 'Weather ' || right(id, 2), 'Rain on day ' || id,"
               " '{physics.ao-ph}' FROM unnest(%s::text[]) AS id", [list(ids)])


def withdraw(db, ids):
    """Papers as if their source had deleted them."""
    db.execute("UPDATE asset SET is_deleted = true WHERE arxiv_id = ANY (%s)", [list(ids)])


def take_turns(db, source):
    """The turns to ask a source are taken for an hour."""
    db.execute("INSERT INTO source_pace VALUES (%s, now() + interval '1 hour')"
               " ON CONFLICT (name) DO UPDATE SET next_request_at = excluded.next_request_at", [source])


def free_turns(db):
    db.execute("DELETE FROM source_pace")


def change_of(db, paper):
    """The number of a paper's last change; None: there is no such paper."""
    row = db.execute("SELECT change FROM asset WHERE arxiv_id = %s", [paper]).fetchone()
    return row and row[0]
