"""The preference scores of candidates are stored: a refresh reads few papers, and recommends as if it had read all."""

import re

import pytest

from lib.tables import interests as interests_tables
from lib.tables import search as search_tables
from lib.wait import wait_for

NAME = "Reading list"
FIRST_ID = "2611.4000{}"
FITTING = "Language models learn from few examples: models adapt to new tasks by their context, without training, and {} models more."
OTHER = "Soil moisture over {} hills."


@pytest.fixture
def put(cluster, papers, operator, api, interests):
    """put(number, abstract): the paper with that number has this text, and is found by it. They are withdrawn after the test."""
    made = set()
    interests.ready()  # so that the background is drawn, and has the sample's papers only

    def store(number, abstract):
        paper, mark = FIRST_ID.format(number), f"edition{number}{len(made)}{len(abstract)}"
        made.add(paper)
        body = {"title": f"Few examples {mark}", "abstract": abstract, "categories": ["cs.CL"], "published_at": "2026-11-20T00:00:00Z"}
        operator.api.put(f"/search/assets/{paper}", body, expect=200)
        found = lambda: api.post("/search/assets", {"query": mark}, expect=200).json()  # noqa: E731
        wait_for(lambda: any(mark in hit["title"] for hit in found()), "the paper is found")

    yield store
    with cluster.postgres.connect("search") as search:
        search_tables.withdraw(search, list(made))


def make_fitted(steps):
    """An interest with feedback to fifteen of twenty recommendations, and a model."""
    made = steps.ready_broad(name=NAME)
    steps.refresh(made, num_results=20)
    rate(steps, made, likes=10, dislikes=5)
    assert steps.refit(made)["result"]["model_version"] == 1
    return made


def rate(steps, interest, likes, dislikes):
    """Like the papers with the lowest ids, and dismiss those after them."""
    shown = sorted(steps.recommended(interest, limit=50), key=lambda one: one["resource_id"])
    for number, one in enumerate(shown[: likes + dislikes]):
        steps.feedback(one, "like" if number < likes else "dismiss")


def shown(steps, interest):
    """What was recommended until now, and the numbers that it was chosen by, which do not depend on the time: those that are the same to
    the last digit, and those of the search, which a merge of the index between two refreshes moves a little."""
    rows, moved = {}, {}
    for one in steps.recommended(interest, limit=50):
        paper = one["resource_id"]
        explanation = steps.api.get(f"/papers/recommended/{one['recommendation_id']}/explanation", expect=200).json()
        rows[paper] = (one["rank"], one["reasoning"], {name: explanation[name] for name in ("preference", "container", "refusal", "similarity")})
        moved |= {(paper, "score"): one["relevance_score"], (paper, "retrieval"): explanation["retrieval"]["value"],
                  (paper, "lift"): explanation["relevance"]["preference_lift"]}
    return rows, moved


def unread(cluster):
    """Candidates of all refreshes whose papers were not read."""
    series = r'^expops_refresh_candidates_total{papers="unread"} (\d+)$'
    return sum(int(count) for process in cluster["svc-interests"] for count in re.findall(series, process.metrics(), re.M))


def test_recommendations_are_those_of_the_whole_pool(cluster, db, interests, other_interests, put):
    """Two accounts have the same interest. The scores of one are forgotten each day, so that it reads all papers."""
    for number in range(3):
        put(number, FITTING.format("other"))
    stored, whole = make_fitted(interests), make_fitted(other_interests)

    def day():
        before = unread(cluster)
        interests_tables.forget_scores(db, whole["id"])
        for steps, interest in ((other_interests, whole), (interests, stored)):
            steps.refresh(interest, num_results=4)
            if steps is other_interests:
                assert unread(cluster) == before
        (rows, moved), (all_rows, all_moved) = shown(interests, stored), shown(other_interests, whole)
        assert rows == all_rows and moved == pytest.approx(all_moved, abs=0.005)
        return unread(cluster) - before

    def writes():
        return interests_tables.score_writes(db, stored["id"])

    assert day() == 0
    first = writes()
    assert first[1] == 1
    assert day() > 50  # of what was found, as on each day with nothing new
    put(1, OTHER.format("green"))
    put(3, FITTING.format("more"))
    assert day() > 50
    put(3, FITTING.format("fewer, smaller"))
    assert day() > 50
    assert writes() == first, "a few new scores are not worth a write"
    for steps, interest in ((interests, stored), (other_interests, whole)):
        rate(steps, interest, likes=14, dislikes=8)
        assert steps.refit(interest)["result"]["model_version"] == 2
    assert day() == 0
    assert writes()[1] == 2
    put(2, OTHER.format("brown"))
    assert day() > 50
    assert len(shown(interests, stored)[0]) == 20 + 6 * 4


@pytest.mark.parametrize("change", [interests_tables.age_scores, interests_tables.damage_scores])
def test_scores_that_mean_nothing_are_made_again(cluster, db, interests, change):
    made = make_fitted(interests)
    interests.refresh(made, num_results=1)
    written = interests_tables.score_writes(db, made["id"])
    change(db, made["id"])
    changed, before = interests_tables.score_writes(db, made["id"]), unread(cluster)
    interests.refresh(made, num_results=1)
    assert unread(cluster) == before
    again = interests_tables.score_writes(db, made["id"])
    assert again != changed and again[1:] == written[1:]
    interests.refresh(made, num_results=1)
    assert unread(cluster) > before


def test_an_interest_without_a_model_has_no_scores(db, interests):
    made = interests.ready_broad()
    interests.refresh(made, num_results=3)
    assert interests_tables.score_writes(db, made["id"]) is None
