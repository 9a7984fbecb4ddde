"""Times of day in a time zone (libcommon/product/local_time.fn.sql), over both changes of clocks."""

import pytest

EVERY_DAY = list(range(1, 8))


@pytest.fixture(scope="module")
def database(cluster):
    with cluster.postgres.connect() as connection:
        connection.execute("SET search_path TO interests; SET TimeZone TO 'UTC'")
        yield connection


def following(database, at, zone, moment, weekdays=None, last=None):
    """The next date and time as text."""
    hour, minute = map(int, at.split(":"))
    query = "SELECT next_date::text, to_char(next_at, 'YYYY-MM-DD HH24:MI') FROM local_time_next(%s, %s, %s, %s, %s::date, %s)"
    return database.execute(query, (weekdays or EVERY_DAY, hour, minute, zone, last, moment)).fetchone()


# A time of day, the zone, a moment (UTC), and the next date and time (UTC).
CHANGES = [
    ("08:00", "UTC", "2026-01-31 07:59Z", "2026-01-31", "2026-01-31 08:00"),
    ("08:00", "UTC", "2026-01-31 08:00Z", "2026-02-01", "2026-02-01 08:00"),
    ("08:00", "Europe/Berlin", "2026-03-28 12:00Z", "2026-03-29", "2026-03-29 06:00"),  # clocks went forward
    ("02:30", "Europe/Berlin", "2026-03-28 12:00Z", "2026-03-29", "2026-03-29 01:30"),  # does not exist: 03:30
    ("02:30", "Europe/Berlin", "2026-10-24 12:00Z", "2026-10-25", "2026-10-25 01:30"),  # twice: the second
    ("08:00", "Europe/Berlin", "2026-10-24 12:00Z", "2026-10-25", "2026-10-25 07:00"),
    ("02:30", "America/New_York", "2026-03-07 12:00Z", "2026-03-08", "2026-03-08 07:30"),
    ("01:30", "America/New_York", "2026-10-31 12:00Z", "2026-11-01", "2026-11-01 06:30"),
    ("02:15", "Australia/Lord_Howe", "2026-10-03 12:00Z", "2026-10-04", "2026-10-03 15:45"),  # by half an hour: 02:45
    ("01:45", "Australia/Lord_Howe", "2026-04-04 12:00Z", "2026-04-05", "2026-04-04 15:15"),
    ("00:30", "Africa/Cairo", "2026-04-23 12:00Z", "2026-04-24", "2026-04-23 22:30"),  # at midnight: 01:30
    ("23:30", "Africa/Cairo", "2026-10-29 12:00Z", "2026-10-29", "2026-10-29 21:30"),
    ("08:00", "Mars/Base", "2026-11-26 12:00Z", "2026-11-27", "2026-11-27 08:00"),  # exists no more: UTC
    ("23:59", "Pacific/Kiritimati", "2026-12-30 12:00Z", "2026-12-31", "2026-12-31 09:59"),  # a day ahead
]


@pytest.mark.parametrize(("at", "zone", "moment", "date", "time"), CHANGES)
def test_the_next_time(database, at, zone, moment, date, time):
    assert following(database, at, zone, moment) == (date, time)


def test_only_on_some_days_of_the_week(database):
    assert following(database, "08:00", "UTC", "2026-11-26 12:00Z", weekdays=[4]) == ("2026-12-03", "2026-12-03 08:00")
    assert following(database, "08:00", "UTC", "2026-11-26 12:00Z", weekdays=[1, 5]) == ("2026-11-27", "2026-11-27 08:00")


def test_a_date_that_was_is_not_again(database):
    """Also when the time is set to a later one, or the zone to one that is behind."""
    assert following(database, "20:00", "UTC", "2026-11-26 12:00Z", last="2026-11-26")[0] == "2026-11-27"
    assert following(database, "08:00", "Pacific/Honolulu", "2026-11-26 12:00Z", last="2026-11-26")[0] == "2026-11-27"
    assert following(database, "08:00", "UTC", "2026-11-26 07:00Z", weekdays=[4], last="2026-11-26")[0] == "2026-12-03"


@pytest.mark.parametrize(
    ("zone", "is_known"),
    [("Europe/Berlin", True), ("UTC", True), ("CET", False), ("posix/Europe/Berlin", False), ("Mars/Base", False), ("", False)],
)  # fmt: skip
def test_zones(database, zone, is_known):
    assert database.execute("SELECT time_zone_is_known(%s)", (zone,)).fetchone() == (is_known,)
