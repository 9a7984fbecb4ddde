"""Tables of the gateway."""


def email_of(db, account):
    return db.execute("SELECT email FROM account WHERE id = %s", [account]).fetchone()[0]


def run_as_administrator(cluster, statement):
    """A statement of deploy/OPERATIONS.md, with a search_path that is not the gateway's."""
    with cluster.postgres.connect() as db:
        db.execute(statement)


# Keys


def set_repo_verified(db, key, is_verified):
    """Whether the code host has said that the key's account may push to the key's repository."""
    db.execute("UPDATE api_key SET repo_verified = %s WHERE id = %s", [is_verified, key])


def set_scopes(db, text, scopes):
    """Those of a key, by its text."""
    db.execute("UPDATE api_key SET scopes = %s WHERE prefix = %s", [list(scopes), text[:12]])


def set_age(db, key, created, expires):
    """A key was made so many days from now, and expires so many days from now."""
    db.execute("UPDATE api_key SET created_at = now() + %s * interval '1 day', expires_at = now() + %s * interval '1 day' WHERE id = %s",
               [created, expires, key])


def expire_key(db, key):
    db.execute("UPDATE api_key SET expires_at = now() - interval '1 s' WHERE id = %s", [key])


def revoke_key(db, key):
    db.execute("UPDATE api_key SET revoked_at = now() WHERE id = %s", [key])


def is_revoked(db, key):
    """Waits for who has the key's row locked."""
    return db.execute("SELECT revoked_at IS NOT NULL FROM api_key WHERE id = %s FOR UPDATE", [key]).fetchone()[0]


def lock_key(connection, key):
    """Until the connection's transaction ends, nobody can change the key."""
    connection.execute("SELECT FROM api_key WHERE id = %s FOR UPDATE", [key])


def add_keys(db, key, count):
    """So many keys more for the account of a key (its text), which nobody has."""
    db.execute("INSERT INTO api_key (account_id, name, kind, prefix, hash, scopes)"
               " SELECT account_id, 'filler', kind, prefix, sha256(hash || int4send(n)), scopes"
               " FROM api_key, generate_series(1, %s) n WHERE prefix = %s", [count, key[:12]])


def key_events(db, account):
    """What was announced of the account's keys: [(type, key, the key that takes its place)]."""
    return db.execute("SELECT type, data ->> 'key_id', data ->> 'by' FROM outbox WHERE account_id = %s AND type <> 'message' ORDER BY id",
                      [account]).fetchall()


# Persons


def invitations_of(db, email):
    """The ids of all invitations that have the address."""
    return [str(id) for (id,) in db.execute("SELECT id FROM invitation WHERE lower(email) = lower(%s)", [email])]


def expire_invitation(db, invitation):
    db.execute("UPDATE invitation SET expires_at = now() WHERE id = %s", [invitation])


def age_invitation(db, invitation, age):
    """It was made so long ago."""
    db.execute("UPDATE invitation SET created_at = now() - %s::interval WHERE id = %s", [age, invitation])


def age_invitation_mails(db, age):
    """Whoever caused mails of invitations began so long ago."""
    db.execute("UPDATE invitation_mail_count SET since = now() - %s::interval", [age])


def drop_account(db, account):
    """Delete an account at once. No process is told."""
    db.execute("DELETE FROM account WHERE id = %s", [account])


def persons(db, email):
    """How many persons have an address."""
    return db.execute("SELECT count(*) FROM person WHERE lower(email) = lower(%s)", [email]).fetchone()[0]


def forget_person(db, key):
    """As if a version without persons had made the key."""
    db.execute("DELETE FROM api_key_person WHERE key_id = %s", [key])


def end_long_ago(db, key, days):
    """As if a key had been revoked so many days ago."""
    db.execute("UPDATE api_key SET revoked_at = now() - make_interval(days => %s) WHERE id = %s", [days, key])


def key_is_kept(db, key):
    return db.execute("SELECT count(*) FROM api_key WHERE id = %s", [key]).fetchone()[0] == 1


def forget_proof(db, email):
    """Nobody has said that the address is the person's."""
    db.execute("UPDATE person SET email_verified = false WHERE email = %s", [email])


# The audit log


def audit_actions(db, account):
    """The actions of the entries of an account, the oldest first."""
    return [action for action, in db.execute("SELECT action FROM audit.audit WHERE account_id = %s ORDER BY at, id", [account])]


def audit_keys(db, account):
    """The ids of the account's keys, and those that the log has as made."""
    made = "SELECT target ->> 'id' FROM audit.audit WHERE account_id = %s AND action = 'key.created'"
    return ({id for id, in db.execute("SELECT id::text FROM api_key WHERE account_id = %s", [account])},
            [id for id, in db.execute(made, [account])])


def audit_texts(db, text):
    """How many entries of any account have the text anywhere."""
    return db.execute("SELECT count(*) FROM audit.audit a WHERE strpos(a::text, %s) > 0", [text]).fetchone()[0]


def add_audit(db, account, count, days=0):
    """So many entries of so many days ago."""
    db.execute("SELECT audit.audit_add(account.uuid_v7(), %s, now() - %s * interval '1 day' - n * interval '1 ms',"
               " '{\"kind\": \"service\", \"person_id\": null, \"email\": null, \"key_id\": null, \"key_name\": null}', 'test.filled',"
               " '{\"kind\": \"account\", \"id\": null, \"name\": null}', '{\"changed\": []}', NULL, NULL, NULL, 'done')"
               " FROM generate_series(1, %s) n", [account, days, count])


def drop_audit(db, days):
    """What the gateway does to entries that are older than so many days; how many months went."""
    return db.execute("SELECT audit.audit_drop_before((now() AT TIME ZONE 'UTC')::date - %s)", [days]).fetchone()[0]


# Sessions


def age_session(db, account, column, age):
    """The time of a session, such as last_seen_at, was that long ago."""
    db.execute(f"UPDATE session SET {column} = now() - %s::interval WHERE account_id = %s", [age, account])


def add_usage(db, key, days, family, status, requests):
    """The key was used so many days ago."""
    db.execute("INSERT INTO key_usage VALUES (%s, (now() AT TIME ZONE 'UTC')::date - %s, %s, %s, %s)", [key, days, family, status, requests])


def age_revocation(db, key, days):
    """A revoked key was revoked so many days ago."""
    assert db.execute("UPDATE api_key SET revoked_at = now() - make_interval(days => %s) WHERE id = %s AND revoked_at IS NOT NULL",
                      [days, key]).rowcount == 1


# Log-ins


def begin_log_in(connection, address, token):
    """What a log-in of an identity with the address does before it makes its session, by the link of an invitation with the token."""
    (outcome,) = connection.execute("SELECT e.outcome FROM identity i, identity_enter(i.issuer, i.subject, %s, NULL, false, NULL, NULL,"
                                    " sha256(%s)) e WHERE i.email = %s", [address, token.encode(), address]).fetchone()
    return outcome


def is_locked(db, account):
    return db.execute("SELECT FROM account WHERE id = %s FOR UPDATE SKIP LOCKED", [account]).rowcount == 0
