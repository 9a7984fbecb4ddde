"""What an interest's words bring: addresses, other languages, what is not wanted, a new name, a new context."""

import re

from lib.wait import wait_for

OTHER_CONTEXT = "Computer vision on small devices: pruned and quantised networks for detection and segmentation."
QUOTED = re.compile(r'"([^"]+)"')


def ids(recommendations):
    return {one["resource_id"] for one in recommendations}


def matched(db, interest):
    """The words that brought the papers of its pool."""
    rows = db.execute("SELECT DISTINCT jsonb_array_elements_text(matched) FROM pool_entry WHERE interest_id = %s",
                      [interest["id"]])
    return {word.lower() for (word,) in rows}


def test_an_address_is_not_matched_but_its_words(desk, db):
    made = desk.ready(name="Speed", context="https://github.com/example-org/speculative-decoding\nhttps://www.example.com/abs/")
    words = matched(db, made)
    assert {"speculative", "decoding"} <= words
    assert not words & {"https", "github", "com", "example", "org", "abs", "www"}


def test_what_is_not_wanted_is_not_searched(desk, db):
    made = desk.ready(name="Retrieval", context="Dense retrieval. We do not want reinforcement learning. Re-ranking.")
    words = matched(db, made)
    assert {"retrieval", "dense"} <= words
    assert not words & {"reinforcement", "learning"}


def test_function_words_of_another_language_are_not_searched(desk, db):
    made = desk.ready(
        name="Agenten", context="Wir suchen Verfahren, in denen Agenten mit dem Retrieval von Texten die Fragen der Nutzer klären."
    )
    assert "retrieval" in matched(db, made)
    assert not matched(db, made) & {"in", "die", "mit", "der", "von"}


def test_a_subject_that_the_index_lacks_is_said_to_be(desk):
    made = desk.ready(name="Xyloquence", context="Zymurgistic quaffability, brewhouse lautering")
    assert made["pool_size"] == 0
    task = desk.refresh(made)
    assert "no papers in the index match 1" in task["message"]
    assert desk.recommended(made) == []


def test_a_loose_match_is_called_so(desk):
    made = desk.ready(
        name="Sourdough",
        context="Sourdough bread: hydration, lactobacillus, oven spring, crumb and how to hold the temperature of a proofing box",
    )
    desk.refresh(made, num_results=3)
    shown = desk.recommended(made)
    assert shown
    for one in shown:
        assert one["reasoning"].startswith("Loosely related"), one
        assert "may have little to do with" in one["suggested_experiment"]


def test_reasons_stand_in_the_paper(desk):
    made = desk.ready()
    desk.refresh(made, num_results=50)
    for one in desk.recommended(made, limit=50):
        title, _, abstract = one["reasoning"].partition("in the title")
        if not abstract:
            title, abstract = "", title
        for part, text in ((title, one["title"]), (abstract, one["abstract"])):
            for name in QUOTED.findall(part):
                # What is matched is the word's stem; the first letters are enough to find it by.
                for word in re.split(r"[\s-]+", name.lower()):
                    assert word[:4] in text.lower(), one


def test_code_is_pointed_to(desk, papers):
    made = desk.ready()
    desk.refresh(made, num_results=50)
    for one in desk.recommended(made, limit=50):
        code = papers[one["resource_id"]].get("github_url")
        if "Loosely" not in one["reasoning"]:
            assert (f"(code: {code})" in one["suggested_experiment"]) == bool(code)


def test_a_new_name_brings_no_paper_back(api, desk):
    made = desk.ready(daily_count=5)
    desk.refresh(made)
    before = desk.recommended(made)
    api.put(f"/interests/{made['id']}", {"name": made["name"] + " renamed"}, expect=200)
    desk.wait_pool(made)
    assert ids(desk.recommended(made)) == ids(before)
    desk.refresh(made)
    after = desk.recommended(made, limit=50)
    assert len(after) == len(ids(after)) == 10


def test_a_new_context_ranks_anew(api, desk):
    """Without being asked, and what the old one brought is not today's any more."""
    made = desk.ready(daily_count=3)
    desk.refresh(made)
    before = ids(desk.recommended(made))
    api.put(f"/interests/{made['id']}", {"context": OTHER_CONTEXT}, expect=200)
    now = wait_for(lambda: desk.recommended(made) if desk.get(made)["pool_status"] == "ready" else None, "ranked anew")
    assert len(now) == 3 and ids(now) != before
    assert ids(desk.recommended(made, period="all")) == before | ids(now)
    digest = api.get("/papers/recommended/digest", expect=200).json()
    assert ids(digest["interests"][0]["recommendations"]) == ids(now)


def test_a_context_that_comes_back_brings_its_papers_back(api, desk):
    made = desk.ready(daily_count=3)
    desk.refresh(made)
    before = ids(desk.recommended(made))
    for context in (OTHER_CONTEXT, made["context"]):
        api.put(f"/interests/{made['id']}", {"context": context}, expect=200)
        wait_for(lambda: desk.recommended(made), "ranked anew")
    assert ids(desk.recommended(made)) == before


def test_a_paused_or_fresh_interest_is_not_ranked_anew(api, desk, db):
    fresh = desk.ready()
    paused = desk.ready()
    desk.refresh(paused)
    api.post(f"/interests/{paused['id']}/toggle", expect=200)
    for made in (fresh, paused):
        api.put(f"/interests/{made['id']}", {"context": OTHER_CONTEXT}, expect=200)
        desk.wait_pool(made)
        tasks = "SELECT count(*) FROM task WHERE kind = 'recommendations_refresh' AND input ->> 'interest_id' = %s"
        assert db.execute(tasks, [made["id"]]).fetchone()[0] == (made is paused)
