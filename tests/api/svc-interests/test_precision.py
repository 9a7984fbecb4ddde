"""Whether recommendations were right: by what became of the papers, by what people said, and by score."""

import secrets
from datetime import date, timedelta

from lib.tables import interests as interests_tables

KEYS = ("shown", "judged", "worked", "failed", "liked", "dismissed")


def new_papers(count):
    start = secrets.randbelow(90000)
    return [f"2301.{start + n:05}" for n in range(count)]


def recommend(db, interest, papers, days, score=0.5):
    made = [interests_tables.add_recommendation(db, interest["id"], paper, minutes=-days * 24 * 60) for paper in papers]
    for id in made:
        interests_tables.set_score(db, id, score)
    db.commit()
    return made


def precision(api, **query):
    return api.get("/papers/recommended/precision", params=query, expect=200).json()


def counts(figures):
    return tuple(figures[key] for key in KEYS)


def test_what_became_of_papers_and_what_people_said(interests, other_interests, db):
    interest, beside = interests.create(is_active=False), interests.create(is_active=False)
    papers = new_papers(8)
    ids = recommend(db, interest, papers, days=60, score=0.7)
    merged, closed, fresh, shipped, dropped, both, issue, liked = ids
    for recommendation, stage in ((merged, "merged"), (closed, "closed"), (both, "merged")):
        interests_tables.add_run_outcome(db, interest["id"], stage, recommendation=recommendation, names_interest=True)
    interests_tables.set_stage_at(db, interest["id"], 31)
    interests_tables.add_run_outcome(db, beside["id"], "merged", recommendation=fresh, names_interest=True)
    interests_tables.add_experiment(db, interest["id"], [papers[3]], status="shipped")
    interests_tables.add_experiment(db, interest["id"], [papers[4]], status="rejected")
    interests_tables.add_experiment(db, interest["id"], [papers[5]], status="abandoned")  # a person decides otherwise than the merge
    db.commit()
    for id, signal in ((liked, "like"), (liked, "save"), (merged, "implemented"), (issue, "dismiss"), (closed, "dislike"), (both, "save")):
        interests.feedback({"recommendation_id": id}, signal)
    answer = precision(interests.api, k=10)
    (one,) = answer["interests"]
    assert (one["interest_id"], one["interest_name"]) == (interest["id"], interest["name"])
    assert counts(one) == (8, 5, 2, 3, 3, 2) == counts(answer["total"])
    assert (one["precision"]["outcome"]["n"], one["precision"]["outcome"]["of"]) == (2, 5)
    assert (one["precision"]["at_least"]["of"], one["precision"]["feedback"]) == (8, {**one["precision"]["feedback"], "n": 3, "of": 5})
    assert [(band["from"], counts(band)) for band in one["bands"]] == [(0.6, counts(one))]
    assert precision(other_interests.api)["interests"] == [] and counts(precision(other_interests.api)["total"]) == (0,) * 6
    assert precision(other_interests.api, interest_id=interest["id"])["interests"] == []


def test_the_best_of_each_day_count_and_bands_are_by_score(interests, db):
    interest, beside = interests.create(is_active=False), interests.create(is_active=False)
    for days in (10, 11):
        for score, count in ((0.85, 2), (0.8, 1), (0.59, 1), (0.1, 3)):
            recommend(db, interest, new_papers(count), days, score)
    recommend(db, beside, new_papers(1), 10, 0.4)
    shown = {row["interest_id"]: row for row in precision(interests.api, k=5)["interests"]}
    bands = {band["from"]: band["shown"] for band in shown[interest["id"]]["bands"]}
    assert bands == {0.8: 6, 0.4: 2, 0: 2} and shown[beside["id"]]["shown"] == 1
    total = precision(interests.api, k=5)["total"]
    assert total["shown"] == 11 == sum(band["shown"] for band in total["bands"])
    assert [row["shown"] for row in precision(interests.api, k=1, interest_id=interest["id"])["interests"]] == [2]
    day = str(date.today() - timedelta(days=200))
    assert precision(interests.api, since=day, until=day)["total"]["shown"] == 0


def test_a_verdict_counts_within_90_days(interests, db):
    """A merge is a verdict only 30 days later."""
    interest = interests.create(is_active=False)
    early, late = recommend(db, interest, new_papers(2), days=200)
    since = str(date.today() - timedelta(days=300))

    def judged(stage_days):
        interests_tables.set_stage_at(db, interest["id"], stage_days)
        db.commit()
        return counts(precision(interests.api, since=since)["total"])[:4]

    interests_tables.add_run_outcome(db, interest["id"], "merged", recommendation=early, names_interest=True)
    interests_tables.add_run_outcome(db, interest["id"], "closed", recommendation=late, names_interest=True)
    assert judged(100) == (2, 0, 0, 0)
    assert judged(120) == (2, 1, 0, 1)
    assert judged(150) == (2, 2, 1, 1)


def test_a_pull_request_that_an_experiment_alone_knows_counts_last(interests, db):
    interest = interests.create(is_active=False)
    papers = new_papers(4)
    merged, fresh, closed, known = recommend(db, interest, papers, days=80)
    for paper, status, days in zip(papers, ("merged", "merged", "closed", "merged"), (40, 10, 10, 40)):
        interests_tables.add_experiment(db, interest["id"], [paper], status="running", pr_status=status, pr_days=days)
    interests_tables.add_run_outcome(db, interest["id"], "closed", recommendation=known, names_interest=True)
    interests_tables.set_stage_at(db, interest["id"], 5)
    db.commit()
    assert counts(precision(interests.api)["total"])[:4] == (4, 3, 1, 2)


def test_a_verdict_of_an_unknown_time_does_not_count(interests, db):
    """As of pull requests that were merged or closed before their times were kept."""
    interest = interests.create(is_active=False)
    for recommendation, stage in zip(recommend(db, interest, new_papers(2), days=200), ("merged", "closed")):
        interests_tables.add_run_outcome(db, interest["id"], stage, recommendation=recommendation, names_interest=True)
    db.commit()
    since = str(date.today() - timedelta(days=300))
    assert counts(precision(interests.api, since=since)["total"])[:4] == (2, 0, 0, 0)


def test_days_of_which_recommendations_were_deleted_do_not_count(interests, db):
    """RECOMMENDATION_DAYS is 400: of before, only those are left that somebody made use of."""
    interest = interests.create(is_active=False)
    recommend(db, interest, new_papers(2), days=390)
    recommend(db, interest, new_papers(1), days=410)
    since, until = (str(date.today() - timedelta(days=days)) for days in (450, 100))
    answer = precision(interests.api, since=since, until=until)
    assert answer["total"]["shown"] == 2 and answer["until"] == until
    assert date.fromisoformat(answer["since"]) - date.today() >= timedelta(days=-400) and answer["since"] < until
    until = str(date.today() - timedelta(days=405))
    assert precision(interests.api, since=since, until=until)["total"]["shown"] == 0


def test_queries_are_checked(interests):
    for query in ("k=0", "k=x", "since=2020-01-01&until=2026-01-01", "interest_id=x", "limit=5"):
        interests.api.problem("GET", f"/papers/recommended/precision?{query}", 400, "invalid_request")
