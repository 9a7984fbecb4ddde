"""When sources announce, when a set is harvested next and when it is late: the functions of SQL that say so, for days on which clocks
change."""

import pytest

from lib.scenario.harvest import table  # noqa: F401


@pytest.mark.parametrize(
    ("after", "at", "zone", "expected"),
    [
        ("2026-03-07 12:00Z", "22:30", "America/New_York", "2026-03-08 03:30Z"),
        ("2026-03-08 12:00Z", "22:30", "America/New_York", "2026-03-09 02:30Z"),  # US clocks went forward
        ("2026-03-07 12:00Z", "02:30", "America/New_York", "2026-03-08 07:30Z"),  # 02:30 does not exist: 03:30
        ("2026-10-31 12:00Z", "22:30", "America/New_York", "2026-11-01 02:30Z"),
        ("2026-11-01 12:00Z", "22:30", "America/New_York", "2026-11-02 03:30Z"),  # and back
        ("2026-11-01 03:00Z", "01:30", "America/New_York", "2026-11-01 06:30Z"),  # twice: the second
        ("2027-03-14 12:00Z", "22:30", "America/New_York", "2027-03-15 02:30Z"),
        ("2027-11-07 12:00Z", "22:30", "America/New_York", "2027-11-08 03:30Z"),
        ("2026-03-28 12:00Z", "06:00", "Europe/Berlin", "2026-03-29 04:00Z"),  # ours
        ("2026-10-25 12:00Z", "06:00", "Europe/Berlin", "2026-10-26 05:00Z"),
        ("2026-06-01 22:00Z", "22:00", "UTC", "2026-06-02 22:00Z"),
    ],
)
def test_slots(db, after, at, zone, expected):
    found = db.execute("SELECT slot_after(%s, %s, %s) = %s", [after, at, zone, expected]).fetchone()
    assert found == (True,)


@pytest.mark.parametrize(
    ("moment", "before", "after"),
    [
        ("2026-11-25 12:00Z", "2026-11-25 01:00Z", "2026-11-26 01:00Z"),  # Wednesday
        ("2026-11-28 12:00Z", "2026-11-27 01:00Z", "2026-11-30 01:00Z"),  # Saturday
        ("2026-11-02 01:00Z", "2026-11-02 01:00Z", "2026-11-03 01:00Z"),  # the evening of the change
        ("2026-10-31 23:00Z", "2026-10-30 00:00Z", "2026-11-02 01:00Z"),
        ("2026-03-08 23:59Z", "2026-03-06 01:00Z", "2026-03-09 00:00Z"),
        ("2026-03-09 00:00Z", "2026-03-09 00:00Z", "2026-03-10 00:00Z"),
        ("2027-03-14 12:00Z", "2027-03-12 01:00Z", "2027-03-15 00:00Z"),
        ("2027-03-15 00:00Z", "2027-03-15 00:00Z", "2027-03-16 00:00Z"),
        ("2027-11-07 12:00Z", "2027-11-05 00:00Z", "2027-11-08 01:00Z"),
        ("2027-11-08 01:00Z", "2027-11-08 01:00Z", "2027-11-09 01:00Z"),
    ],
)
def test_announcements(db, moment, before, after):
    query = "SELECT announcement_before('arxiv', %(moment)s) = %(before)s, announcement_after('arxiv', %(moment)s) = %(after)s"
    assert db.execute(query, {"moment": moment, "before": before, "after": after}).fetchone() == (True, True)


@pytest.mark.parametrize(
    ("moment", "before", "after"),
    [
        ("2026-11-25 05:00Z", "2026-11-25 00:00Z", "2026-11-26 00:00Z"),  # Wednesday: the papers of Tuesday
        ("2026-11-29 05:00Z", "2026-11-28 00:00Z", "2026-12-01 00:00Z"),  # Sunday
    ],
)
def test_days_of_biorxiv(db, moment, before, after):
    query = "SELECT announcement_before('biorxiv', %s) = %s, announcement_after('biorxiv', %s) = %s"
    assert db.execute(query, [moment, before, moment, after]).fetchone() == (True, True)


TUESDAY = "2026-11-25 03:30Z"  # 22:30 in New York
FRIDAY = "2026-11-28 03:30Z"


@pytest.mark.parametrize(
    ("slot", "fresh", "repeats", "is_failed", "moment", "state", "next_at"),
    [
        (TUESDAY, "2026-11-25 03:31Z", 0, False, "2026-11-25 03:40Z", "idle", "2026-11-26 03:30Z"),
        (TUESDAY, "2026-11-24 03:31Z", 0, False, "2026-11-25 03:40Z", "waiting", "2026-11-25 04:10Z"),
        (TUESDAY, None, 1, False, "2026-11-25 04:10Z", "waiting", "2026-11-25 05:10Z"),
        (TUESDAY, None, 5, False, "2026-11-25 08:10Z", "idle", "2026-11-26 03:30Z"),  # no later than 09:00 UTC
        (TUESDAY, None, 0, True, "2026-11-25 03:40Z", "failed", "2026-11-25 04:40Z"),
        (TUESDAY, None, 5, True, "2026-11-25 08:10Z", "failed", "2026-11-26 03:30Z"),
        (FRIDAY, None, 0, False, "2026-11-28 03:40Z", "idle", "2026-11-29 03:30Z"),  # for corrections
        (TUESDAY, "2026-11-24 03:31Z", 0, False, "2026-11-24 15:00Z", "idle", "2026-11-25 03:30Z"),  # asked for before the slot
        (TUESDAY, "2026-11-24 03:31Z", 0, True, "2026-11-24 15:00Z", "failed", "2026-11-25 03:30Z"),
    ],
)
def test_what_follows_a_run(table, slot, fresh, repeats, is_failed, moment, state, next_at):
    table.execute(
        "INSERT INTO source (name, set, is_scheduled, slot, fresh_at, repeats) VALUES ('arxiv', 'x', true, %s, %s, %s)",
        [slot, fresh, repeats],
    )
    plan = table.execute(
        "SELECT p.state, p.next_at >= %s AND p.next_at <= %s::timestamptz + interval '10 minutes' "
        "FROM source s, source_plan(s, %s, '22:30', 'America/New_York', %s) p",
        [next_at, next_at, is_failed, moment],
    ).fetchone()
    assert plan == (state, True)


@pytest.mark.parametrize(
    ("fresh", "moment", "late"),
    [
        ("2026-11-25 03:31Z", "2026-11-26 06:59Z", None),
        ("2026-11-25 03:31Z", "2026-11-26 07:00Z", "2026-11-26 07:00Z"),  # six hours after Wednesday's
        ("2026-11-27 03:31Z", "2026-11-30 06:59Z", None),  # from Thursday to Sunday
        (None, "2026-11-25 07:00Z", "2026-11-25 07:00Z"),
    ],
)
def test_lateness(table, fresh, moment, late):
    table.execute(
        "INSERT INTO source (name, set, is_scheduled, fresh_at, created_at) VALUES ('arxiv', 'x', true, %s, '2026-11-24 12:00Z')",
        [fresh],
    )
    query = "SELECT source_late_since(s, %s) IS NOT DISTINCT FROM %s::timestamptz FROM source s"
    assert table.execute(query, [moment, late]).fetchone() == (True,)


@pytest.mark.parametrize(
    ("fresh", "moment", "missed"),
    [
        ("2026-11-25 03:31Z", "2026-11-26 06:59Z", 0),
        ("2026-11-25 03:31Z", "2026-11-26 07:00Z", 1),
        ("2026-11-25 03:31Z", "2026-11-27 07:00Z", 2),
        ("2026-11-27 03:31Z", "2026-11-30 06:59Z", 0),
    ],
)
def test_missed_announcements(table, fresh, moment, missed):
    table.execute("INSERT INTO source (name, set, is_scheduled, fresh_at) VALUES ('arxiv', 'x', true, %s)", [fresh])
    assert table.execute("SELECT source_missed(s, %s) FROM source s", [moment]).fetchone() == (missed,)
