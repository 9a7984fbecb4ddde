"""How long recommendations and explanations are kept."""

from datetime import datetime, timedelta, timezone

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for


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
    return months_from_now(2) in interests_tables.explanation_months(db)


@pytest.fixture
def prepared(papers, db):
    """The process that has started has bounded the first partition and made the months after it."""
    wait_for(lambda: is_prepared(db), "the months are there")


@pytest.fixture
def fresh(prepared, db):
    """The tables as after the migration, when no process has run yet; for other tests they are prepared again."""
    interests_tables.forget_explanation_months(db)
    yield
    while interests_tables.prepare_explanations(db):
        pass
    interests_tables.keep_explanations(db, 90)


def age(db, recommendation, days):
    return interests_tables.age_recommendation(db, recommendation["recommendation_id"], days)


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
    assert interests_tables.explanation_bounds(db) == [(f"before_{months_from_now(2)}", True)]
    assert interests_tables.explanation_months(db) == [months_from_now(2)]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_process_goes_on_where_another_was_killed(fresh, db, run, steps):
    for _ in range(steps):
        assert interests_tables.prepare_explanations(db) is True
    run(lambda: is_prepared(db), "the months are there")
    assert interests_tables.prepare_explanations(db) is False


def test_rows_are_written_while_they_are_checked(fresh, db, cluster, interest, interests):
    """Reading a large table takes long; meanwhile a refresh makes recommendations."""
    interests_tables.prepare_explanations(db)
    with cluster.postgres.connect("interests") as checking, checking.transaction():
        interests_tables.prepare_explanations(checking)
        interests.refresh(interest)
    assert len(interests.recommended(interest)) > 5


def test_a_month_is_added_without_reading_the_first_partition(fresh, db):
    """Postgres says so itself."""
    while interests_tables.prepare_explanations(db):
        pass
    notices = common.collect_notices(db, "debug1")
    interests_tables.keep_explanations(db, 90)
    assert any("recommendation_explanation_default" in text and "implied by existing constraints" in text for text in notices), notices


def test_months_are_dropped_whole(prepared, db, interest, interests, api, run):
    """The older month ended before the setting, the newer one did not."""
    older, newer = interests.recommended(interest)[:2]
    for months in (-4, -3):
        interests_tables.add_explanation_month(db, months_from_now(months), months_from_now(months + 1))
    now = datetime.now(timezone.utc)
    middle = [(now - datetime.strptime(months_from_now(months) + "15+0000", "%Y%m%d%z")).days for months in (-4, -3)]
    gone, kept = age(db, older, middle[0]), age(db, newer, middle[1])
    days = (now - datetime.strptime(months_from_now(-3) + "02+0000", "%Y%m%d%z")).days
    run(lambda: months_from_now(-4) not in interests_tables.explanation_months(db), "the month is dropped", EXPLANATION_DAYS=str(days))
    assert months_from_now(-3) in interests_tables.explanation_months(db)
    problem = api.problem("GET", f"/papers/recommended/{gone}/explanation", 404, "not_found")
    assert "no explanation was stored" in problem["detail"]
    api.get(f"/papers/recommended/{kept}/explanation", expect=200)


def test_old_recommendations_go_and_those_with_feedback_stay(db, interest, interests, api, run):
    shown = interests.recommended(interest)
    old, newer = (age(db, one, days) for one, days in zip(shown, (41, 39), strict=False))
    rated = age(db, shown[2], 41)
    interests.feedback({"recommendation_id": rated}, "like")
    tag = api.get("/papers/recommended/digest", expect=200).headers["ETag"]
    run(lambda: not interests_tables.has_recommendation(db, old), "the old one is deleted", RECOMMENDATION_DAYS="40")
    for method, path, body in (("GET", "explanation", None), ("POST", "feedback", {"signal": "like"})):
        problem = api.problem(method, f"/papers/recommended/{old}/{path}", 404, "not_found", body)
        assert problem["detail"] == "no such recommendation"
    for kept in (newer, rated):
        api.get(f"/papers/recommended/{kept}/explanation", expect=200)
    api.get("/papers/recommended/digest", headers={"If-None-Match": tag}, expect=200)
    assert interests_tables.signals_of(db, interest["id"]) == [(shown[2]["resource_id"], "like")]


def test_the_funnel_begins_where_all_recommendations_are_there(cluster, db, user, interest, interests):
    """Of 41 days ago only the one with feedback is left, of which no share would be true."""
    shown = interests.recommended(interest)
    rated = age(db, shown[0], 41)
    interests.feedback({"recommendation_id": rated}, "like")
    age(db, shown[1], 39)
    process = cluster.separate("svc-interests", "funnel", RECOMMENDATION_DAYS="40", ROLES="http")
    process.start()
    try:
        process.wait_ready()
        answer = plain_http.get(f"{process.url}/api/v1.0/papers/recommended/funnel?days=60",
                                auth=identity(cluster, "svc-interests", account=user.account)).json()  # fmt: skip
    finally:
        process.stop()
    first = datetime.now(timezone.utc).date() - timedelta(days=39)
    assert (answer["days"], answer["since"], answer["recommended"], answer["liked"]) == (60, first.isoformat(), len(shown) - 1, 0)


def test_what_somebody_made_use_of_stays(db, interest, interests, run):
    """Rated, planned as an experiment, tried for the recommendation, and for the interest; and the pass locks none of them."""
    shown = interests.recommended(interest)
    ids = [age(db, one, 41) for one in shown]
    papers = [one["resource_id"] for one in shown]
    interests.feedback({"recommendation_id": ids[1]}, "save")
    interests_tables.add_experiment(db, interest["id"], [papers[2]], status="draft")
    interests_tables.add_run_outcome(db, interest["id"], "open", recommendation=ids[3])
    interests_tables.add_run_outcome(db, interest["id"], "closed", paper=papers[4])
    locks = [interests_tables.recommendation_locks(db, kept) for kept in ids[1:]]
    run(lambda: not interests_tables.has_recommendation(db, ids[0]), "the unused one is deleted", RECOMMENDATION_DAYS="40")
    assert [interests_tables.recommendation_locks(db, kept) for kept in ids[1:]] == locks


def test_a_paper_is_not_recommended_again(db, interest, interests, run):
    """Nor is it forgotten that an experiment is about a paper of the interest."""
    first = interests.recommended(interest)
    for one in first:
        age(db, one, 41)
    run(lambda: interests.recommended(interest, period="all") == [], "they are deleted", RECOMMENDATION_DAYS="40")
    interests.refresh(interest)
    again = interests.recommended(interest)
    assert again and not {one["resource_id"] for one in again} & {one["resource_id"] for one in first}
    interests_tables.add_experiment(db, interest["id"], [first[0]["resource_id"]])
    assert (first[0]["resource_id"], "shipped") in interests_tables.signals_of(db, interest["id"])


def test_what_is_long_past_is_forgotten(db, user, interest, run):
    """Former recommendations, what became of runs, and experiments that were deleted; younger ones stay."""
    for days in (401, 399):
        interests_tables.add_old_facts(db, user.account, interest["id"], days)
    run(lambda: interests_tables.old_facts(db, user.account) == {"former_recommendation": 1, "run_outcome": 1, "experiment": 1},
        "the old ones are deleted", FORMER_DAYS="400")


def test_a_locked_table_holds_up_no_other(db, user, interest, run):
    interests_tables.add_old_facts(db, user.account, interest["id"], 401)
    with common.locked(db, "former_recommendation"):
        run(lambda: interests_tables.old_facts(db, user.account) == {"former_recommendation": 1, "run_outcome": 0, "experiment": 0},
            "the other tables shrink", FORMER_DAYS="400")


def test_the_longest_period_begins_before_1970_and_nothing_is_too_old(db, user, interest, interests, run):
    shown = interests.recommended(interest)
    interests_tables.add_old_facts(db, user.account, interest["id"], 401)
    run(lambda: interests_tables.old_facts(db, user.account) == {"former_recommendation": 1, "run_outcome": 1, "experiment": 0},
        "only the experiment is deleted", FORMER_DAYS="36500", RECOMMENDATION_DAYS="36500")
    assert interests_tables.delete_old_recommendations(db, 36500) == 0
    assert interests.recommended(interest) == shown
