-- Who an account's user is on other platforms. An identity belongs to one account, by its id and by its email.
CREATE TABLE identity_link (
    id             uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id     uuid NOT NULL,
    source         text NOT NULL CHECK (source IN ('code_host', 'tracker_a', 'tracker_b')),
    external_id    text NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 1000),
    external_email text CHECK (octet_length(external_email) BETWEEN 1 AND 1280),
    external_login text,
    created_at     timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX identity_link_id ON identity_link (source, external_id);
CREATE UNIQUE INDEX identity_link_email ON identity_link (source, lower(external_email));
CREATE INDEX identity_link_of_account ON identity_link (account_id, id DESC);
CREATE TRIGGER account_required BEFORE INSERT ON identity_link FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE FUNCTION identity_link_json(l identity_link) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', l.id, 'user_id', l.account_id, 'source', l.source, 'external_id', l.external_id,
        'external_email', l.external_email, 'external_login', l.external_login, 'created_at', time_json(l.created_at))
$$;

-- Everything that an account had; its tokens are revoked by tasks of their own.
CREATE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    PERFORM connection_remove(account);
    DELETE FROM authorization_attempt WHERE account_id = account;
    DELETE FROM identity_link WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;
