-- The audit log: who changed what. Triggers add the entries, so there is no change without one, by whichever way it is made, also by a
-- command or by the release before. Who makes the change is noted by audit_begin() in its transaction.

-- Who acts with a key; null: there is no such key. An automation key acts itself, whoever made it.
CREATE OR REPLACE FUNCTION audit_actor(key uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT jsonb_build_object('kind', CASE WHEN k.kind = 'personal' AND p.id IS NOT NULL THEN 'person' ELSE 'key' END,
                              'person_id', p.id, 'email', p.email, 'key_id', k.id, 'key_name', k.name)
    FROM api_key k LEFT JOIN api_key_person o ON o.key_id = k.id LEFT JOIN person p ON p.id = o.person_id
    WHERE k.id = key);
END $$;

CREATE OR REPLACE FUNCTION audit_actor_person(person uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT jsonb_build_object('kind', 'person', 'person_id', p.id, 'email', p.email, 'key_id', NULL, 'key_name', NULL)
    FROM person p WHERE p.id = person);
END $$;

-- No person and no key: an operator's command, or a process. Null: neither.
CREATE OR REPLACE FUNCTION audit_actor_of(kind text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', kind, 'person_id', NULL, 'email', NULL, 'key_id', NULL, 'key_name', NULL) WHERE kind IS NOT NULL
$$;

-- Note who makes the changes of this transaction: who acts with `key`, or else what `kind` says. Neither: it is known once the change is
-- made, as at a log-in.
CREATE OR REPLACE FUNCTION audit_begin(key uuid, kind text, address text, agent text) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT set_config('expops.audit', jsonb_build_object(
        'actor', coalesce(audit_actor(key), audit_actor_of(kind)),
        'ip', CASE WHEN address ~ '^[0-9A-Fa-f:.]+$' THEN address END, 'user_agent', agent)::text, true)
$$;

-- Add an entry to the log of an account. `fallback` is who makes the change where nobody else is noted.
CREATE OR REPLACE FUNCTION audit_note(account uuid, action text, target jsonb, detail jsonb, fallback jsonb, outcome text DEFAULT 'done')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    noted jsonb := nullif(current_setting('expops.audit', true), '');
    actor jsonb := CASE WHEN noted IS NOT NULL THEN coalesce(nullif(noted -> 'actor', 'null'), fallback) END;
BEGIN
    PERFORM audit.audit_add(uuid_v7(), account, now(), coalesce(actor, audit_actor_of('service')), action, target, detail,
                            (noted ->> 'ip')::inet, noted ->> 'user_agent', request_id_now(), outcome);
END $$;

CREATE OR REPLACE FUNCTION audit_target(kind text, id uuid, name text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', kind, 'id', id, 'name', name)
$$;

-- The members of `after` that `before` has not, or not so.
CREATE OR REPLACE FUNCTION audit_changed(before jsonb, after jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RETURN (
    SELECT jsonb_build_object('changed', coalesce(
        jsonb_agg(jsonb_build_object('field', f, 'from', before -> f, 'to', after -> f) ORDER BY f), '[]'))
    FROM jsonb_object_keys(after) f WHERE nullif(before -> f, 'null') IS DISTINCT FROM nullif(after -> f, 'null'));
END $$;

-- What an account is called in entries that are of none.
CREATE OR REPLACE FUNCTION audit_nobody() RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT '00000000-0000-0000-0000-000000000000'::uuid
$$;

-- The accounts whose entries are shown in one: those of none to operators besides.
CREATE OR REPLACE FUNCTION audit_shown(account uuid, is_operator boolean) RETURNS uuid[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[account] || CASE WHEN is_operator THEN ARRAY[audit_nobody()] ELSE '{}' END
$$;

-- An entry as the API shows it.
CREATE OR REPLACE FUNCTION audit_json(a audit.audit) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('id', a.id, 'at', time_json(a.at), 'actor', a.actor, 'action', a.action, 'target', a.target,
                              'detail', a.detail, 'ip', host(a.ip), 'user_agent', a.user_agent, 'request_id', a.request_id,
                              'outcome', a.outcome)
$$;

-- Add the entry of a change that a service tells of, under the event's id: an event that comes twice adds one. Its account is locked
-- against its deletion, after which nothing of it is kept.
CREATE OR REPLACE FUNCTION audit_take(event uuid, account uuid, happened_at timestamptz, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    address text := told #>> '{by,ip}';
    key uuid := told #>> '{by,key_id}';
    actor jsonb := coalesce(audit_actor(key), audit_actor_of(coalesce(told #>> '{by,kind}', 'service')));
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR KEY SHARE;
    IF account IS NOT NULL AND NOT FOUND THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM api_key k WHERE k.id = key AND k.account_id <> account)
       AND NOT EXISTS (SELECT FROM member m WHERE m.account_id = account AND m.person_id::text = actor ->> 'person_id') THEN
        actor := actor || '{"kind": "operator"}'; -- who acts for any user
    END IF;
    PERFORM audit.audit_add(event, coalesce(account, audit_nobody()), happened_at,
                            actor, told ->> 'action', told -> 'target',
                            jsonb_build_object('changed', told -> 'changed'), CASE WHEN address ~ '^[0-9A-Fa-f:.]+$' THEN address::inet END,
                            told #>> '{by,user_agent}', request_id_now(), 'done');
END $$;

-- --- Keys ----------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION audit_key_fields(k api_key) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('name', k.name, 'kind', k.kind, 'scopes', to_jsonb(k.scopes), 'repo', k.repo, 'interest_id', k.interest_id,
                              'expires_at', time_json(k.expires_at))
$$;

CREATE OR REPLACE FUNCTION api_key_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    action text := 'key.updated';
    before jsonb := '{}';
    after jsonb := audit_key_fields(NEW);
BEGIN
    IF TG_OP = 'INSERT' THEN
        action := 'key.created';
    ELSE
        before := audit_key_fields(OLD);
        IF NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL THEN
            action := 'key.deleted';
            IF OLD.is_provisioned AND OLD.expires_at <= now() THEN -- put away, by nobody
                RETURN NULL;
            END IF;
        ELSIF NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL THEN
            action := 'key.revoked';
        ELSIF before = after THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM audit_note(NEW.account_id, action, audit_target('key', NEW.id, NEW.name), audit_changed(before, after), NULL);
    RETURN NULL;
END $$;

-- The keys of log-ins at a provider, which nobody has, change with the sessions that are of them.
CREATE OR REPLACE TRIGGER api_key_audit AFTER INSERT OR UPDATE OF name, scopes, repo, expires_at, revoked_at, deleted_at ON api_key
    FOR EACH ROW
    WHEN (NEW.prefix <> 'log-in') EXECUTE FUNCTION api_key_audit();

-- --- Sessions ------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION session_note(s session, action text) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT audit_note(s.account_id, action, audit_target('session', s.id, (SELECT p.email FROM person p WHERE p.id = s.person_id)),
                      audit_changed('{}', '{}'), audit_actor(s.key_id))
$$;

-- A session that had expired has not been ended by anybody, and one that goes with its account is in the entry of that. One that shows
-- another account has ended in the former.
CREATE OR REPLACE FUNCTION session_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' AND (OLD.expires_at <= now() OR OLD.last_seen_at <= now() - interval '12 hours'
                             OR NOT EXISTS (SELECT FROM account a WHERE a.id = OLD.account_id)) THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM session_note(OLD, 'session.ended');
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM session_note(NEW, 'session.created');
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER session_audit AFTER INSERT OR DELETE ON session FOR EACH ROW EXECUTE FUNCTION session_audit();
CREATE OR REPLACE TRIGGER session_account_audit AFTER UPDATE OF account_id ON session FOR EACH ROW
    WHEN (OLD.account_id <> NEW.account_id) EXECUTE FUNCTION session_audit();

-- Note that a log-in was refused whose account is known: of the key with a hash, or of a person.
CREATE OR REPLACE FUNCTION session_refused(account uuid, actor jsonb, reason text) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT audit_note(account, 'session.refused', audit_target('session', NULL, NULL),
                      jsonb_build_object('changed', '[]'::jsonb, 'reason', reason), actor, 'refused')
$$;

CREATE OR REPLACE FUNCTION session_refused_key(key_hash bytea, reason text) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT session_refused(k.account_id, audit_actor(k.id), reason) FROM api_key k WHERE k.hash = key_hash
$$;

-- --- Members and invitations ---------------------------------------------------------------------

CREATE OR REPLACE FUNCTION member_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    m member;
    noted jsonb := nullif(current_setting('expops.audit', true), '');
BEGIN
    IF TG_OP = 'DELETE' THEN
        m := OLD;
    ELSE
        m := NEW;
    END IF;
    IF NOT EXISTS (SELECT FROM account a WHERE a.id = m.account_id) THEN
        RETURN NULL;
    END IF;
    PERFORM audit_note(m.account_id,
        CASE TG_OP WHEN 'INSERT' THEN 'member.added' WHEN 'UPDATE' THEN 'member.role_changed'
                   ELSE CASE WHEN noted -> 'actor' ->> 'person_id' = m.person_id::text THEN 'member.left' ELSE 'member.removed' END END,
        audit_target('person', m.person_id, (SELECT p.email FROM person p WHERE p.id = m.person_id)),
        audit_changed(CASE WHEN TG_OP = 'INSERT' THEN '{}' ELSE jsonb_build_object('role', OLD.role) END,
                      jsonb_build_object('role', CASE WHEN TG_OP <> 'DELETE' THEN NEW.role END)),
        audit_actor_person(m.person_id));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER member_audit AFTER INSERT OR DELETE ON member FOR EACH ROW EXECUTE FUNCTION member_audit();
CREATE OR REPLACE TRIGGER member_role_audit AFTER UPDATE OF role ON member FOR EACH ROW
    WHEN (OLD.role <> NEW.role) EXECUTE FUNCTION member_audit();

-- Whoever accepts an invitation has its address.
CREATE OR REPLACE FUNCTION invitation_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    action text := CASE WHEN TG_OP = 'INSERT' THEN 'invitation.created'
                        WHEN NEW.accepted_at IS NOT NULL AND OLD.accepted_at IS NULL THEN 'invitation.accepted'
                        WHEN NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL THEN 'invitation.revoked' END;
BEGIN
    IF action IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM audit_note(NEW.account_id, action, audit_target('invitation', NEW.id, NEW.email),
                       audit_changed('{}', CASE WHEN TG_OP = 'INSERT' THEN jsonb_build_object('role', NEW.role) ELSE '{}' END),
                       (SELECT audit_actor_person(p.id) FROM person p WHERE lower(p.email) = lower(NEW.email)));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER invitation_audit AFTER INSERT OR UPDATE OF accepted_at, revoked_at ON invitation FOR EACH ROW
    EXECUTE FUNCTION invitation_audit();

-- --- Accounts and persons ------------------------------------------------------------------------

-- Of a deleted account one entry is left, for operators, which says who deleted it.
CREATE OR REPLACE FUNCTION account_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM audit.audit_forget(OLD.id, NULL, NULL);
        PERFORM audit_note(audit_nobody(), 'account.deleted', audit_target('account', OLD.id, 'deleted'), audit_changed('{}', '{}'), NULL);
        RETURN NULL;
    END IF;
    PERFORM audit_note(NEW.id, CASE TG_OP WHEN 'INSERT' THEN 'account.created' ELSE 'account.renamed' END,
                       audit_target('account', NEW.id, coalesce(NEW.name, NEW.email)),
                       audit_changed(CASE WHEN TG_OP = 'UPDATE' THEN jsonb_build_object('name', OLD.name) ELSE '{}' END,
                                     jsonb_build_object('name', NEW.name)), NULL);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER account_audit AFTER INSERT OR DELETE ON account FOR EACH ROW EXECUTE FUNCTION account_audit();
CREATE OR REPLACE TRIGGER account_name_audit AFTER UPDATE OF name ON account FOR EACH ROW
    WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION account_audit();

-- Who is noted as the actor of this transaction is forgotten, too, if it is the person.
CREATE OR REPLACE FUNCTION person_audit_forget() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    noted jsonb := nullif(current_setting('expops.audit', true), '');
BEGIN
    IF noted -> 'actor' ->> 'person_id' = OLD.id::text THEN
        PERFORM set_config('expops.audit', jsonb_set(noted, '{actor}', noted -> 'actor' || '{"email": "deleted", "key_name": "deleted"}')::text,
                           true);
    END IF;
    PERFORM audit.audit_forget(NULL, OLD.id, OLD.email);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER person_audit_forget AFTER DELETE ON person FOR EACH ROW EXECUTE FUNCTION person_audit_forget();

-- The accounts of a person; that of nobody, if they are a member of none.
CREATE OR REPLACE FUNCTION audit_accounts(person uuid) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
    SELECT m.account_id FROM member m WHERE m.person_id = person
    UNION ALL
    SELECT audit_nobody() WHERE NOT EXISTS (SELECT FROM member m WHERE m.person_id = person)
$$;

CREATE OR REPLACE FUNCTION person_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    is_disabled boolean := NEW.disabled_at IS NOT NULL;
BEGIN
    PERFORM audit_note(a, CASE WHEN is_disabled <> (OLD.disabled_at IS NOT NULL)
                               THEN CASE WHEN is_disabled THEN 'person.disabled' ELSE 'person.enabled' END
                               ELSE 'person.operator_changed' END,
                       audit_target('person', NEW.id, NEW.email),
                       audit_changed(jsonb_build_object('disabled', NOT is_disabled, 'is_operator', OLD.is_operator),
                                     jsonb_build_object('disabled', is_disabled, 'is_operator', NEW.is_operator)), NULL)
    FROM audit_accounts(NEW.id) a;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER person_audit AFTER UPDATE OF disabled_at, is_operator ON person FOR EACH ROW
    WHEN ((OLD.disabled_at IS NULL) <> (NEW.disabled_at IS NULL) OR OLD.is_operator <> NEW.is_operator)
    EXECUTE FUNCTION person_audit();

CREATE OR REPLACE FUNCTION identity_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM audit_note(a, 'identity.linked', audit_target('person', NEW.person_id, (SELECT p.email FROM person p WHERE p.id = NEW.person_id)),
                       audit_changed('{}', jsonb_build_object('issuer', NEW.issuer)), audit_actor_person(NEW.person_id))
    FROM audit_accounts(NEW.person_id) a;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER identity_audit AFTER INSERT ON identity FOR EACH ROW EXECUTE FUNCTION identity_audit();
-- By one that was added, and not found by its address, an operator may do what operators may.
CREATE OR REPLACE TRIGGER identity_added_audit AFTER UPDATE OF is_added ON identity FOR EACH ROW
    WHEN (NEW.is_added AND NOT OLD.is_added) EXECUTE FUNCTION identity_audit();
