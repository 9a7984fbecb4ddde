"""The audit log of a team beside what it tells of: each change has its entry, and each entry its change, however often processes were
killed between the two."""

import contextlib
import json
from collections import Counter

from lib.wait import TimedOut, wait_for

ROW = "SELECT id::text, {gone} IS NOT NULL FROM account.{table} WHERE account_id = %s"
ROWS = {  # what has rows: (its statement, the actions that make one and end one)
    "key": (ROW.format(table="api_key", gone="deleted_at") + " AND prefix <> 'log-in'", "key.created", "key.deleted"),
    "invitation": (ROW.format(table="invitation", gone="revoked_at"), "invitation.created", "invitation.revoked"),
}
CHAINS = {  # fields whose changes follow on each other: (the action, the field, its value now)
    "role": ("member.role_changed", "role", "SELECT person_id::text, role FROM account.member WHERE account_id = %s"),
    "budget": ("budget.changed", "usd", "SELECT id::text, usd FROM fleet.budget WHERE account_id = %s"),
}


def entries_of(client):
    """The account's log, oldest first."""
    lines = client.read("/account/audit", accept="application/x-ndjson").text.splitlines()
    return [json.loads(line) for line in reversed(lines)]


def compare(what, action, entries, ids):
    """What differs between the entries of an action and the rows that it tells of."""
    noted = Counter(entry["target"]["id"] for entry in entries if entry["action"] == action)
    yield from (f"{action} of {what} {one} is in the audit log {count} times" for one, count in noted.items() if count > 1)
    yield from (f"{action} of {what} {one} is not in the audit log" for one in ids - noted.keys())
    yield from (f"{action} of {what} {one} is in the audit log, and was not done" for one in noted.keys() - ids)


def follow(what, action, field, entries, now):
    """What does not follow on each other in the changes of a field."""
    value = {}
    for entry in entries:
        for change in entry["detail"]["changed"] if entry["action"] == action else ():
            one = entry["target"]["id"]
            if change["field"] == field:
                if one in value and value[one] != change["from"]:
                    yield f"{action} of {what} {one} is from {change['from']}, and was {value[one]}"
                value[one] = change["to"]
    yield from (f"{what} {one} is {is_now}, and in the audit log {value[one]}" for one, is_now in now.items()
                if one in value and value[one] != is_now)


def broken(client, database):
    """The promises that were broken to a kill.Client, once the entries of services have arrived."""
    with contextlib.suppress(TimedOut):
        wait_for(lambda: not list(differences(client, database)), "the audit log is complete")
    yield from differences(client, database)


def differences(client, database):
    entries, account = entries_of(client), client.user.account
    for what, (query, made, ended) in ROWS.items():
        rows = dict(database.execute(query, [account]).fetchall())
        yield from compare(what, made, entries, rows.keys())
        yield from compare(what, ended, entries, {one for one, is_gone in rows.items() if is_gone})
    for what, (action, field, query) in CHAINS.items():
        yield from follow(what, action, field, entries, dict(database.execute(query, [account]).fetchall()))
