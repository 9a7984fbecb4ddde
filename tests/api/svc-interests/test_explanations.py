"""GET /papers/recommended/{recommendation_id}/explanation: the numbers that a score was made of."""

import math

import pytest

from lib.tables import interests as interests_tables

ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
SIGNALS = ("retrieval", "preference", "recency", "container")

REFUSING = (
    "Retrieval for question answering over documents: dense retrieval, re-ranking, evidence for answers. "
    "Not interested in benchmarks, no multimodal retrieval, agents are out of scope."
)


def explain(api, recommendation):
    return api.get(f"/papers/recommended/{recommendation['recommendation_id']}/explanation", expect=200).json()


def recomputed(explanation):
    """The score by which it was selected, from the parts alone."""
    for name in SIGNALS:
        signal = explanation[name]
        assert signal["contribution"] == pytest.approx(signal["value"] * signal["weight"], abs=2e-6)
    assert sum(explanation[name]["weight"] for name in SIGNALS) == pytest.approx(1, abs=1e-5)
    sum_of_parts = sum(explanation[name]["contribution"] for name in SIGNALS)
    return sum_of_parts * explanation["refusal"]["factor"] * explanation["similarity"]["factor"]


def recomputed_relevance(explanation):
    relevance = explanation["relevance"]
    odds = relevance["intercept"] + relevance["slope"] * (explanation["retrieval"]["value"] + relevance["preference_lift"])
    assert odds == pytest.approx(relevance["log_odds"], abs=1e-5)
    return explanation["refusal"]["factor"] / (1 + math.exp(-odds))


def check_retrieval(retrieval):
    """The relevance of the search is that of its parts."""
    search = retrieval["search"]
    lexical, dense = search["lexical"], search["dense"]
    words = sum(term["score"] for term in lexical["terms"]) + lexical["other_terms"]
    assert len(lexical["terms"]) <= 8 and words == pytest.approx(lexical["words"], abs=1e-4)
    fused = lexical["score"] / lexical["greatest"] + dense["weight"] * max(dense["cosine"], 0) / dense["greatest"]
    assert fused == pytest.approx(search["fused"], abs=1e-4)
    relevance = min(fused * search["relevance_factor"], search["relevance_limit"])
    assert relevance == pytest.approx(retrieval["value"], abs=1e-4)


def check_preference(preference):
    raw = preference["terms"] + preference["dense"] + preference["bias"]
    assert raw == pytest.approx(preference["raw_score"], abs=1e-5)
    by_examples = sum(one["contribution"] for one in preference["examples"]) + preference["others"]
    assert by_examples == pytest.approx(preference["raw_score"], abs=1e-5)
    value = 1 / (1 + math.exp(-(preference["slope"] * raw + preference["offset"])))
    # The six decimal places of the raw score are multiplied by the slope.
    assert value == pytest.approx(preference["value"], abs=1e-6 * (2 + preference["slope"]))


def check(api, recommendation):
    """Check an explanation, and return it."""
    explanation = explain(api, recommendation)
    for name in ("recommendation_id", "interest_id", "resource_id", "recommended_at", "relevance_score", "rank"):
        assert explanation[name] == recommendation[name]
    assert recomputed(explanation) == pytest.approx(explanation["selection_score"], abs=1e-5)
    assert recomputed_relevance(explanation) == pytest.approx(recommendation["relevance_score"], abs=1e-4)
    check_retrieval(explanation["retrieval"])
    check_preference(explanation["preference"])
    recency = explanation["recency"]
    assert recency["value"] == pytest.approx(0.5 ** (recency["age_days"] / recency["half_life_days"]), abs=1e-5)
    for match in explanation["matched"]:
        text = recommendation[match["field"]].replace('"', "'").lower()
        assert match["text"].lower() in text or match["text"].lower()[:4] in text
    return explanation


def test_the_parts_make_the_score(interests, api):
    made = interests.ready(name="Evidence for answers")
    interests.refresh(made, num_results=30)
    shown = interests.recommended(made, limit=50)
    explanations = [check(api, one) for one in shown]
    assert {one["preference"]["model"] for one in explanations} == {"prior"}
    assert {one["preference"]["model_version"] for one in explanations} == {0}
    assert all(one["preference"]["examples"] == [] and one["embedder"] for one in explanations)
    assert {one["container"]["value"] for one in explanations} <= {0, 1}
    similar = [one for one in explanations if one["similarity"]["factor"] < 1]
    known = {one["resource_id"] for one in shown}
    assert similar and all(one["similarity"]["resource_id"] in known - {one["resource_id"]} for one in similar)


def fit(interests, made):
    """Like papers, first those on language models, and dismiss others. Returns the ids of both."""
    shown = interests.recommended(made, limit=50)
    shown.sort(key=lambda one: "language model" not in (one["title"] + one["abstract"]).lower())
    liked, disliked = shown[:12], shown[-6:]
    for one in liked:
        interests.feedback(one, "like")
    for one in disliked:
        interests.feedback(one, "dismiss")
    assert interests.refit(made)["result"]["model_version"] == 1
    return ({one["resource_id"] for one in group} for group in (liked, disliked))


@pytest.mark.parametrize("likes", [4, 12])
def test_examples_move_the_score(interests, api, db, likes):
    """Of a centroid and of a regression. What moved a score is of the model at that time, also after the next refit."""
    made = interests.ready()
    for _ in range(10):  # what fits, then others in threes: the interest does not say which of them will be liked
        interests.refresh(made, num_results=40)
    assert len(interests.recommended(made, limit=50)) >= 36
    liked, disliked = fit(interests, made)
    if likes < len(liked):
        kept = sorted(liked)[:likes]
        interests_tables.keep_feedback_of(db, made["id"], kept)
        liked, disliked = set(kept), set()
        assert interests.refit(made)["result"]["examples"] == likes
    before = {one["recommendation_id"] for one in interests.recommended(made, limit=50)}
    interests.refresh(made, num_results=10)
    new = [one for one in interests.recommended(made, limit=50) if one["recommendation_id"] not in before]
    explanations = [check(api, one) for one in new]
    for one in explanations:
        preference = one["preference"]
        assert preference["model"] == ("centroid" if likes < 10 else "logistic") and preference["model_version"] > 0
        moved = [abs(example["contribution"]) for example in preference["examples"]]
        assert len(moved) == min(5, len(liked) + len(disliked)) and moved == sorted(moved, reverse=True)
        for example in preference["examples"]:
            assert example["resource_id"] in (liked if example["signal"] == "like" else disliked)
            sign = 1 if example["signal"] == "like" else -1
            assert sign * example["contribution"] * example["similarity"] >= 0
    assert any(one["preference"]["examples"][0]["contribution"] > 0 for one in explanations)
    interests.feedback(new[0], "like")
    interests.refit(made)
    assert [explain(api, one) for one in new] == explanations


def test_what_is_refused_lowers_the_score(interests, api):
    made = interests.ready(context=REFUSING)
    interests.refresh(made, num_results=50)
    refused = [one for one in (check(api, one) for one in interests.recommended(made, limit=50)) if one["refusal"]["found"]]
    assert refused
    for one in refused:
        assert one["refusal"]["factor"] < 1
        assert all(item["text"] and 0 < item["value"] <= 1 for item in one["refusal"]["found"])


def test_another_account_sees_nothing(interests, other_user):
    made = interests.ready()
    interests.refresh(made)
    (first, *_) = interests.recommended(made)
    for absent in (first["recommendation_id"], ABSENT):
        other_user.api.problem("GET", f"/papers/recommended/{absent}/explanation", 404, "not_found")
    other_user.api.problem("GET", "/papers/recommended/x/explanation", 400, "invalid_request")


def test_one_of_an_earlier_version_has_none(interests, api, db):
    made = interests.ready()
    interests.refresh(made)
    (first, *_) = interests.recommended(made)
    interests_tables.drop_explanation(db, first["recommendation_id"])
    problem = api.problem("GET", f"/papers/recommended/{first['recommendation_id']}/explanation", 404, "not_found")
    assert problem["detail"] == "no explanation was stored with this recommendation"


def test_explanations_go_with_their_interest(interests, api, db):
    made = interests.ready()
    interests.refresh(made)
    ids = [one["recommendation_id"] for one in interests.recommended(made)]
    api.delete(f"/interests/{made['id']}", expect=200)
    assert interests_tables.explained(db, ids) == 0
