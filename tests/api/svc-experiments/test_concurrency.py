"""Concurrent writers: no change is lost, the history matches the changes, and one writer wins each version."""

from lib.tables import common
from lib.tables import experiments as experiments_tables

ROUNDS = 25
WRITERS = 8


def assert_chain(experiment, field):
    """Each entry of the field starts with the value that the one before set; the last one set the current value."""
    entries = [entry for entry in reversed(experiment["history"]) if entry["field"] == field]
    for before, after in zip(entries, entries[1:]):
        assert after["from"] == before["to"]
        assert after["at"] >= before["at"]
    assert entries[-1]["to"] == experiment[field]
    return entries


def test_no_history_entry_is_lost(api, make, at_once):
    path = f"/experiments/{make()['id']}"

    def write(writer):
        for turn in range(ROUNDS):
            api.put(path, {"decision": f"{writer}.{turn}"}, expect=200)

    at_once(WRITERS, write)
    answer = api.get(path, expect=200)
    entries = assert_chain(answer.json(), "decision")
    written = {f"{writer}.{turn}" for writer in range(WRITERS) for turn in range(ROUNDS)}
    assert len(entries) == len(written) and {entry["to"] for entry in entries} == written
    assert answer.headers["etag"] == f'"{len(written) + 1}"'


def test_writers_of_different_fields_do_not_undo_each_other(api, make, at_once):
    path = f"/experiments/{make()['id']}"
    fields = ["hypothesis", "decision", "target_metric", "pr_status", "ticket_source", "external_ticket_id"]

    def write(writer):
        for turn in range(ROUNDS):
            now = api.put(path, {fields[writer]: str(turn)}, expect=200).json()
            assert now[fields[writer]] == str(turn)

    at_once(len(fields), write)
    now = api.get(path).json()
    for field in fields:
        assert [entry["to"] for entry in assert_chain(now, field)] == [str(turn) for turn in range(ROUNDS)]


def test_one_writer_wins_a_version(api, make, at_once):
    path = f"/experiments/{make()['id']}"
    for turn in range(1, 11):
        headers = {"If-Match": f'"{turn}"'}
        answers = at_once(WRITERS, lambda n: api.put(path, {"decision": f"{turn}.{n}"}, headers=headers))
        statuses = [answer.status_code for answer in answers]
        assert sorted(statuses) == [200] + [412] * (WRITERS - 1)
        winner = answers[statuses.index(200)]
        assert winner.headers["etag"] == f'"{turn + 1}"'
        now = api.get(path).json()
        assert now["decision"] == winner.json()["decision"]
        assert len(now["history"]) == turn


def test_read_change_write_loses_no_increment(api, make, at_once):
    path = f"/experiments/{make(observed_delta=0)['id']}"

    def increment(_):
        done = 0
        while done < 10:
            read = api.get(path)
            body = {"observed_delta": read.json()["observed_delta"] + 1}
            answer = api.put(path, body, headers={"If-Match": read.headers["etag"]})
            assert answer.status_code in (200, 412)
            done += answer.status_code == 200

    at_once(4, increment)
    now = api.get(path).json()
    assert now["observed_delta"] == 40
    assert [entry["to"] for entry in assert_chain(now, "observed_delta")] == list(range(1, 41))


def test_one_of_concurrent_deletions_succeeds(api, make, at_once):
    path = f"/experiments/{make()['id']}"
    statuses = [answer.status_code for answer in at_once(WRITERS, lambda _: api.delete(path))]
    assert sorted(statuses) == [200] + [404] * (WRITERS - 1)


def test_concurrent_equal_reports_count_once(api, make, at_once, db):
    made = make()
    report = {"status": "pr_opened", "pr_url": "https://example.com/pull/1", "branch_name": "b"}
    at_once(WRITERS, lambda _: api.post(f"/implement/experiments/{made['id']}/report", report, expect=200))
    fields = [entry["field"] for entry in api.get(f"/experiments/{made['id']}").json()["history"]]
    assert sorted(fields) == ["branch_name", "pipeline_status", "pr_status", "pr_url"]
    assert experiments_tables.count_reports(db, made["id"]) == 1


def test_experiments_that_are_made_and_read_at_once_do_not_affect_each_other(api, other_user, at_once, db):
    """Each has its own answer and its own event; who names another account's project is refused alone."""
    theirs = other_user.api.post("/projects", {"name": "Theirs"}, expect=201).json()["id"]

    def make(writer):
        body = {"name": f"{writer}", "hypothesis": f"of {writer}"}
        if writer % 8 == 5:
            return api.post("/experiments", {**body, "project_id": theirs}, expect=400)
        answer = api.post("/experiments", body, expect=201)
        assert (answer.json()["name"], answer.json()["hypothesis"]) == (body["name"], body["hypothesis"])
        return answer

    answers = at_once(24, make)
    made = [answer.json()["id"] for answer in answers if answer.status_code == 201]
    assert len(set(made)) == 21
    emitted = [(event.data["id"], event.request_id) for one in made for event in common.outbox(db, id=one)]
    requests = {answer.json()["id"]: answer.headers["x-request-id"] for answer in answers if answer.status_code == 201}
    assert sorted(emitted) == sorted(requests.items())

    def read(reader):
        if reader % 8 == 5:
            return other_user.api.get(f"/experiments/{made[reader % 21]}", expect=404)
        answer = api.get(f"/experiments/{made[reader % 21]}", expect=200)
        assert answer.json()["id"] == made[reader % 21]
        return answer

    at_once(42, read)
