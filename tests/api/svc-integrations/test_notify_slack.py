"""Messages to Slack: form, limits, escapes, and what its answers mean."""

import json
import time
import uuid

import pytest

from lib.outside.receiver import Receiver, Sender, status
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

WEBHOOKS = "/webhooks"
HOOK = "https://hooks.slack.com/services/T000/B000/abcdefghijkl"


@pytest.fixture
def sender(cluster, user):
    return Sender(cluster, user.account)


def make(api, url, **changes):
    return api.post(WEBHOOKS, {"kind": "slack", "url": url, "events": ["*"], **changes}, expect=201).json()


def shown(api, endpoint):
    return api.get(f"{WEBHOOKS}/{endpoint['id']}", expect=200).json()


def texts(body):
    found = [block["text"] for block in body["blocks"] if block["type"] == "section"]
    return found + [element for block in body["blocks"] if block["type"] == "context" for element in block["elements"]]


def papers(count, title="A title", **members):
    return [{"recommendation_id": str(uuid.uuid4()), "title": title, "url": f"https://arxiv.org/abs/2401.{number:05}", "relevance_score": 0.8,
             "reasoning": "because", "authors": ["A. One", "B. Two", "C. Three", "D. Four"], **members} for number in range(count)]


def test_the_address_is_a_secret(cluster, api, db):
    made = make(api, HOOK)
    assert made["url"] == "https://hooks.slack.com/services/...ijkl" and made["secret_hint"] == "ijkl" and "secret" not in made
    assert shown(api, made) == made
    row = common.rows_as_text(db, "endpoint", id=made["id"])
    assert "B000" not in row and HOOK.encode().hex() not in row
    assert api.patch(f"{WEBHOOKS}/{made['id']}", made, expect=200).json() == {**made, "updated_at": shown(api, made)["updated_at"]}
    changed = api.patch(f"{WEBHOOKS}/{made['id']}", {"url": HOOK + "mnop"}, expect=200).json()
    assert changed["url"] == "https://hooks.slack.com/services/...mnop"
    assert "B000" not in json.dumps(cluster.logs())
    for url in ("https://hooks.example.org/services/x", "https://hooks.slack.com.example.org/services/x", "https://hooks.slack.com/other"):
        api.problem("POST", WEBHOOKS, 400, "invalid_request", {"kind": "slack", "url": url, "events": ["*"]})
        api.problem("PATCH", f"{WEBHOOKS}/{made['id']}", 400, "invalid_request", {"url": url})


def test_there_is_no_secret_to_replace(api):
    api.problem("POST", f"{WEBHOOKS}/{make(api, HOOK)['id']}/rotate-secret", 409, "conflict", {})


def test_an_address_that_was_sent_back_as_shown_stays(api, sender):
    with Receiver() as receiver:
        made = make(api, receiver.url)
        api.patch(f"{WEBHOOKS}/{made['id']}", {"url": made["url"]}, expect=200)
        sender.send({"hello": "x"})
        receiver.wait(1)


@pytest.mark.parametrize("agent, sentence", [("agent_one", "A run of agent_one on acme/ranker has ended: failed"),
                                             (None, "A run of an agent on acme/ranker has ended: failed")])
def test_a_message_is_a_sentence_with_its_link(api, sender, agent, sentence):
    with Receiver() as receiver:
        make(api, receiver.url)
        sender.send({"agent": agent, "repo": "acme/ranker", "status": "failed", "url": "/console/?run=1"}, type="run.finished")
        (body,) = receiver.wait(1)
        assert body["text"] == sentence and body["unfurl_links"] is body["unfurl_media"] is False
        assert texts(body) == [{"type": "mrkdwn", "text": f"<{api.url}/console/?run=1|{sentence}>", "verbatim": True}]
        assert "webhook-signature" not in receiver.got[0][0]


def test_papers_have_reasons_and_links_that_do_not_rate(api, sender):
    with Receiver() as receiver:
        make(api, receiver.url)
        (paper,) = papers(1)
        sender.send({"count": 1, "interest_name": "ranking", "top": [paper], "url": "/console/"}, type="recommendations.refreshed")
        (body,) = receiver.wait(1)
        first, section, actions = (text["text"] for text in [*texts(body)[:2], texts(body)[2]])
        assert "1 new papers for ranking" in first
        assert section == f"*<{paper['url']}|A title>*\nhigh (0.80) · A. One, B. Two, C. Three\nbecause"
        page = f"{api.url}/console/?recommendation={paper['recommendation_id']}&signal="
        assert actions == f"<{page}like|like> · <{page}dislike|dislike> · <{page}plan|plan an experiment>"


@pytest.mark.parametrize("title", ["<!channel> & <@U1|x> *b* | " * 40, "&<>|*" * 100, "é" * 5000, "", "\u202e\n\t"],
                         ids=["mentions", "escapes", "long", "empty", "controls"])
def test_every_limit_holds_with_any_title(api, sender, title):
    with Receiver() as receiver:
        make(api, receiver.url)
        top = papers(400, title[:20] or "x")[:60] + papers(3, title, reasoning=title, authors=[title])
        sender.send({"count": 400, "interest_name": title, "top": papers(3, title, reasoning=title, authors=[title]) + top, "url": "/console/"},
                    type="recommendations.refreshed")
        (body,) = receiver.wait(1)
        assert len(body["blocks"]) <= 40 and sum(len(text["text"]) for text in texts(body)) + len(body["text"]) <= 11000
        assert all(len(text["text"]) <= 3000 and text["verbatim"] is True for text in texts(body))
        for text in texts(body):
            assert "<!" not in text["text"] and "<@" not in text["text"]
            for link in text["text"].split("<")[1:]:
                assert link.startswith("http") and link.count(">") == 1
        assert "more" in texts(body)[-1]["text"]


@pytest.mark.parametrize("code, word, reason", [(403, "action_prohibited", "action_prohibited"), (404, "no_service", "no_service"),
                                                (410, "channel_is_archived", "channel_is_archived"), (404, "<html>", "refused")])
def test_an_address_that_is_refused_for_good_is_disabled(api, sender, code, word, reason):
    with Receiver(lambda request: request.reply(code, word)) as receiver:
        made = make(api, receiver.url)
        sender.send({"n": 1})
        wait_for(lambda: shown(api, made)["status"] == "disabled")
        assert shown(api, made)["disabled_reason"] == reason


def test_a_refused_form_is_not_tried_again(api, sender):
    with Receiver(lambda request: request.reply(400, "invalid_payload")) as receiver:
        made = make(api, receiver.url)
        sender.send({"n": 1})
        row = wait_for(lambda: api.get(f"{WEBHOOKS}/{made['id']}/deliveries?status=failed", expect=200).json())[0]
        assert (row["attempts"], row["last_status"]) == (1, 400) and shown(api, made)["status"] == "active"


@pytest.mark.parametrize("before", [0, 4], ids=["the first failure", "one of many"])
def test_429_stops_the_address_for_the_time_it_asks_for(api, db, sender, before):
    with Receiver(status(429, Retry_After="600")) as receiver:
        made = make(api, receiver.url)
        integrations_tables.set_failures(db, made["id"], before, "1 minute", "1 hour")
        sender.send({"n": 1}, {"n": 2})
        wait_for(lambda: shown(api, made)["consecutive_failures"] == before + 1)
        assert 500 < integrations_tables.pause_of(db, made["id"]) <= 600 and len(receiver.got) == 1


def test_an_address_gets_one_message_a_second(api, db, sender):
    with Receiver() as receiver:
        made = make(api, receiver.url)
        sent_at = time.time()
        sender.send({"n": 1}, {"n": 2}, {"n": 3})
        receiver.wait(3)
        wait_for(lambda: shown(api, made)["waiting"] == 0)
        # Counted from the start, as an attempt may be late: the one after it is not late by as much. Times are of milliseconds.
        times = [at.timestamp() - sent_at for at in integrations_tables.attempt_times(db, made["id"])]
        assert len(times) == 3 and all(at >= number - 0.001 for number, at in enumerate(times))


def test_a_digest_shows_its_papers_by_interest(api, sender):
    interests = [{"name": f"Team <{number}>", "count": 4, "recommendations": papers(count)} for number, count in ((1, 2), (2, 1), (3, 0))]
    with Receiver() as receiver:
        make(api, receiver.url)
        sender.send({"interests": interests, "total": 12, "local_date": "2026-11-26", "url": "/console/"}, type="digest.read")
        sender.send({"interests": [], "total": 0, "message": "Nothing new.", "local_date": "2026-11-26", "url": "/console/"}, type="digest.read")
        first, second = [[text["text"] for block in body["blocks"] for text in [block.get("text"), *block.get("elements", [])] if text]
                         for body in receiver.wait(2)]
    assert [text for text in first if text.startswith("Team")] == ["Team &lt;1&gt;", "Team &lt;2&gt;"]
    assert [text.startswith("*<https://arxiv.org/abs/") for text in first].count(True) == 3 and "and 9 more" in first[-1]
    assert second[-1] == "Nothing new."


def test_a_digest_of_many_papers_keeps_the_limits(api, sender):
    interests = [{"name": "n" * 100, "count": 10, "recommendations": papers(10, "t" * 60)} for _ in range(3)]
    with Receiver() as receiver:
        make(api, receiver.url)
        sender.send({"interests": interests, "total": 30, "url": "/console/"}, type="digest.read")
        (body,) = receiver.wait(1)
    assert len(body["blocks"]) <= 40 and sum(len(text["text"]) for text in texts(body)) <= 11000
    assert "more>" in body["blocks"][-1]["elements"][0]["text"]
