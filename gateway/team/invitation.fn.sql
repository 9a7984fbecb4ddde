-- Invitations: whoever has the token and the address becomes a member.

CREATE OR REPLACE FUNCTION invitation_is_open(i invitation) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
$$;

-- What became of an invitation's mail. One that was not sent while its task is tried, a day, will not be.
CREATE OR REPLACE FUNCTION invitation_mail(i invitation) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN i.mail = 'queued' AND i.created_at < now() - interval '25 hours' THEN 'failed' ELSE i.mail END
$$;

-- An open invitation as the API shows it.
CREATE OR REPLACE FUNCTION invitation_json(i invitation) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('id', i.id, 'email', i.email, 'role', i.role, 'created_at', time_json(i.created_at),
                              'expires_at', time_json(i.expires_at), 'mail', invitation_mail(i))
$$;

-- The address of the person who acts with a key, or whose automation key it is; else that of the account.
CREATE OR REPLACE FUNCTION inviter_address(account uuid, actor_key uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT p.email FROM api_key_person o JOIN person p ON p.id = o.person_id WHERE o.key_id = actor_key),
                    account_email(account))
$$;

-- Count one more mail that somebody causes; false: they have caused 50 within a day from the first. Forgets others that are older.
CREATE OR REPLACE FUNCTION invitation_mail_counted(address text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    counted boolean;
BEGIN
    DELETE FROM invitation_mail_count WHERE mark IN (SELECT c.mark FROM invitation_mail_count c WHERE c.since <= now() - interval '1 day'
                                                     LIMIT 20 FOR UPDATE SKIP LOCKED);
    INSERT INTO invitation_mail_count AS c (mark, mails) VALUES (former_address_mark(address), 1)
    ON CONFLICT (mark) DO UPDATE SET mails = CASE WHEN c.since <= now() - interval '1 day' THEN 1 ELSE c.mails + 1 END,
                                     since = CASE WHEN c.since <= now() - interval '1 day' THEN now() ELSE c.since END
    WHERE c.since <= now() - interval '1 day' OR c.mails < 50
    RETURNING true INTO counted;
    RETURN counted IS TRUE;
END $$;

-- Whether a new invitation is mailed: strangers get at most 50 mails a day for an account, and 50 for who invites them, in whichever
-- accounts.
CREATE OR REPLACE FUNCTION invitation_mail_begin(account uuid, actor_key uuid, is_mailed boolean) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN NOT is_mailed THEN 'none'
                WHEN (SELECT count(*) FROM invitation o
                      WHERE o.account_id = account AND o.created_at > now() - interval '1 day'
                        AND o.mail IN ('queued', 'sent', 'failed')) >= 50 THEN 'limited'
                WHEN invitation_mail_counted(inviter_address(account, actor_key)) THEN 'queued'
                ELSE 'limited' END
$$;

-- Invite an address for 7 days, on behalf of who acts with a key, in place of the open invitation of the same address. It is that person's,
-- also when they use an automation key, and ends with their right to make it. The mail is sent by svc-integrations, which asks for what
-- is in it.
--
--   outcome  `made`; `refused`: may_manage(); `is_member`: the address is a member's; `too_many`: 50 are open
CREATE OR REPLACE FUNCTION invitation_make(account uuid, actor_key uuid, new_id uuid, address text, new_role text, new_hash bytea,
                                           is_mailed boolean, OUT outcome text, OUT made jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    i invitation;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR NO KEY UPDATE; -- what is counted stays so
    IF may_manage(account, actor_key, NULL, new_role) IS NOT TRUE THEN
        outcome := 'refused';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM member m JOIN person p ON p.id = m.person_id
               WHERE m.account_id = account AND lower(p.email) = lower(address)) THEN
        outcome := 'is_member';
        RETURN;
    END IF;
    UPDATE invitation o SET revoked_at = now()
    WHERE o.account_id = account AND lower(o.email) = lower(address) AND o.accepted_at IS NULL AND o.revoked_at IS NULL;
    IF (SELECT count(*) FROM invitation o WHERE o.account_id = account AND invitation_is_open(o)) >= 50 THEN
        outcome := 'too_many';
        RETURN;
    END IF;
    INSERT INTO invitation (id, account_id, email, role, hash, invited_by, expires_at, mail)
    VALUES (new_id, account, address, new_role, new_hash, api_key_maker_person(account, actor_key), now() + interval '7 days',
            invitation_mail_begin(account, actor_key, is_mailed))
    RETURNING * INTO i;
    IF i.mail = 'queued' THEN
        PERFORM event_emit('events.account', 'invitation.made', account, jsonb_build_object('invitation_id', i.id));
    END IF;
    outcome := 'made';
    made := invitation_json(i);
END $$;

-- Let a person be a member by the open invitation with a hash.
--
--   outcome  `accepted`, to `account`; `absent`: it was used or revoked, or has expired; `other_email`: the person's address is not the
--            invitation's, or nobody has said that it is theirs; `too_many_members`: as member_add() says
CREATE OR REPLACE FUNCTION invitation_join(person uuid, token_hash bytea, OUT outcome text, OUT account uuid) LANGUAGE plpgsql AS $$
DECLARE
    i invitation;
BEGIN
    PERFORM FROM account a WHERE a.id = (SELECT o.account_id FROM invitation o WHERE o.hash = token_hash) FOR UPDATE;
    SELECT * INTO i FROM invitation o WHERE o.hash = token_hash AND invitation_is_open(o) FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'absent';
    ELSIF NOT EXISTS (SELECT FROM person p WHERE p.id = person AND p.email_verified AND lower(p.email) = lower(i.email)) THEN
        outcome := 'other_email';
    ELSIF member_add(i.account_id, person, i.role, i.invited_by) = 'too_many' THEN
        outcome := 'too_many_members';
    ELSE
        UPDATE invitation o SET accepted_at = now() WHERE o.id = i.id;
        outcome := 'accepted';
        account := i.account_id;
    END IF;
END $$;

-- The same for the person of the session with a hash; `made` is the account. `no_session`: there is none, or it is of no person.
CREATE OR REPLACE FUNCTION invitation_accept(session_hash bytea, token_hash bytea, OUT outcome text, OUT made jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    person uuid := (SELECT (v.s).person_id FROM session_valid(session_hash) v);
BEGIN
    IF person IS NULL THEN
        outcome := 'no_session';
        RETURN;
    END IF;
    SELECT j.outcome, account_json(j.account, person) INTO outcome, made FROM invitation_join(person, token_hash) j;
END $$;
