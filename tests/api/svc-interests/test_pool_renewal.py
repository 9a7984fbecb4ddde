"""A pool is renewed with the papers that have changed since the last search; all papers are searched once a week."""

import itertools

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables
from lib.tables import search as search_tables
from lib.wait import wait_for

NAME = "svc-interests"
numbers = itertools.count(1)
OTHER_CONTEXT = "Computer vision on small devices: pruned and quantised networks for detection."
TEXT = (
    "We re-rank passages for question answering over documents: dense and hybrid retrieval, query rewriting and retrieval-augmented "
    "generation with language models find better evidence for an answer."
)


@pytest.fixture
def put(cluster, papers, operator):
    """put(abstract): the id of a new paper, which is withdrawn after the test."""
    made = []

    def store(abstract=TEXT):
        made.append(f"2611.{next(numbers):05}")
        body = {"title": "Evidence for answers", "abstract": abstract, "categories": ["cs.CL"], "published_at": "2026-11-20T00:00:00Z"}
        operator.api.put(f"/search/assets/{made[-1]}", body, expect=200)
        return made[-1]

    yield store
    with cluster.postgres.connect("search") as search:
        search_tables.withdraw(search, made)


@pytest.fixture
def renewed(db, interests):
    """An interest whose refreshes only renew its pool: all papers were searched tomorrow."""
    made = interests.ready()
    interests_tables.move_whole_search(db, made["id"], 1)
    return made


@pytest.fixture
def small_pools(cluster):
    """Pools of ten papers."""
    (process,) = cluster[NAME]
    former = process.env
    for env in ({**former, "POOL_SIZE": "10"}, former):
        process.stop()
        process.env = env
        process.start()
        process.wait_ready()
        if env is not former:
            yield


@pytest.fixture
def recovered(cluster):
    yield
    cluster.recover()


def pool_after_refresh(db, interests, interest):
    interests.refresh(interest, num_results=1)
    return interests_tables.pool_of(db, interest["id"])


def is_renewed(db, interest):
    """No search for the pool since was of all papers."""
    return interests_tables.whole_search_age(db, interest["id"]) == -1


def test_a_new_paper_enters_and_a_changed_one_leaves(operator, db, interests, renewed, put):
    paper = put()
    wait_for(lambda: paper in pool_after_refresh(db, interests, renewed), "the paper is a candidate")
    operator.api.put(f"/search/assets/{paper}", {"title": "Cosmic rays", "abstract": "Muon showers over the ocean."}, expect=200)
    wait_for(lambda: paper not in pool_after_refresh(db, interests, renewed), "the paper is none any more")
    assert is_renewed(db, renewed)


def test_a_withdrawn_paper_leaves(cluster, db, interests, renewed, put):
    paper = put()
    wait_for(lambda: paper in pool_after_refresh(db, interests, renewed), "the paper is a candidate")
    with cluster.postgres.connect("search") as search:
        search_tables.withdraw(search, [paper])
    wait_for(lambda: paper not in pool_after_refresh(db, interests, renewed), "the paper is none any more")
    assert is_renewed(db, renewed)


def test_a_renewed_pool_is_that_of_all_papers(db, interests, renewed, put):
    """Ten nights bring a paper each; then all are searched. The last of both can differ: there a paper that has not changed can enter."""
    made = []
    for number in range(10):
        made.append(put(f"{TEXT} Part {number}."))
        wait_for(lambda: made[-1] in pool_after_refresh(db, interests, renewed), "the paper is a candidate")
    pool = interests_tables.pool_of(db, renewed["id"])
    assert is_renewed(db, renewed)
    interests_tables.move_whole_search(db, renewed["id"], -14)
    whole = pool_after_refresh(db, interests, renewed)
    assert interests_tables.whole_search_age(db, renewed["id"]) == 0
    assert set(list(pool)[:50]) <= set(whole) and set(list(whole)[:50]) <= set(pool)
    assert set(made) <= set(pool) and set(made) <= set(whole)
    assert all(abs(relevance - whole[paper]) < 0.05 for paper, relevance in pool.items() if paper in whole)


def test_a_recommendation_leaves_the_rows_of_papers_alone(db, interests, renewed):
    """To lock the row of each would write its page, on a day of ten thousand interests nearly all pages of papers."""
    before = interests_tables.paper_locks(db, renewed["id"])
    interests.refresh(renewed, num_results=3)
    assert len(interests.recommended(renewed)) == 3
    after = interests_tables.paper_locks(db, renewed["id"])
    both = before.keys() & after.keys()  # papers of other tests may leave
    assert len(both) > 3 and [after[paper] for paper in both] == [before[paper] for paper in both]


def test_all_papers_are_searched_once_a_week(db, interests):
    """On one of the seven days that an interest was not searched for, it is its turn."""
    interest = interests.ready()
    turns = []
    for _ in range(7):
        interests_tables.move_whole_search(db, interest["id"], -1)
        interests.refresh(interest, num_results=1)
        turns.append(interests_tables.whole_search_age(db, interest["id"]) == 0)
        if turns[-1]:
            break
    assert turns[-1]
    interests.refresh(interest, num_results=1)
    assert interests_tables.whole_search_age(db, interest["id"]) == 0


def test_a_pool_that_is_used_up_is_filled_again(small_pools, interests):
    """Five refreshes of four papers: more than the pool had, and fewer than there are."""
    interest = interests.ready_broad()
    for _ in range(5):
        interests.refresh(interest, num_results=4)
    assert len(interests.recommended(interest)) == 20


def test_papers_that_were_recommended_take_no_places(small_pools, db, interests):
    """However many they are. The best few stay, to rank the others with."""
    interest = interests.ready_broad()
    for _ in range(6):
        interests.refresh(interest, num_results=10)
    known = {one["resource"]["arxiv_id"] for one in interests.recommended(interest, limit=100)}
    for number in range(1000):
        interests_tables.add_recommendation(db, interest["id"], f"0001.{number:05}")
    db.commit()
    interests_tables.move_whole_search(db, interest["id"], -14)
    whole = pool_after_refresh(db, interests, interest)
    assert len(set(whole) - known) == 10
    assert 50 <= len(set(whole) & known) < 60
    interests_tables.move_whole_search(db, interest["id"], 1)
    renewed = pool_after_refresh(db, interests, interest)
    assert set(renewed) < set(whole) and len(set(renewed) - known) == 9


def test_another_context_is_searched_for(api, db, interests, renewed):
    api.put(f"/interests/{renewed['id']}", {"context": OTHER_CONTEXT}, expect=200)
    interests.wait_pool(renewed)
    assert interests_tables.whole_search_age(db, renewed["id"]) == 0


@pytest.mark.parametrize("change", [{"sources": ["biorxiv"]}, {"sources": ["arxiv", "medrxiv"]}])
def test_other_sources_are_searched_for(api, db, interests, renewed, change):
    api.put(f"/interests/{renewed['id']}", change, expect=200)
    interests.wait_pool(renewed)
    interests.refresh(renewed, num_results=1)
    assert interests_tables.whole_search_age(db, renewed["id"]) == 0


def test_a_cursor_that_means_nothing(db, interests, renewed):
    """As after the database of svc-search was replaced."""
    before = interests_tables.pool_of(db, renewed["id"])
    interests_tables.set_cursor(db, renewed["id"], "x/y/7")
    assert pool_after_refresh(db, interests, renewed) == pytest.approx(before, abs=0.05)
    assert interests_tables.whole_search_age(db, renewed["id"]) == 0


def test_a_night_without_svc_search_is_made_up_for(cluster, recovered, db, interests, renewed, put):
    paper = put()
    cluster.stop("svc-search")
    interests.refresh(renewed, num_results=1)
    cluster.start("svc-search")
    cluster.wait_ready("svc-search")
    wait_for(lambda: paper in pool_after_refresh(db, interests, renewed), "the paper is a candidate")
    assert is_renewed(db, renewed)


def test_a_killed_renewal_is_made_again(cluster, recovered, api, db, interests, renewed, put):
    """svc-interests is killed while the renewed pool waits to be stored."""
    paper = put()
    with cluster.postgres.connect("interests") as holder:
        holder.autocommit = False
        interests_tables.lock_interest(holder, renewed["id"])
        refresh = interests.start_refresh(renewed)
        task = refresh.json()["task_id"]
        wait_for(lambda: common.task_status(db, task) == "running", "the refresh has begun")
        common.wait_blocked(db, "interests")
        cluster.kill9(NAME)
        holder.rollback()
    common.end_lease(db, task)
    cluster.start(NAME, len(cluster[NAME]))
    cluster.wait_ready(NAME)
    assert api.wait_task(refresh)["status"] == "completed"
    wait_for(lambda: paper in pool_after_refresh(db, interests, renewed), "the paper is a candidate")
    assert is_renewed(db, renewed)


def test_a_pool_that_another_has_stored_meanwhile(cluster, api, db, interests, renewed, put):
    """What a search changes is told of the pool as it was read."""
    paper = put(f"{TEXT} Zanzibar.")
    wait_for(lambda: paper in str(api.post("/search/assets", {"query": "Zanzibar"}, expect=200).json()), "the paper is found")
    with cluster.postgres.connect("interests") as other:
        other.autocommit = False
        interests_tables.lock_interest(other, renewed["id"])
        task = api.post("/papers/recommended/refresh", {"interest_id": renewed["id"]}, expect=202).json()["task_id"]
        wait_for(lambda: common.blocked(db, "interests", "pool_search"), "the pool is to be stored")
        interests_tables.empty_pool(other, renewed["id"])
        interests_tables.set_cursor(other, renewed["id"], "x/y/7")
        other.commit()
    assert common.wait_ended(db, task)[0] == "completed"
    assert len(interests_tables.pool_of(db, renewed["id"])) == interests.get(renewed)["pool_size"]


def test_an_answer_that_is_kept_late_leaves_a_newer_paper(db):
    paper = "9901.00001"
    with db.transaction(force_rollback=True):
        interests_tables.keep_paper(db, paper, 2, "second", "AgI=")
        interests_tables.keep_paper(db, paper, 1, "first", "AQE=")
        assert interests_tables.kept_paper(db, paper) == (2, "second", "second", "AgI=")
        interests_tables.keep_paper(db, paper, 2, "second", "AwM=")
        interests_tables.keep_paper(db, paper, 3, "third", "BAQ=")
        assert interests_tables.kept_paper(db, paper) == (3, "third", "third", "BAQ=")


def test_an_abstract_is_kept_once(db):
    """Also where an asset has it, as those of a former svc-search do."""
    paper = "9901.00002"
    with db.transaction(force_rollback=True):
        interests_tables.keep_paper(db, paper, 1, "first", "AgI=")
        assert interests_tables.known_paper(db, paper) == {"title": "first"}
