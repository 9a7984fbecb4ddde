"""How long recommendations and explanations are kept."""

import uuid
from datetime import datetime, timedelta, timezone

import pytest

from lib.tables import interests as interests_tables
from lib.wait import wait_for

MONTHS = "SELECT p FROM partition_periods('recommendation_explanation') p"
BOUND = "SELECT conname, convalidated FROM pg_constraint WHERE conrelid = to_regclass('recommendation_explanation_default') AND contype = 'c'"


@pytest.fixture
def interest(interests):
    """With five recommendations of today."""
    made = interests.ready(daily_count=5)
    interests.refresh(made)
    return made


def months_from_now(number):
    now = datetime.now(timezone.utc)
    month = now.year * 12 + now.month - 1 + number
    return f"{month // 12}{month % 12 + 1:02}"


def is_prepared(db):
    return months_from_now(2) in [row[0] for row in db.execute(MONTHS)]


@pytest.fixture
def prepared(papers, db):
    """The process that has started has bounded the first partition and made the months after it."""
    wait_for(lambda: is_prepared(db), "the months are there")


@pytest.fixture
def fresh(prepared, db):
    """The tables as after the migration, when no process has run yet; for other tests they are prepared again."""
    for (period,) in db.execute(MONTHS).fetchall():
        db.execute(f"DROP TABLE recommendation_explanation_{period}")
    for name, _ in db.execute(BOUND).fetchall():
        db.execute(f"ALTER TABLE recommendation_explanation_default DROP CONSTRAINT {name}")
    yield
    while db.execute("SELECT explanation_default_prepare()").fetchone() == (True,):
        pass
    db.execute("SELECT explanation_months_keep(90)")


def age(db, recommendation, days):
    """Make a recommendation, with its explanation, so many days old. Returns its new id."""
    at = datetime.now(timezone.utc) - timedelta(days=days)
    old, new = recommendation["recommendation_id"], f"{int(at.timestamp() * 1000):012x}7{uuid.uuid4().hex[13:16]}8{uuid.uuid4().hex[17:]}"
    (explanation,) = db.execute("DELETE FROM recommendation_explanation WHERE recommendation_id = %s RETURNING explanation::text", [old]).fetchone()
    db.execute("UPDATE recommendation SET id = %s, recommended_at = %s WHERE id = %s", [new, at, old])
    db.execute("INSERT INTO recommendation_explanation VALUES (%s, %s)", [new, explanation])
    return str(uuid.UUID(new))


@pytest.fixture
def run(cluster):
    """Start a process with settings of its own, which begins with a pass, and wait until something holds."""

    def start(holds, what, **settings):
        process = cluster.separate("svc-interests", "keeper", **settings)
        process.start()
        try:
            wait_for(holds, what)
        finally:
            process.stop()

    return start


def test_a_migrated_table_gets_its_months(fresh, db, run):
    run(lambda: is_prepared(db), "the months are there")
    assert db.execute(BOUND).fetchall() == [(f"before_{months_from_now(2)}", True)]
    assert [row[0] for row in db.execute(MONTHS)] == [months_from_now(2)]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_process_goes_on_where_another_was_killed(fresh, db, run, steps):
    for _ in range(steps):
        assert db.execute("SELECT explanation_default_prepare()").fetchone() == (True,)
    run(lambda: is_prepared(db), "the months are there")
    assert db.execute("SELECT explanation_default_prepare()").fetchone() == (False,)


def test_rows_are_written_while_they_are_checked(fresh, db, cluster, interest, interests):
    """Reading a large table takes long; meanwhile a refresh makes recommendations."""
    db.execute("SELECT explanation_default_prepare()")
    with cluster.postgres.connect("interests") as checking, checking.transaction():
        checking.execute("SELECT explanation_default_prepare()")
        interests.refresh(interest)
    assert len(interests.recommended(interest)) > 5


def test_a_month_is_added_without_reading_the_first_partition(fresh, db):
    """Postgres says so itself."""
    notices = []
    db.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    while db.execute("SELECT explanation_default_prepare()").fetchone() == (True,):
        pass
    db.execute("SET client_min_messages = debug1")
    db.execute("SELECT explanation_months_keep(90)")
    assert any("recommendation_explanation_default" in text and "implied by existing constraints" in text for text in notices), notices


def test_months_are_dropped_whole(prepared, db, interest, interests, api, run):
    """The older month ended before the setting, the newer one did not."""
    older, newer = interests.recommended(interest)[:2]
    for months in (-4, -3):
        first, end = (f"month_first_id(to_date('{months_from_now(months + n)}', 'YYYYMM'))::text" for n in (0, 1))
        db.execute(f"SELECT partition_add(ARRAY['recommendation_explanation'], '{months_from_now(months)}', {first}, {end})")
    now = datetime.now(timezone.utc)
    middle = [(now - datetime.strptime(months_from_now(months) + "15+0000", "%Y%m%d%z")).days for months in (-4, -3)]
    gone, kept = age(db, older, middle[0]), age(db, newer, middle[1])
    days = (now - datetime.strptime(months_from_now(-3) + "02+0000", "%Y%m%d%z")).days
    run(lambda: months_from_now(-4) not in [row[0] for row in db.execute(MONTHS)], "the month is dropped", EXPLANATION_DAYS=str(days))
    assert months_from_now(-3) in [row[0] for row in db.execute(MONTHS)]
    problem = api.problem("GET", f"/papers/recommended/{gone}/explanation", 404, "not_found")
    assert "no explanation was stored" in problem["detail"]
    api.get(f"/papers/recommended/{kept}/explanation", expect=200)


def test_old_recommendations_go_and_those_with_feedback_stay(db, interest, interests, api, run):
    shown = interests.recommended(interest)
    old, newer = (age(db, one, days) for one, days in zip(shown, (41, 39), strict=False))
    rated = age(db, shown[2], 41)
    interests.feedback({"recommendation_id": rated}, "like")
    tag = api.get("/papers/recommended/digest", expect=200).headers["ETag"]
    run(lambda: not db.execute("SELECT FROM recommendation WHERE id = %s", [old]).fetchall(), "the old one is deleted", RECOMMENDATION_DAYS="40")
    for method, path, body in (("GET", "explanation", None), ("POST", "feedback", {"signal": "like"})):
        problem = api.problem(method, f"/papers/recommended/{old}/{path}", 404, "not_found", body)
        assert problem["detail"] == "no such recommendation"
    for kept in (newer, rated):
        api.get(f"/papers/recommended/{kept}/explanation", expect=200)
    api.get("/papers/recommended/digest", headers={"If-None-Match": tag}, expect=200)
    assert interests_tables.signals_of(db, interest["id"]) == [(shown[2]["resource_id"], "like")]


def test_a_paper_is_not_recommended_again(db, interest, interests, run):
    """Nor is it forgotten that an experiment is about a paper of the interest."""
    first = interests.recommended(interest)
    for one in first:
        age(db, one, 41)
    run(lambda: interests.recommended(interest, period="all") == [], "they are deleted", RECOMMENDATION_DAYS="40")
    interests.refresh(interest)
    again = interests.recommended(interest)
    assert again and not {one["resource_id"] for one in again} & {one["resource_id"] for one in first}
    experiment, account = db.execute("SELECT gen_random_uuid(), account_id FROM interest WHERE id = %s", [interest["id"]]).fetchone()
    db.execute("INSERT INTO experiment (id, account_id, version, told_at, status, arxiv_ids) VALUES (%s, %s, 1, now(), 'shipped', %s)",
               [experiment, account, [first[0]["resource_id"]]])
    assert (first[0]["resource_id"], "shipped") in interests_tables.signals_of(db, interest["id"])
