"""What recommendations were worth, by week: of those made, how many were rated, tried, merged and shipped."""

from datetime import date, timedelta

from lib.tables import interests as interests_tables

NOTHING = {"recommended": 0, "rated": 0, "run": 0, "merged": 0, "shipped": 0}


def monday(days_ago):
    day = date.today() - timedelta(days=days_ago)
    return str(day - timedelta(days=day.weekday()))


def quality(api, interest, **period):
    rows = api.get(f"/interests/{interest['id']}/quality", params=period, expect=200).json()
    return {row.pop("week"): row for row in rows}


def recommend(db, interest, papers, days=0):
    made = [interests_tables.add_recommendation(db, interest["id"], paper, minutes=-days * 24 * 60) for paper in papers]
    db.commit()
    return made


def test_each_paper_counts_in_the_week_of_its_recommendation(interests, other_interests, db):
    interest = interests.create(is_active=False)
    ids = recommend(db, interest, [f"2301.0000{n}" for n in range(6)], days=14)
    (newer,) = recommend(db, interest, ["2301.00009"])
    for id, signal in [(ids[0], "like"), (ids[0], "save"), (ids[1], "dismiss"), (newer, "like")]:
        interests.feedback({"recommendation_id": id}, signal)
    interests_tables.add_run_outcome(db, interest["id"], "merged", recommendation=ids[0])
    interests_tables.add_run_outcome(db, interest["id"], "open", paper="2301.00002")
    interests_tables.add_run_outcome(db, interest["id"], "withdrawn", recommendation=ids[3])
    interests_tables.add_experiment(db, interest["id"], ["2301.00000", "2301.00004"], status="shipped")
    interests_tables.add_experiment(db, interest["id"], ["2301.00005"], status="draft")
    db.commit()
    weeks = quality(interests.api, interest)
    assert weeks.pop(monday(14)) == {"recommended": 6, "rated": 2, "run": 3, "merged": 1, "shipped": 2}
    assert weeks.pop(monday(0)) == {"recommended": 1, "rated": 1, "run": 0, "merged": 0, "shipped": 0}
    assert list(weeks.values()) == [NOTHING] * len(weeks) and len(weeks) in (11, 12)
    other_interests.api.problem("GET", f"/interests/{interest['id']}/quality", 404, "not_found")


def test_a_run_for_another_interest_or_account_does_not_count(interests, other_interests, db):
    interest, beside = interests.create(is_active=False), interests.create(is_active=False)
    foreign = other_interests.create(is_active=False)
    (made,) = recommend(db, interest, ["2301.00001"])
    interests_tables.add_run_outcome(db, beside["id"], "merged", recommendation=made, names_interest=True)
    interests_tables.add_run_outcome(db, foreign["id"], "merged", recommendation=made)
    interests_tables.add_experiment(db, foreign["id"], ["2301.00001"])
    db.commit()
    assert quality(interests.api, interest)[monday(0)] == {**NOTHING, "recommended": 1}


def test_the_period_has_bounds(interests, db):
    interest = interests.create(is_active=False)
    recommend(db, interest, ["2301.00001"], days=30)
    day = date.today() - timedelta(days=30)
    one = quality(interests.api, interest, since=str(day), until=str(day))
    assert one == {monday(30): {**NOTHING, "recommended": 1}}
    assert quality(interests.api, interest, since=str(day + timedelta(days=1)), until=str(day + timedelta(days=8)))[monday(29)] == NOTHING
    path = f"/interests/{interest['id']}/quality"
    for query in ("since=2026-02-01&until=2026-01-31", "since=2025-01-01&until=2026-02-05", "since=2026-02-30", "weeks=3"):
        interests.api.problem("GET", f"{path}?{query}", 400, "invalid_request")
    assert len(quality(interests.api, interest, since=str(date.today() - timedelta(days=399)), until=str(date.today()))) == 58


def test_weeks_of_which_recommendations_were_deleted_are_left_out(interests, db):
    """RECOMMENDATION_DAYS is 400: of before, only those are left that somebody made use of."""
    interest = interests.create(is_active=False)
    recommend(db, interest, ["2301.00001"], days=380)
    recommend(db, interest, ["2301.00002"], days=420)
    since, until = (str(date.today() - timedelta(days=days)) for days in (450, 100))
    weeks = quality(interests.api, interest, since=since, until=until)
    assert sum(week["recommended"] for week in weeks.values()) == 1 and monday(380) in weeks and monday(420) not in weeks
    assert quality(interests.api, interest, since=since, until=str(date.today() - timedelta(days=402))) == {}
