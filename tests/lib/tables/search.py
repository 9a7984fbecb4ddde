"""Tables of svc-search."""

from lib.tables.common import nested_plans

# Papers


def add_papers_on_weather(db, ids):
    """Papers that no interest is about."""
    db.execute("INSERT INTO asset (arxiv_id, title, abstract, categories) SELECT id, 'Weather ' || right(id, 2), 'Rain on day ' || id,"
               " '{physics.ao-ph}' FROM unnest(%s::text[]) AS id", [list(ids)])


def withdraw(db, ids):
    """Papers as if their source had deleted them."""
    db.execute("UPDATE asset SET is_deleted = true WHERE arxiv_id = ANY (%s)", [list(ids)])


def add_paper_of_64_bytes(db, title):
    """A paper whose id an earlier version took, and the index does not."""
    db.execute("INSERT INTO asset (arxiv_id, title) VALUES (%s, %s)"
               " ON CONFLICT (arxiv_id) DO UPDATE SET title = excluded.title, is_deleted = false", ["biorxiv:10.1101/" + 48 * "1", title])


def plans_of_withdrawal(db, ids):
    """The plans by which the keys of papers leave the lists, as their source deletes them."""
    plans = nested_plans(db, "UPDATE asset SET is_deleted = true WHERE arxiv_id = ANY (%s)", list(ids))
    return [plan for plan in plans if "DELETE FROM asset_key" in plan]


def count_of(db, ids):
    """How many of the papers are stored."""
    return db.execute("SELECT count(*) FROM asset WHERE arxiv_id = ANY (%s)", [list(ids)]).fetchone()[0]


def change_of(db, paper):
    """The number of a paper's last change; None: there is no such paper."""
    row = db.execute("SELECT change FROM asset WHERE arxiv_id = %s", [paper]).fetchone()
    return row and row[0]


def source_texts(db, paper):
    """(title, abstract, authors) as the source has them; None: as they are shown."""
    return db.execute("SELECT source_title, source_abstract, source_authors FROM asset WHERE arxiv_id = %s", [paper]).fetchone()


def store_unconverted(db, paper, **texts):
    """An earlier version has stored the paper, with these texts as the source has them."""
    changes = "".join(f", {name} = %s" for name in texts)
    db.execute(f"UPDATE asset SET text_version = 0{changes} WHERE arxiv_id = %s", [*texts.values(), paper])


def add_days_ago(db, paper, days):
    """A paper was added so many days ago."""
    db.execute("UPDATE asset SET added_at = now() - %s * interval '1 day' WHERE arxiv_id = %s", [days, paper])


def counted(db):
    """The figures of GET /search/stats, counted from the papers."""
    total, with_container, references, classified = db.execute(
        "SELECT count(*), count(*) FILTER (WHERE has_container), coalesce(sum((reference_summary->>'total')::int), 0),"
        " coalesce(sum((reference_summary->>'classified')::int), 0) FROM asset WHERE NOT is_deleted"
    ).fetchone()
    categories = db.execute("SELECT c, count(DISTINCT arxiv_id) FROM asset, unnest(categories) c WHERE NOT is_deleted GROUP BY 1").fetchall()
    return total, with_container, references, classified, dict(categories)


# Turns of the sources


def take_turns(db, source):
    """The turns to ask a source are taken for an hour."""
    db.execute("INSERT INTO source_pace VALUES (%s, now() + interval '1 hour')"
               " ON CONFLICT (name) DO UPDATE SET next_request_at = excluded.next_request_at", [source])


def misplace_turn(db, source):
    """The clock of Postgres was a month ahead when the source was asked."""
    db.execute("INSERT INTO source_pace VALUES (%s, now() + interval '30 days')", [source])


def free_turns(db, source=None):
    """A source, or each of them, can be asked at once."""
    db.execute("DELETE FROM source_pace WHERE name = coalesce(%s, name)", [source])


def next_turn(db, source):
    """The seconds until the source is asked again; None: it is due."""
    row = db.execute("SELECT extract(epoch FROM next_request_at - now()) FROM source_pace WHERE name = %s", [source]).fetchone()
    return row and float(row[0])


# Scheduled sources: the sets that are harvested

HARVEST_COLUMNS = "state, records, added, changed, withdrawn, skipped, error, response_date, cursor, next_at, finished_at, fresh_at"


def harvested_set(db, name):
    """{column: value} of what is known of a set; None: nothing."""
    found = db.execute(f"SELECT {HARVEST_COLUMNS} FROM source WHERE set = %s", [name]).fetchone()
    return found and dict(zip(HARVEST_COLUMNS.split(", "), found, strict=True))


def forget_sets(db):
    db.execute("DELETE FROM source")


def make_due(db, name):
    """The time of a set has come, which may have waited for the papers of a later day."""
    db.execute("UPDATE source SET next_at = now(), slot = least(slot, now()) WHERE set = %s", [name])


def add_waiting_set(db, name):
    """A set of arXiv that was harvested and is due in an hour."""
    db.execute("INSERT INTO source (name, set, is_scheduled, state, slot, next_at, finished_at) "
               "VALUES ('arxiv', %s, true, 'waiting', now(), now() + interval '1 hour', now())", [name])


def add_running_set(db, name, cursor):
    """A set of arXiv whose run stopped at a cursor (JSON)."""
    db.execute("INSERT INTO source (name, set, is_scheduled, state, cursor, next_at, slot) "
               "VALUES ('arxiv', %s, true, 'running', %s, now(), now())", [name, cursor])


def lock_set(connection, name):
    """Until the connection's transaction ends, no page of the set can be stored."""
    connection.execute("SELECT FROM source WHERE set = %s FOR UPDATE", [name])


def page_waits(db):
    """Whether a transaction waits for another."""
    return db.execute("SELECT FROM pg_locks WHERE NOT granted AND transactionid IS NOT NULL").rowcount > 0


def steal_harvest(db):
    """Another process has taken the lease of arXiv, for nearly as long as one can be believed."""
    db.execute("UPDATE lease SET owner = 'thief', fence = fence + 1, until = clock_timestamp() + '19 s' WHERE name = 'harvest.arxiv'")


def end_harvest_lease(db):
    db.execute("UPDATE lease SET until = now() WHERE name = 'harvest.arxiv'")


def announced_day(db):
    """The day of arXiv's last announcement, such as 2026-11-26."""
    return db.execute("SELECT (announcement_before('arxiv', now()) AT TIME ZONE 'UTC')::date::text").fetchone()[0]


def next_slot(db, at, zone):
    """The next time that it is `at` o'clock."""
    return db.execute("SELECT slot_after(now(), %s, %s)", [at, zone]).fetchone()[0]


# The command import


def is_connected(db, application):
    """A process of this name has a connection, which may still be at work."""
    return db.execute("SELECT FROM pg_stat_activity WHERE application_name = %s", [application]).rowcount > 0
