"""Effects of an interest's text: web addresses, other languages, exclusions, a new name, a new context."""

import re

from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

OTHER_CONTEXT = "Computer vision on small devices: pruned and quantised networks for detection and segmentation."
QUOTED = re.compile(r'"([^"]+)"')


def ids(recommendations):
    return {one["resource_id"] for one in recommendations}


def test_words_of_a_web_address_are_searched(interests, db):
    addresses = "https://github.com/example-org/speculative-decoding\nhttps://www.example.com/abs/"
    made = interests.ready(name="Speed", context=addresses)
    words = interests_tables.matched_words(db, made["id"])
    assert {"speculative", "decoding"} <= words
    assert not words & {"https", "github", "com", "example", "org", "abs", "www"}


def test_exclusions_are_not_searched(interests, db):
    made = interests.ready(
        name="Retrieval", context="Dense retrieval. We do not want reinforcement learning. Re-ranking."
    )
    words = interests_tables.matched_words(db, made["id"])
    assert {"retrieval", "dense"} <= words
    assert not words & {"reinforcement", "learning"}


def test_what_is_refused_is_not_recommended(interests):
    """Neither its papers nor its words are shown, whether the refusal stands before or after the subject."""
    topic = "Agents that plan and use tools with large language models, and their evaluation on real tasks. "
    about_code = lambda one: "code" in one["title"].lower()  # noqa: E731
    plain = interests.ready(context=topic + "Code and software are a good example.")
    interests.refresh(plain, num_results=20)
    assert any(map(about_code, interests.recommended(plain, limit=20)))
    for refusal in ("No code please.", "Code is out of scope.", "We are not interested in code."):
        made = interests.ready(context=topic + refusal)
        interests.refresh(made, num_results=10)
        shown = interests.recommended(made, limit=10)
        assert len(shown) == 10 and not any(map(about_code, shown))
        assert shown[0]["relevance_score"] >= 0.8 and shown[-1]["relevance_score"] >= 0.4
        assert not any("code" in quoted.lower() for one in shown for quoted in QUOTED.findall(one["reasoning"]))


def test_function_words_of_another_language_are_not_searched(interests, db):
    """Unlike the sample's English texts, an Italian one has "come" as a function word."""
    english = interests.ready(context="Methods of retrieval that cost little, and papers to come.")
    italian = interests.ready(context="Metodi di retrieval per gli agenti, che rispondono alle domande come le persone.")
    assert {"retrieval", "come"} <= interests_tables.matched_words(db, english["id"])
    assert "retrieval" in interests_tables.matched_words(db, italian["id"]) and "come" not in interests_tables.matched_words(db, italian["id"])


def test_task_reports_a_topic_that_the_index_lacks(interests):
    made = interests.ready(name="Xyloquence", context="Zymurgistic quaffability, brewhouse lautering")
    assert made["pool_size"] == 0
    task = interests.refresh(made)
    assert "no papers in the index match it" in task["message"]
    assert interests.recommended(made) == []


def in_digest(api, interest):
    (found,) = (one for one in api.get("/papers/recommended/digest", expect=200).json()["interests"] if one["id"] == interest["id"])
    return found


def test_digest_says_that_nothing_fits(interests, api):
    """One sentence says so; not for an interest that papers fit."""
    foreign = interests.ready(
        name="Sourdough",
        context="Sourdough bread: hydration, lactobacillus, oven spring, crumb and how to hold the temperature of a proofing box",
    )
    fitting = interests.ready()
    for made in (foreign, fitting):
        interests.refresh(made, num_results=10)
    shown = in_digest(api, foreign)
    assert shown["count"] == 3, "no long list of papers that do not fit"
    assert all(one["relevance_score"] < 0.4 for one in shown["recommendations"])
    assert "nothing closer was found" in shown["recommendations"][0]["reasoning"]
    assert "nothing closer" in shown["message"]
    assert in_digest(api, fitting)["message"] is None and in_digest(api, fitting)["recommendations"][0]["relevance_score"] >= 0.4


def test_a_list_ends_where_no_more_papers_fit(interests):
    """What is left is recommended in threes."""
    made = interests.ready()
    task = interests.refresh(made, num_results=50)
    fitting = interests.recommended(made, limit=50)
    assert 10 <= len(fitting) < 50 and all(one["relevance_score"] >= 0.4 for one in fitting)
    assert "no more papers fit it" in task["message"]
    task = interests.refresh(made, num_results=3)
    assert task["result"]["interests"][0]["recommended"] == 3 and "no more papers" not in task["message"]
    assert sum("nothing closer" in one["reasoning"] for one in interests.recommended(made, limit=50)) == 3


def test_a_short_list_is_filled_up_to_three(interests, api):
    """The digest says that some of its papers hardly fit."""
    made = interests.ready(name="E-commerce", context="Recommendation in e-commerce")
    interests.refresh(made, num_results=10)
    shown = in_digest(api, made)
    fits = [one["relevance_score"] >= 0.4 for one in shown["recommendations"]]
    assert len(fits) == 3 and fits[0] and not fits[2]
    assert shown["message"].startswith("Some of the papers are hardly related")


def test_weak_matches_are_called_loosely_related(interests):
    made = interests.ready(
        name="Sourdough",
        context="Sourdough bread: hydration, lactobacillus, oven spring, crumb and how to hold the temperature of a proofing box",
    )
    interests.refresh(made, num_results=3)
    shown = interests.recommended(made)
    assert shown
    for one in shown:
        assert one["reasoning"].startswith("Loosely related"), one
        assert one["suggested_experiment"] is None


def test_quoted_phrases_are_in_the_paper(interests):
    made = interests.ready(context="Language models: retrieval, agents, training, evaluation")
    interests.refresh(made, num_results=50)
    shown = interests.recommended(made, limit=50)
    assert len(shown) >= 10
    for one in shown:
        title, _, abstract = one["reasoning"].partition("in the title")
        if not abstract:
            title, abstract = "", title
        for part, text in ((title, one["title"]), (abstract, one["abstract"])):
            for name in QUOTED.findall(part):
                # Search matches stems, so compare the first letters only.
                for word in re.split(r"[\s-]+", name.lower()):
                    assert word[:4] in text.lower(), one


def test_suggested_experiment_is_what_the_paper_claims_for_the_interest(interests, papers):
    made = interests.ready()
    interests.refresh(made, num_results=50)
    suggestions = [one for one in interests.recommended(made, limit=50) if one["suggested_experiment"]]
    assert suggestions
    for one in suggestions:
        assert one["relevance_score"] >= 0.4, "there is none for a paper that is less than loosely related"
        text, code = one["suggested_experiment"], papers[one["resource_id"]].get("github_url")
        assert f'for "{made["name"]}"; claim to check: ' in text
        claim = text.partition("claim to check: ")[2].strip('".').removesuffix("...")
        assert claim in one["abstract"].replace('"', "'")
        assert code is None or text.startswith("Measure") or f"(code: {code})" in text


def test_words_of_the_name_weigh_more_than_words_of_the_context(interests, db):
    """Two interests of the same words find other papers first."""

    def best(name, context):
        made = interests.ready(name=name, context=context)
        return list(interests_tables.pool_of(db, made["id"]))[:10]

    agents, images = "agents tools planning", "image generation diffusion"
    assert best(agents, images) != best(images, agents)


def test_a_name_that_is_a_label_is_not_searched(interests, db):
    """Otherwise one letter or number of it that is rare in papers would outweigh the context."""

    def best(name):
        made = interests.ready(name=name, context="retrieval")
        return interests_tables.pool_of(db, made["id"]), interests_tables.matched_words(db, made["id"])

    pool, words = best("x")
    assert pool and words == {"retrieval"}
    assert best("My interest") == best("Q3") == best("Interest 5d3a2b1c") == (pool, words)


def test_new_name_recommends_no_paper_again(api, interests):
    made = interests.ready(daily_count=5)
    interests.refresh(made)
    before = interests.recommended(made)
    api.put(f"/interests/{made['id']}", {"name": made["name"] + " renamed"}, expect=200)
    interests.wait_pool(made)
    assert ids(interests.recommended(made)) == ids(before)
    interests.refresh(made)
    after = interests.recommended(made, limit=50)
    assert len(after) == len(ids(after)) == 10


def test_new_context_starts_a_refresh(api, interests):
    """The refresh starts by itself, and papers of the old context are not listed for today any more."""
    made = interests.ready(daily_count=3)
    interests.refresh(made)
    before = ids(interests.recommended(made))
    api.put(f"/interests/{made['id']}", {"context": OTHER_CONTEXT}, expect=200)
    now = wait_for(lambda: interests.get(made)["pool_status"] == "ready" and interests.recommended(made), "refreshed")
    assert len(now) == 3 and ids(now) != before
    assert ids(interests.recommended(made, period="all")) == before | ids(now)
    digest = api.get("/papers/recommended/digest", expect=200).json()
    assert ids(digest["interests"][0]["recommendations"]) == ids(now)


def test_former_context_recommends_its_papers_again(api, interests):
    made = interests.ready(daily_count=3)
    interests.refresh(made)
    before = ids(interests.recommended(made))
    for context in (OTHER_CONTEXT, made["context"]):
        api.put(f"/interests/{made['id']}", {"context": context}, expect=200)
        wait_for(lambda: interests.recommended(made), "refreshed")
    assert ids(interests.recommended(made)) == before


def test_new_context_of_a_paused_interest_starts_no_refresh(api, interests, db):
    paused = interests.ready()
    interests.refresh(paused)
    api.post(f"/interests/{paused['id']}/toggle", expect=200)
    api.put(f"/interests/{paused['id']}", {"context": OTHER_CONTEXT}, expect=200)
    interests.wait_pool(paused)
    assert len(common.tasks(db, "recommendations_refresh", interest_id=paused["id"])) == 1
