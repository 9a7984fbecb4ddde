"""`svc-search harvest` against a stub of an OAI-PMH server."""

import os
import re
import subprocess

import pytest

from lib.outside.oai import arguments, deleted, error, page, record
from lib.wait import PATIENCE_SECONDS


def outcome(done):
    """The counters of the last line of the command: {"records": 3, "added": 1, ...}."""
    return {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}


def summary(done):
    """(read, new or changed, withdrawn, skipped)"""
    counts = outcome(done)
    return counts["records"], counts["added"] + counts["updated"], counts["withdrawn"], counts["skipped"]


@pytest.fixture
def harvest(cluster, stub_server):
    """harvest(answers, ...): run the command against a server that gives these answers, one for each request. An answer
    is the text of a page, or a function that is called with the request. Returns (the finished command, the arguments
    of each request)."""

    def run(answers, *args, **changes):
        left = list(answers)

        def answer(request):
            now = left.pop(0)
            if callable(now):
                now(request)
            else:
                request.reply(200, now, Content_Type="text/xml")

        server = stub_server(answer)
        settings = cluster.settings("svc-search", "command", OAI_URL=server.url + "/oai", HARVEST_DELAY="0", **changes)
        done = subprocess.run(
            [cluster.binary("svc-search"), "harvest", *(args or ["--from", "2024-03-01"])],
            env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE_SECONDS, check=False,
        )  # fmt: skip
        assert not left, f"not requested: {left}"
        return done, [arguments(path) for _, path, _, _ in server.requests]

    return run


def test_a_record_is_stored(harvest, api, new_id):
    name = new_id()
    done, asked = harvest([page([record(name)])], "--from", "2024-03-01", "--until", "2024-03-02", "--set", "cs")
    assert (done.returncode, summary(done)) == (0, (1, 1, 0, 0))
    assert asked == [
        {"verb": "ListRecords", "metadataPrefix": "arXiv", "from": "2024-03-01", "until": "2024-03-02", "set": "cs"}
    ]
    stored = api.get(f"/search/assets/{name}", expect=200).json()
    assert (stored["title"], stored["abstract"]) == ("A title", "An abstract of two lines.")
    assert (stored["authors"], stored["categories"]) == (["Ada Byron", "Team"], ["cs.LG", "stat.ML"])
    assert (stored["published_at"], stored["updated_at"]) == ("2024-02-01T00:00:00.000Z", "2024-02-20T00:00:00.000Z")
    assert stored["license"] == "http://creativecommons.org/licenses/by/4.0/"


def test_pages_are_followed_to_the_last(harvest, api, new_id):
    names = [new_id() for _ in range(5)]
    token = "1122|100 & more"
    answers = [
        page([record(names[0]), record(names[1])], token.replace("&", "&amp;"), 5),
        page([record(names[2]), record(names[3])], "next", 5),
        page([record(names[4])], None, 5),
    ]
    done, asked = harvest(answers)
    assert summary(done) == (5, 5, 0, 0)
    assert asked[1:] == [{"verb": "ListRecords", "resumptionToken": token}, {"verb": "ListRecords", "resumptionToken": "next"}]
    assert re.findall(r"(\d) of (\d)", done.stderr) == [("2", "5"), ("4", "5"), ("5", "5")]
    for name in names:
        api.get(f"/search/assets/{name}", expect=200)


def test_deleted_records_are_withdrawn(harvest, api, put, word, found):
    name = put(title=word)["arxiv_id"]
    found(word, [name])
    done, _ = harvest([page([deleted(name), deleted("9712.99998")])])
    assert summary(done) == (0, 0, 1, 0)
    api.get(f"/search/assets/{name}", expect=404)
    found(word, [])


def test_old_ids(harvest, api):
    assert harvest([page([record("math/0309136")])])[0].returncode == 0
    api.get("/search/assets/math/0309136", expect=200)


def test_markup_in_a_title(harvest, api, new_id):
    name = new_id()
    harvest([page([record(name, title="A &lt;b&gt; &amp; <![CDATA[<c>]]> &#233;")])])
    assert api.get(f"/search/assets/{name}").json()["title"] == "A <b> & <c> é"


def test_invalid_records_are_skipped(harvest, api, new_id):
    name = new_id()
    done, _ = harvest([page([record("nonsense"), record(new_id(), title=" "), record(name)])])
    assert summary(done) == (1, 1, 0, 2)
    assert re.search("nonsense: skipped: .*arXiv id", done.stderr)
    api.get(f"/search/assets/{name}", expect=200)


FORBIDDEN = ["\x03", "&#x3;", "&#3;", "&#x0;", "\ufffe", "&#xFFFF;", "&#xD800;&#xDC00;", "&#56832;", "&#x110000;", "\x1b[31m", "\x0b"]


@pytest.mark.parametrize("sign", FORBIDDEN, ids=repr)
def test_characters_that_xml_forbids_are_replaced(harvest, api, new_id, sign):
    first, second, third = new_id(), new_id(), new_id()
    pages = [page([record(first), record(second, title=f"A {sign} b", abstract=sign)], "next"), page([record(third)])]
    done, _ = harvest(pages)
    assert (done.returncode, summary(done)) == (0, (3, 3, 0, 0)), done.stderr
    title = api.get(f"/search/assets/{second}", expect=200).json()["title"]
    assert title.startswith("A \ufffd") and title.endswith(" b")
    api.get(f"/search/assets/{third}", expect=200)


@pytest.mark.parametrize("raw", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"], ids=repr)
def test_bytes_that_are_not_utf8_are_replaced(harvest, api, new_id, raw):
    name, mark = new_id(), "MARK"
    body = page([record(name, title=f"A {mark} b"), record(new_id(), title="Ünïcode")]).encode().replace(mark.encode(), raw)
    done, _ = harvest([lambda request: request.reply(200, body)])
    assert (done.returncode, summary(done)) == (0, (2, 2, 0, 0)), done.stderr
    assert "\ufffd" in api.get(f"/search/assets/{name}", expect=200).json()["title"]


def test_ampersands_and_references_of_html_are_text(harvest, api, new_id):
    name = new_id()
    done, _ = harvest([page([record(name, title="AT&T &amp; R&D, <![CDATA[&#x3; & &amp;]]>")])])
    assert (done.returncode, summary(done)) == (0, (1, 1, 0, 0)), done.stderr
    assert api.get(f"/search/assets/{name}").json()["title"].startswith("AT&T & R&D, ")


def test_a_record_that_cannot_be_read_is_skipped(harvest, api, new_id):
    good, bad, cut, last = (new_id() for _ in range(4))
    broken = record(bad).replace("</title>", "</tilte>")
    open_end = record(cut).replace("</record>", "")
    done, asked = harvest([page([record(good), broken, open_end, record(last, title="A \x03")], "next"), page([deleted("9712.99998")])])
    assert (done.returncode, len(asked)) == (0, 2), done.stderr
    assert summary(done) == (2, 2, 0, 2)
    assert f"2 skipped: {bad}, {cut}\n" in done.stdout
    assert re.search(f"{bad}: skipped: .*mismatched", done.stderr)
    for name in (good, last):
        api.get(f"/search/assets/{name}", expect=200)
    api.get(f"/search/assets/{bad}", expect=404)


def test_an_older_record_changes_nothing(harvest, api, new_id):
    name = new_id()
    assert outcome(harvest([page([record(name, title="Second")])])[0])["added"] == 1
    older, _ = harvest([page([record(name, title="First", updated="2024-02-19")])])
    assert (outcome(older)["older"], outcome(older)["updated"]) == (1, 0)
    again, _ = harvest([page([record(name, title="Second")])])
    assert outcome(again)["unchanged"] == 1
    stored = api.get(f"/search/assets/{name}").json()
    assert (stored["title"], stored["updated_at"]) == ("Second", "2024-02-20T00:00:00.000Z")


def test_an_empty_list_succeeds(harvest):
    done, _ = harvest([error("noRecordsMatch")])
    assert (done.returncode, summary(done)) == (0, (0, 0, 0, 0))


@pytest.mark.parametrize("code", ["badArgument", "cannotDisseminateFormat", "noSetHierarchy"])
def test_an_error_of_the_server_is_reported(harvest, code):
    done, _ = harvest([error(code, "because")])
    assert done.returncode == 1 and f"{code}: because" in done.stderr


def test_retry_after_is_obeyed(harvest, new_id):
    """arXiv answers 503 with Retry-After to requests that come too fast."""
    busy = [lambda request: request.reply(503, "Retry after 1 seconds", Retry_After="1"),
            lambda request: request.reply(429, "", Retry_After="Thu, 01 Jan 1998 00:00:00 GMT")]  # fmt: skip
    done, asked = harvest([*busy, page([record(new_id())])])
    assert done.returncode == 0 and len(asked) == 3
    assert "retrying in 1 s" in done.stderr


def test_failures_are_retried(harvest, new_id):
    body = page([record(new_id())])
    done, asked = harvest([lambda request: request.cut(body), lambda request: request.reply(500, "oops"), body])
    assert (done.returncode, len(asked)) == (0, 3)


def test_repeated_failures_end_the_command(harvest):
    done, asked = harvest([lambda request: request.reply(500, "oops")] * 8)
    assert done.returncode == 1 and len(asked) == 8 and "cannot read" in done.stderr


def test_a_404_is_not_retried(harvest):
    done, asked = harvest([lambda request: request.reply(404, "")])
    assert done.returncode == 1 and len(asked) == 1 and "404" in done.stderr


@pytest.mark.parametrize("code", ["badResumptionToken", "noRecordsMatch"])  # the records of a token matched before
def test_an_expired_token_restarts_the_list(harvest, api, new_id, code):
    first, second = new_id(), new_id()
    answers = [page([record(first)], "old", 2), error(code), page([record(first)], "new", 2),
               page([record(second)])]  # fmt: skip
    done, asked = harvest(answers)
    assert done.returncode == 0 and "restarting the list" in done.stderr
    assert asked[2] == asked[0]
    api.get(f"/search/assets/{second}", expect=200)


def test_tokens_that_always_expire_end_the_command(harvest, new_id):
    name = new_id()
    answers = [page([record(name)], "old"), error("badResumptionToken")] * 4
    done, _ = harvest(answers)
    assert done.returncode == 1 and "--until" in done.stderr


BOMB = """<?xml version="1.0"?>
<!DOCTYPE OAI-PMH [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><OAI-PMH><error code="x">&b;</error></OAI-PMH>"""
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE OAI-PMH SYSTEM "{url}/evil.dtd"><OAI-PMH></OAI-PMH>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no element"), ("<html>", "no element"), ("<html></html>", "not an OAI-PMH answer"), ("not XML", "syntax error"),
        ("<OAI-PMH><ListRecords></OAI-PMH>", "mismatched"), (BOMB, "document type"),
        (OUTSIDE.format(url="http://127.0.0.1:9"), "document type"), ("<OAI-PMH>\x01</OAI-PMH>", "not well-formed"),
    ],
    ids=["empty", "cut", "html", "text", "mismatched", "bomb", "outside", "control"],
)  # fmt: skip
def test_other_documents_are_refused(harvest, text, why):
    done, asked = harvest([text])
    assert (done.returncode, len(asked)) == (1, 1) and why in done.stderr, done.stderr


def test_redirects_are_followed(harvest, new_id):
    moved = [lambda request: request.reply(302, "", Location="/elsewhere?verb=ListRecords")]
    assert harvest([*moved, page([record(new_id())])])[0].returncode == 0


@pytest.mark.parametrize(
    "args",
    [["--until", "2024-03-01"], ["--from", "yesterday"], ["--from", "2024-02-30"], ["--from", "2024-03-01", "--until", "x"],
     ["--from", "2024-03-01", "more"], ["--from"], ["--unknown", "x"]],
)  # fmt: skip
def test_invalid_arguments(harvest, args):
    assert harvest([], *args)[0].returncode == 2


def test_a_repeated_token_ends_the_command(harvest, new_id):
    answers = [page([record(new_id())], token) for token in ("a", "b", "a")]
    done, asked = harvest(answers)
    assert done.returncode == 1 and "repeats a resumption token" in done.stderr
    assert len(asked) == 3


def test_one_process_harvests_at_a_time(harvest, new_id):
    others = []

    def start_another(request):
        others.append(harvest([])[0])
        request.reply(200, page([record(new_id())]))

    assert harvest([start_another])[0].returncode == 0
    assert others[0].returncode == 1
    assert re.search(r"arxiv is being harvested by the process \S+-\d+-\w+", others[0].stderr)
    assert harvest([page([])])[0].returncode == 0, "the lease was given up"


def redirect(location):
    return lambda request: request.reply(302, "", Location=location)


def test_a_redirect_to_the_private_network_is_refused(harvest, stub_server, new_id):
    """The server itself is on a loopback address, which the operator has chosen."""
    inner = stub_server(lambda request: request.reply(200, page([record(new_id())])))
    done, _ = harvest([redirect(inner.url)])
    assert done.returncode == 1 and "FETCH_ALLOW" in done.stderr
    assert inner.requests == []
    done, _ = harvest([redirect(inner.url)], FETCH_ALLOW="127.0.0.0/8")
    assert done.returncode == 0 and len(inner.requests) == 1
