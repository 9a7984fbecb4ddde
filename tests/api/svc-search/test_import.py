"""`svc-search import FILE`: arXiv's metadata snapshot and retrieval corpora, valid and invalid."""

import gzip
import json
import os
import pty
import re
import secrets
import subprocess

import pytest

from lib.scenario.words import new_word
from lib.system.servers import ROOT
from lib.tables import search as search_tables
from lib.wait import PATIENCE_SECONDS, wait_for

CORPUS = ROOT.parent / "shared" / "data" / "arxiv-cs" / "corpus.jsonl.gz"


@pytest.fixture
def run(cluster):
    """run(FILE): run the command and wait for its end."""

    def start(*args, **changes):
        return subprocess.run(
            [cluster.binary("svc-search"), "import", *map(str, args)],
            env={**os.environ, **cluster.settings("svc-search", "command", SLOW_MS="0", **changes)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
        )  # fmt: skip

    return start


@pytest.fixture
def snapshot(new_id, word):
    """snapshot(...): a line of arXiv's snapshot; arguments replace members, None removes one."""

    def make(**members):
        line = {
            "id": new_id(),
            "submitter": "Somebody",
            "authors": "Edward J. Hu, Yelong Shen and Weizhu Chen",
            "authors_parsed": [["Hu", "Edward J.", ""], ["Shen", "Yelong", "Jr."], ["Chen", "", ""]],
            "title": f"  {word}:\n  a title over lines ",
            "abstract": f"  First line of\nthe {word}.\n  Code: https://github.com/acme/low\\_rank.git. ",
            "categories": "cs.CL cs.LG",
            "versions": [
                {"version": "v1", "created": "Thu, 17 Jun 2021 17:37:18 GMT"},
                {"version": "v2", "created": "Sat, 16 Oct 2021 18:40:34 GMT"},
            ],
            "update_date": "2021-10-19",
            "license": "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
        }
        line.update(members)
        return {name: value for name, value in line.items() if value is not None}

    return make


def outcome(done):
    """The counters of the last line of the command: {"papers": 3, "added": 1, ...}."""
    return {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}


def summary(done):
    """(read, new or changed, skipped)"""
    counts = outcome(done)
    assert counts["added"] + counts["updated"] + counts["unchanged"] + counts["older"] == counts["papers"]
    return counts["papers"], counts["added"] + counts["updated"], counts["skipped"]


def test_a_line_of_the_snapshot(run, api, paper_file, snapshot, word, found):
    line = snapshot()
    done = run(paper_file([line]))
    assert (done.returncode, summary(done), done.stderr) == (0, (1, 1, 0), "")
    stored = api.get(f"/search/assets/{line['id']}", expect=200).json()
    assert stored["title"] == f"{word}: a title over lines"
    assert stored["abstract"] == f"First line of the {word}. Code: https://github.com/acme/low_rank.git."
    assert stored["authors"] == ["Edward J. Hu", "Yelong Shen Jr.", "Chen"]
    assert stored["categories"] == ["cs.CL", "cs.LG"]
    assert (stored["published_at"], stored["updated_at"]) == ("2021-06-17T17:37:18.000Z", "2021-10-16T18:40:34.000Z")
    assert stored["github_url"] == "https://github.com/acme/low_rank"
    assert stored["license"] == line["license"]
    found(word, [line["id"]])


def test_a_line_of_a_corpus(run, api, paper_file, new_id):
    line = {"_id": new_id(), "title": "T", "text": "A.", "authors": ["A B"], "categories": ["cs.LG"], "published_at": "2025-03-01"}
    assert summary(run(paper_file([line]))) == (1, 1, 0)
    stored = api.get(f"/search/assets/{line['_id']}", expect=200).json()
    assert (stored["authors"], stored["abstract"]) == (["A B"], "A.")
    assert stored["published_at"] == stored["updated_at"] == "2025-03-01T00:00:00.000Z"


def test_repeating_an_import_changes_nothing(run, api, paper_file, snapshot):
    lines = [snapshot() for _ in range(3)]
    assert summary(run(paper_file(lines))) == (3, 3, 0)
    assert summary(run(paper_file(lines))) == (3, 0, 0)
    lines[1]["title"] = "Another"
    assert summary(run(paper_file(lines))) == (3, 1, 0)
    assert api.get(f"/search/assets/{lines[1]['id']}").json()["title"] == "Another"


def version(line, number, day, **members):
    """The line as a snapshot has it once its newest version is of this day of 2021."""
    versions = [{"version": "v1", "created": "Thu, 17 Jun 2021 17:37:18 GMT"},
                {"version": f"v{number}", "created": f"Sat, {day} Oct 2021 18:40:34 GMT"}]  # fmt: skip
    return {**line, "versions": versions, "title": f"Number {number}", **members}


def test_the_newer_version_stays(run, api, paper_file, snapshot):
    line = snapshot()
    third = version(line, 3, 16)
    assert outcome(run(paper_file([third])))["added"] == 1
    done = run(paper_file([version(line, 2, 15, license="http://example.com/older")]))
    assert (outcome(done)["older"], outcome(done)["updated"]) == (1, 0)
    stored = api.get(f"/search/assets/{line['id']}").json()
    assert (stored["title"], stored["updated_at"]) == ("Number 3", "2021-10-16T18:40:34.000Z")
    assert stored["license"] == line["license"]
    assert outcome(run(paper_file([version(line, 4, 17)])))["updated"] == 1
    assert api.get(f"/search/assets/{line['id']}").json()["title"] == "Number 4"


@pytest.mark.parametrize("comments", ["This paper has been withdrawn", "12 pages, withdrawn by the author", "Withdrawn"])
def test_comments_say_that_a_paper_was_withdrawn(run, api, paper_file, snapshot, comments):
    line = snapshot(comments="12 pages, 5 figures")
    run(paper_file([line]))
    assert api.get(f"/search/assets/{line['id']}").json()["withdrawn"] is False
    assert outcome(run(paper_file([{**line, "comments": comments}])))["updated"] == 1
    assert api.get(f"/search/assets/{line['id']}").json()["withdrawn"] is True


def test_comments_are_shown_and_searched(run, api, paper_file, snapshot, found):
    venue = new_word()
    line = snapshot(comments=f"12 pages,\n accepted at {venue.upper()} 2021")
    run(paper_file([line]))
    found(venue, [line["id"]])
    (hit,) = [hit for hit in api.post("/search/assets", {"query": venue}, expect=200).json() if hit["arxiv_id"] == line["id"]]
    assert hit["comments"] == f"12 pages, accepted at {venue.upper()} 2021"
    assert hit["highlights"] == [{"field": "comments", "text": f"12 pages, accepted at <em>{venue.upper()}</em> 2021"}]


@pytest.mark.parametrize(
    ("abstract", "expected"), [("No address.", "https://github.com/acme/ranker"), ("At github.com/acme/first.", "https://github.com/acme/first")]
)
def test_comments_name_the_repository_unless_the_abstract_does(run, api, paper_file, snapshot, abstract, expected):
    line = snapshot(abstract=abstract, comments="12 pages. Code: https://github.com/acme/ranker")
    run(paper_file([line]))
    assert api.get(f"/search/assets/{line['id']}").json()["github_url"] == expected


def test_of_several_lines_with_one_id_the_newest_is_stored(run, api, paper_file, snapshot):
    line = snapshot()
    done = run(paper_file([version(line, 3, 16), version(line, 2, 15)]))
    assert (outcome(done)["added"], outcome(done)["older"]) == (1, 1)
    assert api.get(f"/search/assets/{line['id']}").json()["title"] == "Number 3"


def test_a_date_does_not_replace_a_time_of_its_day(run, api, db, paper_file, snapshot):
    line = snapshot()
    run(paper_file([line]))
    dated = {**line, "versions": None, "published_at": "2021-06-17", "update_date": "2021-10-16"}
    before = search_tables.change_of(db, line["id"])
    assert outcome(run(paper_file([dated])))["unchanged"] == 1
    assert search_tables.change_of(db, line["id"]) == before
    assert outcome(run(paper_file([{**dated, "title": "Of that day"}])))["updated"] == 1
    stored = api.get(f"/search/assets/{line['id']}").json()
    assert (stored["title"], stored["published_at"]) == ("Of that day", "2021-06-17T17:37:18.000Z")
    assert stored["updated_at"] == "2021-10-16T18:40:34.000Z"


def test_skipped_lines_are_named_in_the_last_line(run, paper_file, snapshot):
    path = paper_file([snapshot(), *["nonsense"] * 7])
    done = run(path)
    assert outcome(done)["skipped"] == 7
    assert f"7 skipped: {path}:2, {path}:3, {path}:4, {path}:5, {path}:6, …" in done.stdout


def test_an_import_keeps_the_container(run, operator, paper_file, snapshot):
    line = snapshot()
    run(paper_file([line]))
    operator.api.put(f"/search/assets/{line['id']}", {"container_status": "ready", "containerfile": "FROM x"}, expect=200)
    line["title"] = "Changed"
    assert summary(run(paper_file([line]))) == (1, 1, 0)
    stored = operator.api.get(f"/search/assets/{line['id']}").json()
    assert (stored["title"], stored["has_container"], stored["containerfile"]) == ("Changed", True, "FROM x")


def test_an_import_restores_a_withdrawn_paper(run, api, db, paper_file, snapshot):
    line = snapshot()
    run(paper_file([line]))
    search_tables.withdraw(db, [line["id"]])
    assert summary(run(paper_file([line]))) == (1, 1, 0)
    api.get(f"/search/assets/{line['id']}", expect=200)


def test_a_line_with_a_too_long_category_is_skipped(run, api, paper_file, snapshot):
    """It would not fit into an index row, so the database would refuse the whole batch each time."""
    lines = [snapshot(), {**snapshot(), "categories": secrets.token_hex(5000)}, snapshot()]
    assert summary(run(paper_file(lines))) == (2, 2, 1)
    api.get(f"/search/assets/{lines[2]['id']}", expect=200)


def test_of_several_lines_with_one_id_the_last_is_stored(run, api, paper_file, snapshot):
    line = snapshot()
    lines = [{**line, "title": f"Number {number}", "id": f"{line['id']}v{number}"} for number in range(1, 10)]
    assert summary(run(paper_file(lines))) == (9, 1, 0)
    assert api.get(f"/search/assets/{line['id']}").json()["title"] == "Number 9"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n\r\n"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("has_last_end", [True, False])
def test_plain_and_gzip_files_with_any_line_end(run, tmp_path, snapshot, end, suffix, has_last_end):
    data = end.join(json.dumps(snapshot()) for _ in range(3)) + (end if has_last_end else "")
    path = tmp_path / f"papers.jsonl{suffix}"
    path.write_bytes(gzip.compress(data.encode()) if suffix else data.encode())
    assert summary(run(path)) == (3, 3, 0)


def test_gzip_in_several_members(run, tmp_path, snapshot):
    path = tmp_path / "papers.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(json.dumps(snapshot()).encode() + b"\n") for _ in range(3)))
    assert summary(run(path)) == (3, 3, 0)


def test_a_truncated_gzip_file_is_stored_up_to_the_cut_and_fails(run, tmp_path, snapshot):
    lines = [snapshot(abstract=os.urandom(500).hex()) for _ in range(400)]
    data = gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode())
    path = tmp_path / "papers.jsonl.gz"
    path.write_bytes(data[: len(data) // 2])
    done = run(path)
    assert done.returncode == 1
    read, written, _ = summary(done)
    assert 100 < read < 400 and written == read
    assert re.search(rf"{re.escape(str(path))}: line \d+: .*end of file", done.stderr)


def test_damaged_gzip_data_fails(run, tmp_path, snapshot):
    data = bytearray(gzip.compress("".join(json.dumps(snapshot()) + "\n" for _ in range(50)).encode()))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "papers.jsonl.gz"
    path.write_bytes(data)
    assert run(path).returncode == 1


INVALID_LINES = [
    ("{", "byte"), ("[]", "not an object"), ("nonsense", "byte"), ('"text"', "not an object"), ("{}", "no id"),
    ('{"id": 5, "title": "x"}', "id is not a string"), ('{"id": "x", "title": "x"}', "neither an arXiv id"),
    ('{"id": "2401.00001"}', "no title"), ('{"id": "2401.00001", "title": "  "}', "no title"),
    ('{"id": "2401.00001", "title": "x", "authors": 5}', "authors"),
    ('{"id": "2401.00001", "title": "x", "authors": [5]}', "authors"),
    ('{"id": "2401.00001", "title": "x", "categories": 5}', "categories"),
    ('{"id": "2401.00001", "title": "x", "categories": "cs.LG; cs.AI"}', "a category"),
    ('{"id": "2401.00001", "title": "x", "github_url": "javascript:x"}', "github_url"),
    ('{"id": "2401.00001", "title": "' + "x" * 1001 + '"}', "1000 characters"),
    ('{"id": "2401.00001", "title": "x", "abstract": "' + "x" * 50001 + '"}', "50000 characters"),
    ('{"id": "2401.00001", "title": "\\u0000"}', "byte"), ('{"id": "2401.00001", "title": "\\ud800"}', "byte"),
    ('{"id": "a", "id": "b"}', "duplicate"), ("[" * 100 + "]" * 100, "byte"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "why"), INVALID_LINES, ids=lambda value: value[:30])
def test_an_invalid_line_is_reported_and_skipped(run, paper_file, snapshot, line, why):
    path = paper_file([snapshot(), line, snapshot()])
    done = run(path)
    assert (done.returncode, summary(done)) == (0, (2, 2, 1))
    (said,) = [text for text in done.stderr.splitlines() if not text.startswith("{")]  # a server that is slow is logged
    assert said.startswith(f"{path}:2: skipped: ") and why in said


def test_invalid_utf8_and_nul_are_skipped(run, tmp_path, snapshot):
    path = tmp_path / "papers.jsonl"
    good = json.dumps(snapshot()).encode()
    path.write_bytes(good + b'\n{"id": "2401.00001", "title": "\xff"}\n{"id": "2401.00001",\0 "title": "x"}\n' + good)
    done = run(path)
    assert (done.returncode, summary(done)) == (0, (2, 1, 2))


@pytest.mark.parametrize("length", [1024 * 1024, 1024 * 1024 + 1, 1024 * 1024 + 2, 3 * 1024 * 1024])
def test_the_longest_lines(run, tmp_path, snapshot, length):
    """A line of 1 MiB is read, a longer one is skipped as one line."""
    line = json.dumps(snapshot()).encode()
    after = json.dumps(snapshot()).encode()
    path = tmp_path / "papers.jsonl"
    path.write_bytes(line + b" " * (length - len(line)) + b"\r\n" + after)
    done = run(path)
    is_read = length <= 1024 * 1024
    assert (done.returncode, summary(done)) == (0, (2, 2, 0) if is_read else (1, 1, 1))
    assert is_read or (done.stderr.startswith(f"{path}:1: skipped: ") and "1 MiB" in done.stderr)


def test_many_long_invalid_lines_need_little_memory(cluster, tmp_path, snapshot):
    path = tmp_path / "papers.jsonl"
    with open(path, "wb") as file:
        for _ in range(300):
            file.write(b'{"id": "x", "title": "' + b"x" * 1000000 + b'"}\n')
        file.write(json.dumps(snapshot()).encode())
    script = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True);"
    script += "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    env = {**os.environ, **cluster.settings("svc-search", "command")}
    command = ["/usr/bin/python3", "-c", script, cluster.binary("svc-search"), "import", path]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    status, kilobytes = map(int, done.stdout.split())
    assert status == 0 and kilobytes < 400_000


def test_an_empty_file_is_valid(run, paper_file):
    done = run(paper_file([]))
    assert (done.returncode, summary(done), done.stderr) == (0, (0, 0, 0), "")


def test_a_file_without_papers_fails_with_a_short_report(run, paper_file):
    done = run(paper_file(["This is not JSON."] * 1000))
    assert (done.returncode, summary(done)) == (1, (0, 0, 1000))
    assert done.stderr.count("\n") < 30 and "no line is a paper" in done.stderr


def test_a_missing_file(run, tmp_path):
    done = run(tmp_path / "absent.jsonl")
    assert done.returncode == 1 and "absent.jsonl: No such file or directory" in done.stderr
    done = run(tmp_path)
    assert done.returncode == 1 and "Is a directory" in done.stderr


@pytest.mark.parametrize("args", [[], ["a", "b"]])
def test_invalid_arguments(run, args):
    done = run(*args)
    assert done.returncode == 2 and "usage: svc-search import FILE" in done.stderr


def test_an_unreachable_database(run, paper_file, snapshot):
    done = run(paper_file([snapshot()]), DATABASE_URL="postgres://nobody:secret@127.0.0.1:9/none")
    assert done.returncode == 1 and "database" in done.stderr and "secret" not in done.stderr


def read_all(terminal):
    """Everything that was written to a terminal whose other end is closed. Its end is reported as an OSError."""
    pieces = []
    try:
        while piece := os.read(terminal, 65536):
            pieces.append(piece)
    except OSError:
        pass
    return b"".join(pieces)


def test_the_progress_bar_is_shown_on_terminals(cluster, paper_file, snapshot):
    path = paper_file([snapshot() for _ in range(5)])
    ours, theirs = pty.openpty()
    env = {**os.environ, **cluster.settings("svc-search", "command")}
    done = subprocess.run(
        [cluster.binary("svc-search"), "import", path], env=env, stdout=subprocess.PIPE, stderr=theirs, check=True, text=True
    )
    os.close(theirs)
    assert "100%  5 papers" in read_all(ours).decode()
    os.close(ours)
    assert "#" not in done.stdout


def test_a_killed_import_can_be_repeated(cluster, run, db, paper_file, snapshot, word, withdrawn):
    lines = [snapshot(abstract="Words. " * 100) for _ in range(6000)]
    path = paper_file(lines)
    ids = [line["id"] for line in lines]
    withdrawn += ids
    stored = lambda: search_tables.count_of(db, ids)  # noqa: E731
    env = {**os.environ, **cluster.settings("svc-search", "command"), "PGAPPNAME": word}
    started = subprocess.Popen([cluster.binary("svc-search"), "import", path], env=env, stdout=subprocess.DEVNULL)
    wait_for(stored, "the first batch is stored")
    started.kill()
    started.wait()
    # The server may still be committing the batch that was under way.
    wait_for(lambda: not search_tables.is_connected(db, word), "the last batch has ended")
    before = stored()
    assert before % 1000 == 0 and 0 < before <= 6000
    read, written, skipped = summary(run(path))
    assert (read, skipped, before + written) == (6000, 0, 6000)


@pytest.fixture
def withdrawn(api, db):
    """A list of ids; those papers are withdrawn after the test, so that tests of other folders do not find them."""
    ids = []
    yield ids
    search_tables.withdraw(db, ids)

    def is_removed():
        stats = api.get("/search/stats", expect=200).json()
        return stats["index"]["documents"] == stats["total_assets"]

    wait_for(is_removed, "the index has removed them")


def test_real_papers(run, api, tmp_path, withdrawn):
    if not CORPUS.exists():
        pytest.skip(f"no corpus at {CORPUS}")
    path = tmp_path / "some.jsonl"
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        some = [next(lines) for _ in range(500)]
    withdrawn += [json.loads(line)["_id"] for line in some]
    path.write_text("".join(some), encoding="utf-8")
    done = run(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert summary(done)[0] == 500
    for line in some[::50]:
        paper = json.loads(line)
        assert api.get(f"/search/assets/{paper['_id']}", expect=200).json()["categories"] == paper["categories"]
