-- Of whom keys, sessions or roles have changed: an account or a person. The triggers of key/key_change.fn.sql write it.
CREATE TABLE key_change (
    xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
    subject uuid NOT NULL,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (xid, subject)
);
