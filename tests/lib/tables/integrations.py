"""Tables of svc-integrations."""

from contextlib import contextmanager
from datetime import timedelta

from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb


# Connections


def account_of(db, connection):
    return str(db.execute("SELECT account_id FROM connection WHERE id = %s", [connection]).fetchone()[0])


def connections_of(db, account):
    return [str(connection) for (connection,) in db.execute("SELECT id FROM connection WHERE account_id = %s", [account])]


def sealed_token(db, connection):
    return bytes(db.execute("SELECT sealed FROM connection WHERE id = %s", [connection]).fetchone()[0])


def key_names(db):
    """The beginnings of what connections have sealed: the length and the first letters of the key's name."""
    return {bytes(sealed[:4]) for (sealed,) in db.execute("SELECT sealed FROM connection")}


def copy_token(db, login, connection):
    """Put the sealed token of a user into another connection, as one who can write to the table might."""
    db.execute("UPDATE connection SET sealed = (SELECT sealed FROM connection WHERE external_id = %s) WHERE id = %s", [login, connection])


def refuse_connection(db, connection):
    """The provider has refused the connection's token."""
    db.execute("UPDATE connection SET status = 'expired', status_reason = 'refused' WHERE id = %s", [connection])


def age_refusals(db, connection, minutes):
    """The provider has refused the connection's token in unclear words so much longer ago."""
    db.execute("UPDATE connection SET refused_since = refused_since - %(age)s, refused_at = refused_at - %(age)s WHERE id = %(id)s",
               {"age": timedelta(minutes=minutes), "id": connection})


def drop_connection(db, connection):
    db.execute("DELETE FROM connection WHERE id = %s", [connection])


def maker_of(db, connection):
    """(key, person)"""
    row = db.execute("SELECT key_id, person_id FROM connection WHERE id = %s", [connection]).fetchone()
    return tuple(value and str(value) for value in row)


def forget_maker(db, connection):
    """As if a version that does not note who connects had made it."""
    db.execute("UPDATE connection SET key_id = NULL, person_id = NULL WHERE id = %s", [connection])


def forget_endpoint_maker(db, endpoint):
    """As if a version that does not note who makes an endpoint had made it."""
    db.execute("UPDATE endpoint SET key_id = NULL, person_id = NULL WHERE id = %s", [endpoint])


def end_maker(db, account, person, keys):
    """The gateway says that a person with these keys has lost their place in the account."""
    told = Jsonb({"person_id": person, "key_ids": keys, "is_founder": False})
    db.execute("SELECT connections_of_maker_end(%(account)s, %(told)s, '[\"tracker_b\"]', ''), endpoints_of_maker_disable(%(account)s, %(told)s)",
               {"account": account, "told": told})


def maker_waits(db):
    """Whether the end of somebody's connections waits for a lock."""
    return db.execute("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%connections_of_maker_end%'").rowcount > 0


def lock_connection(holder, connection):
    """Until the holder's transaction ends, nobody can take the lease to refresh the connection's token."""
    holder.execute("SELECT FROM connection WHERE id = %s FOR UPDATE", [connection])


def is_refreshing(db, connection):
    """A process has the lease to refresh the token."""
    return db.execute("SELECT refresh_until > now() FROM connection WHERE id = %s", [connection]).fetchone()[0]


@contextmanager
def refreshed_token_waits(db, login):
    """Storing a refreshed token of the user waits meanwhile."""
    name = f"hold_{login.replace('-', '_')}"
    db.execute(f"CREATE TABLE {name} (held boolean)")
    db.execute(f"INSERT INTO {name} VALUES (true); GRANT ALL ON {name} TO expops_integrations")
    db.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"PERFORM FROM integrations.{name} FOR UPDATE; RETURN NEW; END $$"
    )
    db.execute(
        f"CREATE TRIGGER {name} BEFORE UPDATE ON connection FOR EACH ROW "
        f"WHEN (OLD.external_id = '{login}' AND OLD.sealed <> NEW.sealed) EXECUTE FUNCTION {name}()"
    )
    try:
        with db.transaction():
            db.execute(f"SELECT FROM {name} FOR UPDATE")
            yield
    finally:
        db.execute(f"DROP TRIGGER {name} ON connection; DROP FUNCTION {name}(); DROP TABLE {name}")


def is_to_be_revoked(db, connection):
    """The token of a removed connection is kept until its provider has revoked it."""
    return db.execute("SELECT FROM revocation WHERE id = %s", [connection]).rowcount == 1


def expire_attempts(db, redirect_uri):
    """Whoever was to come back to this address has not come in time."""
    db.execute("UPDATE authorization_attempt SET expires_at = now() - interval '1 s' WHERE redirect_uri = %s", [redirect_uri])


# Identities


def hold_proofs(db):
    """Until the transaction ends, whoever verifies identities waits."""
    db.execute("LOCK TABLE identity_order IN EXCLUSIVE MODE")


def waiting_proofs(db):
    return db.execute("SELECT count(*) FROM pg_locks WHERE relation = 'identity_order'::regclass AND NOT granted").fetchone()[0]


# The app, where it is installed, and who may push


def forget_app(db):
    """No app is registered."""
    db.execute("DELETE FROM app; DELETE FROM app_facts")


def app_secrets(db):
    return bytes(db.execute("SELECT secrets FROM app").fetchone()[0])


def forget_app_facts(db):
    """What the code host has said of the app, which is believed for a minute, was never asked."""
    db.execute("DELETE FROM app_facts")


def age_app_facts(db):
    db.execute("UPDATE app_facts SET told_at = told_at - interval '1 minute'")


def expire_landings(db, account):
    """The account has not come back from the code host in time."""
    db.execute("UPDATE landing_state SET expires_at = now() - interval '1 s' WHERE account_id = %s", [account])


def lock_landings(holder, account):
    """Until the holder's transaction ends, nobody can use up the account's states."""
    holder.execute("SELECT FROM landing_state WHERE account_id = %s FOR UPDATE", [account])


def remember_installation(db, repo, number):
    db.execute("INSERT INTO installation (repo, installation_id, owner_login, permissions) VALUES (lower(%s), %s, 'acme', '{}')",
               [repo, number])


def installed(db, repos):
    """Those of the repositories that the app is known to be installed on, in their order."""
    rows = db.execute("SELECT repo FROM installation WHERE repo = ANY (%s) ORDER BY repo", [[repo.lower() for repo in repos]])
    return [repo for (repo,) in rows]


def forget_installations(db, *repos):
    db.execute("DELETE FROM installation WHERE repo = ANY (%s)", [list(repos)])


def age_installations(db):
    """What is known of installations was heard a minute before."""
    db.execute("UPDATE installation SET told_at = told_at - interval '1 minute'")


def age_absences(db):
    """That the app is not installed was heard a minute before."""
    db.execute("UPDATE installation_absence SET told_at = told_at - interval '1 minute'")


def age_lookups(db):
    """The hour in which an account's lookups are counted began an hour before."""
    db.execute("UPDATE installation_lookup SET began_at = began_at - interval '1 hour'")


def age_access(db, repo=None):
    """What is remembered of push access, to a repository or to all, was heard five minutes before."""
    db.execute("UPDATE repository_access SET told_at = told_at - interval '5 minutes' WHERE %(repo)s::text IS NULL OR repo = lower(%(repo)s)",
               {"repo": repo})


def pass_dispatch(db, key):
    """A dispatch was sent so long ago that its run would be there."""
    db.execute("UPDATE dispatch SET dispatched_at = dispatched_at - interval '3 minutes', sent_again_at = sent_again_at - interval '3 minutes'"
               " WHERE key = %s", [key])


def pass_a_day(db, account):
    """What was dispatched for the account was a day ago."""
    db.execute("UPDATE dispatch SET dispatched_at = dispatched_at - interval '24 hours' WHERE account_id = %s", [account])


def end_limits(db):
    """No limit of the code host is obeyed any more."""
    db.execute("DELETE FROM rate_limit")


@contextmanager
def answers_refused(db):
    """The database shuts down when the answer to a dispatch is noted."""
    db.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '57P01'; END $$;"
               " CREATE TRIGGER refuse BEFORE UPDATE ON dispatch FOR EACH ROW EXECUTE FUNCTION refuse()")
    try:
        yield
    finally:
        db.execute("DROP FUNCTION refuse CASCADE")


def count_tokens(db, account, count):
    """So many tokens were made for the account this hour."""
    db.execute("UPDATE installation_lookup SET tokens = %s WHERE account_id = %s", [count, account])


def count_lists(db, account, count):
    """So many pages of lists were read for the account this hour."""
    db.execute("UPDATE installation_lookup SET lists = %s WHERE account_id = %s", [count, account])


def has_lost_access(db, account):
    """The other services were told that the account has lost its access to some repository, and it has not got it back."""
    return db.execute("SELECT FROM access_lost WHERE account_id = %s", [account]).rowcount > 0


def refuse_twice(db, account):
    """The code host did not accept the account's connection twice before."""
    db.execute("UPDATE connection SET unaccepted = 2, unaccepted_at = now() - interval '5 minutes' WHERE account_id = %s AND provider = 'code_host'",
               [account])


def age_refusal_of_code_host(db, account, by):
    """The provider did not accept a connection of the account so much longer ago."""
    db.execute("UPDATE connection SET unaccepted_at = unaccepted_at - %s::interval WHERE account_id = %s", [by, account])


def forget_access(db):
    db.execute("DELETE FROM repository_access")


def forget_number(db, repo):
    """The access to a repository was remembered before its number was."""
    db.execute("UPDATE repository_access SET repository_id = NULL WHERE repo = lower(%s)", [repo])


def forget_repositories(db, owner, numbers):
    """Nothing is known of an owner's installations and of the repositories of these numbers."""
    db.execute("DELETE FROM installation WHERE repo LIKE %s || '/%%'", [owner])
    for table in ("repository", "repository_former"):
        db.execute(f"DELETE FROM {table} WHERE number = ANY (%s)", [list(numbers)])


# The ledger of the code host's deliveries


def delivery(db, delivery):
    """Its status, reason, body, and the number of the secret that verified it; None: the ledger does not have it."""
    with db.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute("SELECT status, reason, body, secret FROM delivery WHERE id = %s", [delivery]).fetchone()


def ledger_of(db, deliveries):
    """[(delivery, status)] of all rows that the ledger has of the deliveries."""
    return db.execute("SELECT id, status FROM delivery WHERE id = ANY (%s)", [list(deliveries)]).fetchall()


def times_received(db, delivery):
    return db.execute("SELECT times FROM delivery_seen WHERE id = %s", [delivery]).fetchone()[0]


def left_by_deliveries(db):
    """Rows of everything that a delivery can leave."""
    tables = ("delivery", "delivery_seen", "fact", "outbox")
    return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def known_facts(db, deliveries):
    """Those of the deliveries that have told a fact first."""
    return [one for (one,) in db.execute("SELECT delivery_id FROM fact WHERE delivery_id = ANY (%s)", [list(deliveries)])]


def seen(db, deliveries, times=1):
    """Those of the deliveries that have come, or that have come so often."""
    return [one for (one,) in db.execute("SELECT id FROM delivery_seen WHERE id = ANY (%s) AND times >= %s", [list(deliveries), times])]


def ledger_day(db, days=0):
    """The name of the partition so many days from now."""
    return db.execute("SELECT 'delivery_' || to_char(webhook_today() + %s, 'YYYYMMDD')", [days]).fetchone()[0]


def ledger_days(db):
    """The names of all partitions."""
    rows = db.execute("SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'delivery'::regclass ORDER BY 1")
    return [name for (name,) in rows]


@contextmanager
def today_missing(db):
    """The ledger has no partition of today at first; its rows come back at the end."""
    db.execute(f"CREATE TABLE kept_rows AS SELECT * FROM delivery WHERE received_on = webhook_today(); DROP TABLE {ledger_day(db)}")
    yield
    db.execute("INSERT INTO delivery SELECT * FROM kept_rows; DROP TABLE kept_rows")


def add_old_delivery(db, delivery, days):
    """A delivery that came so many days ago and told a fact of its own."""
    db.execute("""
        WITH day AS (SELECT webhook_today() - %s AS at), made AS (SELECT webhook_day(at) FROM day),
             seen AS (INSERT INTO delivery_seen (id, received_on) SELECT %s, at FROM day RETURNING id),
             told AS (INSERT INTO fact (id, delivery_id, told_on) SELECT %s::uuid, id, at FROM seen, day)
        SELECT count(*) FROM made""", [days, delivery, delivery])
    db.execute("INSERT INTO delivery (received_on, id, secret, event, status, events, body) "
               "SELECT received_on, id, 1, 'push', 'applied', '{}', '' FROM delivery_seen WHERE id = %s", [delivery])


def keep_ledger(db, days):
    """Drop the days that are over. Returns how many."""
    return db.execute("SELECT webhook_days_keep(%s)", [days]).fetchone()[0]


def make_sweep_due(db):
    """It is time to ask the code host for what did not arrive."""
    db.execute("UPDATE redelivery_state SET due_at = 'epoch'")


def is_missing(db, delivery):
    """The code host is asked for it."""
    return db.execute("SELECT FROM redelivery WHERE delivery_id = %s", [delivery]).rowcount == 1


def miss(db, delivery, age):
    """A delivery that did not arrive when the code host sent it."""
    db.execute("INSERT INTO redelivery (delivery_id, attempt_id, delivered_at) VALUES (%s, 1, now() - %s::interval)", [delivery, age])


def put_off_redeliveries(db, delivery=None):
    """The code host is asked again in an hour for what did not arrive, or for one delivery."""
    db.execute("UPDATE redelivery SET ask_at = now() + interval '1 hour' WHERE delivery_id = coalesce(%s, delivery_id)", [delivery])


def make_redeliveries_due(db):
    db.execute("UPDATE redelivery SET ask_at = now()")


def take_missing(db, deliveries):
    """Forget those of the deliveries that did not arrive. Returns {delivery: times asked for}."""
    return dict(db.execute("DELETE FROM redelivery WHERE delivery_id = ANY (%s) RETURNING delivery_id, asked", [list(deliveries)]))


# Endpoints of messages


def end_waits(db, endpoint):
    """All waits of an endpoint are over."""
    with db.transaction():
        db.execute("UPDATE endpoint SET not_before = '-infinity' WHERE id = %s", [endpoint])
        db.execute("UPDATE delivery_queue SET retry_at = now() WHERE endpoint_id = %s AND retry_at IS NOT NULL", [endpoint])
        db.execute("UPDATE endpoint_lane SET due_at = now() WHERE endpoint_id = %s AND NOT is_claimed AND due_at IS NOT NULL", [endpoint])


def end_claims(db, endpoint=None):
    """The process that sends to an endpoint, or to any, has not renewed its claim for too long."""
    db.execute("UPDATE endpoint_lane SET due_at = now() WHERE is_claimed AND endpoint_id = coalesce(%s, endpoint_id)", [endpoint])


def is_asleep(db, endpoint):
    """Nobody is going to look at what waits for the endpoint."""
    return db.execute("SELECT FROM endpoint_lane WHERE endpoint_id = %s AND due_at IS NOT NULL", [endpoint]).rowcount == 0


def pause_of(db, endpoint):
    """For how many seconds an endpoint is left alone."""
    return db.execute("SELECT extract(epoch FROM not_before - now()) FROM endpoint WHERE id = %s", [endpoint]).fetchone()[0]


def retry_pause(db, delivery):
    """The seconds between the last attempt to deliver and the next."""
    return db.execute("SELECT extract(epoch FROM retry_at - (SELECT max(at) FROM message_attempt WHERE delivery_id = %(id)s))"
                      " FROM delivery_queue WHERE delivery_id = %(id)s", {"id": delivery}).fetchone()[0]


def attempt_times(db, endpoint):
    rows = db.execute("SELECT a.at FROM message_attempt a JOIN message_delivery d ON (d.day, d.id) = (a.day, a.delivery_id)"
                      " WHERE d.endpoint_id = %s ORDER BY a.at", [endpoint])
    return [at for (at,) in rows]


def is_quick(db, endpoint):
    """Whether the endpoint has the places of those that answer soon."""
    return db.execute("SELECT is_quick FROM endpoint WHERE id = %s", [endpoint]).fetchone()[0]


def forget_late_answer(db, endpoint):
    """The last late answer of the endpoint was more than ten minutes ago."""
    db.execute("UPDATE endpoint SET slow_at = slow_at - interval '11 minutes' WHERE id = %s", [endpoint])


def count_attempts(db, account):
    return db.execute("SELECT count(*) FROM message_attempt a JOIN message_delivery d ON (d.day, d.id) = (a.day, a.delivery_id)"
                      " WHERE d.account_id = %s", [account]).fetchone()[0]


def set_failures(db, endpoint, count, since, last_success):
    """So many attempts in a row have failed, since one time ago, and the last one succeeded another time ago."""
    db.execute("UPDATE endpoint SET consecutive_failures = %s, failing_since = now() - %s::interval, last_success_at = now() - %s::interval"
               " WHERE id = %s", [count, since, last_success, endpoint])


def set_endpoint_status(db, endpoint, status):
    reason = "the receiver has refused for days" if status == "disabled" else None
    db.execute("UPDATE endpoint SET status = %s, disabled_reason = %s WHERE id = %s", [status, reason, endpoint])


def set_url(db, endpoint, url):
    """The endpoint's address leads elsewhere since it was checked."""
    db.execute("UPDATE endpoint SET url = %s WHERE id = %s", [url, endpoint])


def endpoint_secrets(db, endpoint):
    """(secret, former secret) as they are sealed"""
    return db.execute("SELECT secret, old_secret FROM endpoint WHERE id = %s", [endpoint]).fetchone()


def expire_old_secret(db, endpoint):
    db.execute("UPDATE endpoint SET old_secret_expires_at = now() WHERE id = %s", [endpoint])


def fill_queue(db, endpoint, count):
    """Let so many more deliveries wait, of the message that waits."""
    db.execute("INSERT INTO delivery_queue (delivery_id, endpoint_id, day, message_id) SELECT uuid_v7(), endpoint_id, day, message_id"
               " FROM delivery_queue, generate_series(1, %s) WHERE endpoint_id = %s", [count, endpoint])


def empty_queue(db, endpoint):
    db.execute("DELETE FROM delivery_queue WHERE endpoint_id = %s", [endpoint])


def take_message(db, account, message, days=0, days_kept=30, data="{}"):
    """Take a message of an account that is so many days old, as the event that tells of it does."""
    db.execute("SELECT message_take(%s, %s, 'test.ping', now() - %s * interval '1 day', %s, NULL, NULL, %s, 10000)",
               [account, message, days, data, days_kept])


def keep_message_days(db, days):
    """Drop the days that are over. Returns how many."""
    return db.execute("SELECT message_days_keep(%s)", [days]).fetchone()[0]


def drop_message_day(db, days):
    """Drop the day that was so many days ago, however long that takes."""
    db.execute("SELECT delivery_queue_forget(next), partitions_drop(ARRAY['message', 'message_delivery', 'message_attempt'], 'day', next)"
               " FROM (SELECT (now() AT TIME ZONE 'UTC')::date - %s + 1 AS next) AS day", [days])


def send_again(db, account, endpoint):
    """Begin a transaction that sends the newest delivery to an endpoint again."""
    db.execute("BEGIN")
    db.execute("SELECT delivery_again(endpoint_id, account_id, id) FROM message_delivery WHERE account_id = %s AND endpoint_id = %s"
               " ORDER BY id DESC LIMIT 1", [account, endpoint])


def has_message_day(db, day):
    """`day`: such as 20261126"""
    return db.execute("SELECT to_regclass(%s)", [f"message_delivery_{day}"]).fetchone()[0] is not None


# Digests


def digest_comes(db, endpoint, ago="0", days=0):
    """The next date of the endpoint's digest is today and some days, and has come so long ago."""
    db.execute("UPDATE endpoint_digest SET next_at = now() - %s::interval, next_date = (now() AT TIME ZONE 'UTC')::date + %s"
               " WHERE endpoint_id = %s", [ago, days, endpoint])


def digest_was_due(db, endpoint, days):
    """No process has looked at the endpoint's digest since it was due, so many days before."""
    db.execute("UPDATE endpoint_digest SET next_at = next_at - %(days)s * interval '1 day', next_date = next_date - %(days)s::int"
               " WHERE endpoint_id = %(id)s", {"days": days, "id": endpoint})


def digest_is_over(db, endpoint):
    """The date that had come is over: the next one is to come."""
    return db.execute("SELECT FROM endpoint_digest WHERE endpoint_id = %s AND next_at > now()", [endpoint]).rowcount == 1


def announce_digests(db, limit):
    """Tell the dates that have come. Returns how many."""
    return db.execute("SELECT digests_announce(%s)", [limit]).fetchone()[0]


def next_digest(db, endpoint):
    """The date of the endpoint's next digest, in its time zone."""
    return db.execute("SELECT next_date FROM endpoint_digest WHERE endpoint_id = %s", [endpoint]).fetchone()[0]


def pass_digest(db, endpoint):
    """The next date of the endpoint's digest has been; the one after it is planned."""
    db.execute("UPDATE endpoint_digest d SET (last_date, next_date, next_at) = (SELECT d.next_date, n.next_date, n.next_at"
               " FROM digest_next(jsonb_populate_record(d, jsonb_build_object('last_date', d.next_date)), d.next_at) n)"
               " WHERE endpoint_id = %s", [endpoint])


def lose_time_zone(db, endpoint):
    """The time zone of the endpoint's digest is not known any more."""
    db.execute("UPDATE endpoint_digest SET time_zone = 'Europe/Atlantis' WHERE endpoint_id = %s", [endpoint])


def digest_times(db, zone, hour, minute, moment, count):
    """The next `count` times of a daily digest after a moment: [(date, time)]."""
    found, last = [], None
    for _ in range(count):
        last, moment = db.execute(
            "SELECT next_date, next_at FROM digest_next(jsonb_populate_record(NULL::endpoint_digest, jsonb_build_object("
            "'time_zone', %s::text, 'hour', %s::int, 'minute', %s::int, 'weekdays', '[1,2,3,4,5,6,7]'::jsonb, 'last_date', %s::date)), %s)",
            [zone, hour, minute, last, moment]).fetchone()
        found.append((last, moment))
    return found


# Messages by e-mail


def age_confirmation(db, endpoint):
    """An address was asked a day before."""
    db.execute("UPDATE email_confirmation SET created_at = now() - interval '25 hours' WHERE endpoint_id = %s", [endpoint])


def add_confirmations(db, account, endpoint, count):
    """The account has asked so many other addresses."""
    db.execute("INSERT INTO email_confirmation (id, account_id, endpoint_id, email, token, hash)"
               " SELECT uuid_v7(), %s, %s, n || '@example.org', '', sha256(convert_to(%s || n, 'UTF8')) FROM generate_series(1, %s) AS n",
               [account, endpoint, endpoint, count])


def drop_added_confirmations(db, account):
    db.execute("DELETE FROM email_confirmation WHERE account_id = %s AND token = ''", [account])


def mail_secrets(db, endpoint):
    """(secret, token of the confirmation) as they are sealed"""
    return db.execute("SELECT e.secret, c.token FROM endpoint e JOIN email_confirmation c ON c.endpoint_id = e.id WHERE e.id = %s",
                      [endpoint]).fetchone()


def refused_days(db, endpoint):
    """On how many days the mail server has refused the address."""
    return db.execute("SELECT refused_days FROM endpoint WHERE id = %s", [endpoint]).fetchone()[0]


def pass_refused_day(db, endpoint):
    """What was refused today was refused yesterday."""
    db.execute("UPDATE endpoint SET refused_on = refused_on - 1, not_before = '-infinity', consecutive_failures = 0 WHERE id = %s",
               [endpoint])


def use_up_mails(db, account):
    """The account has sent all mails that it may send today."""
    db.execute("INSERT INTO email_day VALUES (%s, (now() AT TIME ZONE 'UTC')::date, 1000)"
               " ON CONFLICT (account_id, day) DO UPDATE SET sent = 1000", [account])


def confirm_all(db, account):
    """All addresses of the account have agreed."""
    db.execute("UPDATE endpoint SET status = 'active' WHERE account_id = %s", [account])


def add_today(db, account, endpoint, type, status):
    """A delivery of today to an endpoint."""
    db.execute("INSERT INTO message_delivery (day, account_id, endpoint_id, message_id, type, status) "
               "VALUES ((now() AT TIME ZONE 'UTC')::date, %s, %s, uuid_v7(), %s, %s)", [account, endpoint, type, status])


def digests_delivered_today(db):
    return db.execute("SELECT count(*) FROM message_delivery WHERE type = 'digest.ready' AND status = 'delivered' "
                      "AND day = (now() AT TIME ZONE 'UTC')::date").fetchone()[0]
