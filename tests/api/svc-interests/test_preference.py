"""Preference models: scoring candidates, fitting models to feedback, and their effect on recommendations."""

import uuid

import pytest

from lib.tables import interests as interests_tables
from lib.tables import search as search_tables
from lib.wait import wait_for

ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"


def faults(document):
    return {fault["field"] for fault in document["errors"]}


def is_descending(scored):
    scores = [one["score"] for one in scored]
    return scores == sorted(scores, reverse=True)


@pytest.fixture
def interest(interests):
    """An interest with forty recommendations."""
    made = interests.ready_broad(project_id=str(uuid.uuid4()))
    interests.refresh(made, num_results=40)
    return made


def give_feedback(interests, interest, likes=12, dislikes=6):
    """Like papers on language models and dismiss others. Returns both lists."""
    shown = interests.recommended(interest, limit=50)
    liked = [one for one in shown if "language model" in (one["title"] + one["abstract"]).lower()][:likes]
    disliked = [one for one in shown if one not in liked][-dislikes:]
    for one in liked:
        interests.feedback(one, "like")
    for one in disliked:
        interests.feedback(one, "dismiss")
    return liked, disliked


def test_score_without_a_body_scores_the_pool(interests):
    made = interests.ready()
    scored = interests.score(made, expect=200).json()
    assert len(scored) == 20 and is_descending(scored)
    assert {one["model_version"] for one in scored} == {0}
    assert all("arxiv_id" in one and one["title"] for one in scored)


@pytest.mark.parametrize("body", [{}, {"candidates": None}])
def test_score_without_candidates_scores_the_pool(interests, body):
    made = interests.ready()
    assert interests.score(made, body, expect=200).json() == interests.score(made, expect=200).json()


def test_no_candidate_is_not_the_pool(interests):
    assert interests.score(interests.ready(), {"candidates": []}, expect=200).json() == []


def test_limit_applies_to_the_pool(interests):
    made = interests.ready()
    assert len(interests.score(made, {"limit": 3}, expect=200).json()) == 3
    whole = interests.score(made, {"limit": 100000}, expect=200).json()
    assert len(whole) == made["pool_size"]


def test_candidates_are_ids_or_texts(interests, papers):
    made = interests.ready()
    known = list(papers)[:3]
    texts = [
        {"title": "Hybrid retrieval and re-ranking for question answering over documents", "abstract": made["context"]},
        {"title": "Growing tomatoes on a balcony", "abstract": None},
    ]
    scored = interests.score(made, {"candidates": [texts[1], *known, texts[0], "9912.99999"]}, expect=200).json()
    assert len(scored) == 5 and is_descending(scored)
    assert {one.get("arxiv_id") for one in scored} - {None} == set(known)
    assert {one["arxiv_id"]: one["title"] for one in scored if "arxiv_id" in one} == {
        paper: papers[paper]["title"] for paper in known
    }
    assert {one["index"]: one["title"] for one in scored if "index" in one} == {0: texts[1]["title"], 4: texts[0]["title"]}
    assert scored[0].get("index") == 4
    limited = interests.score(made, {"candidates": known, "limit": 1}, expect=200).json()
    assert len(limited) == 1


def test_ids_with_version_or_prefix_are_found(interests, papers):
    first, second = list(papers)[:2]
    scored = interests.score(interests.ready(), {"candidates": [f"{first}v3", f"arXiv:{second}"]}, expect=200).json()
    assert {one["arxiv_id"] for one in scored} == {first, second}


def test_candidates_are_scored_before_the_pool_is_built(interests, papers):
    made = interests.create()
    scored = interests.score(made, {"candidates": [list(papers)[0]]}, expect=200).json()
    assert len(scored) == 1


def test_unknown_candidates_are_left_out(interests):
    assert interests.score(interests.ready(), {"candidates": ["9912.99999"]}, expect=200).json() == []


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"candidates": "2205.14135"}, {"candidates"}),
        ({"candidates": ["x"] * 501}, {"candidates"}),
        ({"candidates": [7, "", "x" * 65]}, {"candidates[0]", "candidates[1]", "candidates[2]"}),
        ({"candidates": [{"abstract": "a"}, {"title": ""}]}, {"candidates[0].title", "candidates[1].title"}),
        ({"candidates": [{"title": "t", "abstract": 7}]}, {"candidates[0].abstract"}),
        ({"candidates": [{"title": "x" * 1001, "abstract": "x" * 50001}]}, {"candidates[0].title", "candidates[0].abstract"}),
        ({"limit": 0}, {"limit"}),
        ({"limit": "5"}, {"limit"}),
    ],
)
def test_score_refuses_invalid_input(api, body, fields):
    made = api.post("/interests", {"name": "Scored", "context": "x"}, expect=201).json()
    path = f"/experiment-histories/{made['experiment_history_id']}/score-candidates"
    assert faults(api.problem("POST", path, 400, "invalid_request", body)) == fields


def test_history_of_another_account_is_404(api, other_user):
    theirs = other_user.api.post("/interests", {"name": "Theirs", "context": "x"}, expect=201).json()
    for history in (theirs["experiment_history_id"], theirs["id"], ABSENT):
        base = f"/experiment-histories/{history}"
        api.problem("POST", f"{base}/score-candidates", 404, "not_found", {})
        api.problem("POST", f"{base}/refit-preference-model", 404, "not_found")
        api.problem("GET", f"{base}/refit-preference-model/{ABSENT}", 404, "not_found")
    api.problem("POST", "/experiment-histories/x/refit-preference-model", 400, "invalid_request")


def test_refit_with_too_little_feedback_keeps_the_prior(interests):
    made = interests.ready()
    interests.refresh(made)
    interests.feedback(interests.recommended(made)[0], "like")
    task = interests.refit(made)
    assert task["status"] == "completed" and task["kind"] == "preference_model_refit"
    assert task["result"] == {"model_version": 0, "examples": 1, "positives": 1, "auc": None, "learned": None}
    assert "feedback" in task["message"]
    assert interests.score(made, {"limit": 1}, expect=200).json()[0]["model_version"] == 0


def test_refit_moves_liked_papers_up(interests, interest):
    before = interests.score(interest, {"limit": 500}, expect=200).json()
    liked, disliked = give_feedback(interests, interest)
    task = interests.refit(interest)
    result = task["result"]
    assert task["status"] == "completed"
    assert result["model_version"] == 1
    assert result["examples"] == len(liked) + len(disliked)
    assert result["positives"] == len(liked)
    assert 0.5 < result["auc"] <= 1
    assert task["message"]
    after = interests.score(interest, {"limit": 500}, expect=200).json()
    assert {one["model_version"] for one in after} == {1} and is_descending(after)
    assert [one["arxiv_id"] for one in after] != [one["arxiv_id"] for one in before]
    place = {one["arxiv_id"]: at for at, one in enumerate(after)}
    mean = lambda group: sum(place[one["resource_id"]] for one in group) / len(group)  # noqa: E731
    assert mean(liked) < mean(disliked)


def test_an_interest_says_how_good_its_model_is(interests, interest, db):
    give_feedback(interests, interest)
    result = interests.refit(interest)["result"]
    model = interests.get(interest)["model"]
    assert model.pop("fitted_at") >= interest["created_at"]
    assert model == {"version": result.pop("model_version"), **result}
    assert interests.refit(interest)["result"]["model_version"] == interests.get(interest)["model"]["version"] == 2
    interests_tables.fit_as_version_0_1_0(db, interest["id"])
    model = interests.get(interest)["model"]
    assert model["version"] == 3 and {model[name] for name in ("examples", "positives", "auc", "learned")} == {None}


def test_models_are_fitted_to_a_background_of_the_whole_corpus(interests, interest, papers, db):
    documents, ids, _ = interests_tables.background(db)
    assert documents == len(papers) and set(ids) == set(papers)
    outside = set(papers) - {one["arxiv_id"] for one in interests.score(interest, {"limit": 500}, expect=200).json()}
    assert outside, "the pool has all papers, so this test shows nothing"


def test_the_background_is_drawn_again_when_the_corpus_has_grown(interests, interest, db):
    """A refit draws it; while the index keeps its size, it stays."""
    drawn_at = lambda: interests_tables.background(db)[2]  # noqa: E731
    drawn = drawn_at()
    interests_tables.halve_background(db)
    interests.refit(interest)
    again = drawn_at()
    assert again > drawn
    interests.refit(interest)
    assert drawn_at() == again


def test_models_learn_from_the_papers_that_were_rated_last(interests, interest, db):
    """Not from those with the highest ids."""
    shown = sorted(interests.recommended(interest, limit=4), key=lambda one: one["resource_id"], reverse=True)
    rated = [(one["resource_id"], "like") for one in shown]
    for one in shown:
        interests.feedback(one, "like")
    assert interests_tables.signals_of(db, interest["id"]) == rated[::-1]
    assert interests_tables.signals_of(db, interest["id"], most=2) == rated[:1:-1]
    interests_tables.add_experiment(db, interest["id"], [rated[0][0]])
    assert interests_tables.signals_of(db, interest["id"], most=2) == [rated[0], (rated[0][0], "shipped")]


def test_each_refit_increments_the_version(interests, interest):
    give_feedback(interests, interest)
    assert [interests.refit(interest)["result"]["model_version"] for _ in range(2)] == [1, 2]


def test_too_little_feedback_keeps_the_fitted_model(interests, api, interest):
    liked, _ = give_feedback(interests, interest)
    interests.refit(interest)
    for one in liked:
        api.delete(f"/papers/recommended/{one['recommendation_id']}/feedback", params={"signal": "like"}, expect=200)
    result = interests.refit(interest)["result"]
    assert (result["model_version"], result["auc"]) == (1, None)


def test_recommendations_follow_the_model(interests):
    interest = interests.ready_broad()
    interests.refresh(interest, num_results=20)
    give_feedback(interests, interest)
    interests.refit(interest)
    before = {one["resource_id"] for one in interests.recommended(interest, limit=50)}
    interests.refresh(interest, num_results=5)
    new = [one for one in interests.recommended(interest, limit=50) if one["resource_id"] not in before]
    assert len(new) == 5
    assert any("similar to papers" in one["reasoning"] for one in interests.recommended(interest, limit=50))


def test_refit_task_belongs_to_its_history(api, interests, other_user):
    first, second = interests.create(), interests.create()
    task = interests.refit(first)["task_id"]
    path = "/experiment-histories/{}/refit-preference-model/{}"
    api.get(path.format(first["experiment_history_id"], task), expect=200)
    api.problem("GET", path.format(second["experiment_history_id"], task), 404, "not_found")
    other_user.api.problem("GET", path.format(first["experiment_history_id"], task), 404, "not_found")


def test_refit_survives_a_change_of_context(api, interests, interest):
    give_feedback(interests, interest)
    interests.refit(interest)
    api.put(f"/interests/{interest['id']}", {"context": "Something else: databases and their logs."}, expect=200)
    interests.wait_pool(interest)
    assert interests.score(interest, {"limit": 1}, expect=200).json()[0]["model_version"] == 1


def test_refit_looks_up_more_papers_than_one_call_takes(interests, interest, papers, db):
    unknown = [f"9901.{number:05d}" for number in range(1200)]
    interests_tables.add_experiment(db, interest["id"], [*list(papers)[:3], *unknown])
    task = interests.refit(interest)
    assert task["status"] == "completed" and task["attempts"] == 1
    assert task["result"]["examples"] == 3


def test_refit_keeps_a_model_of_newer_feedback(interests, interest, db):
    give_feedback(interests, interest)
    interests.refit(interest)
    interests_tables.fit_to_newer_feedback(db, interest["id"])
    task = interests.refit(interest)
    assert task["message"] == "a model fitted to newer feedback was kept"
    assert task["result"]["model_version"] == 1


@pytest.fixture
def grow(cluster, papers):
    """grow(): add papers to the index until it has a new embedder, whose version is returned. They are withdrawn afterwards."""
    api = cluster.user().api
    ids = [f"9711.{number:05}" for number in range(2 * len(papers))]

    def version():
        return api.get("/search/stats", expect=200).json()["index"]["embedder"]

    def change(how):
        before = version()
        with cluster.postgres.connect("search") as connection:
            how(connection, ids)
        return wait_for(lambda: version() != before and version(), "the embedder is trained again")

    yield lambda: change(search_tables.add_papers_on_weather)
    change(search_tables.withdraw)


def test_models_follow_a_new_embedder(interests, interest, db, grow):
    """A refresh goes over to the new version before it recommends; other interests follow by themselves."""
    other = interests.ready_broad()
    interests.refresh(other, num_results=40)
    for one in (interest, other):
        give_feedback(interests, one)
        assert interests.refit(one)["result"]["model_version"] == 1
    (before,) = interests_tables.embedders_of(db, interest["id"])
    assert before and interests_tables.embedders_of(db, other["id"]) == {before}
    version = grow()
    interests.refresh(interest)
    assert interests_tables.embedders_of(db, interest["id"]) == {version}
    wait_for(lambda: interests_tables.embedders_of(db, other["id"]) == {version}, "the other interest follows")
    for one in (interest, other):
        assert interests.score(one, {"limit": 1}, expect=200).json()[0]["model_version"] > 1
