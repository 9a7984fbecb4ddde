-- Log-in at an OpenID provider.

-- Who a person is at a provider. The issuer is part of the key: another provider's subject is somebody else. A person has one identity
-- of an issuer, so nobody who later gets hold of their address becomes them.
CREATE TABLE identity (
    issuer        text NOT NULL,
    subject       text NOT NULL,
    person_id     uuid NOT NULL REFERENCES person ON DELETE CASCADE,
    email         text, -- that the provider told at the last log-in
    is_added      boolean NOT NULL, -- by the person in a session, not found by the address
    created_at    timestamptz NOT NULL DEFAULT now(),
    last_login_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);

CREATE UNIQUE INDEX identity_of_person ON identity (person_id, issuer);

-- A log-in under way, from the way to the provider to the way back: by the SHA-256 of its state, with which the rest is sealed.
CREATE TABLE login (
    hash       bytea PRIMARY KEY CHECK (length(hash) = 32),
    sealed     bytea NOT NULL,
    return_to  text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);

CREATE INDEX login_expires ON login (expires_at);

-- Keys that nobody has: those of which sessions are that were made at a provider. A person has one for each account.
CREATE TABLE login_key (
    key_id uuid PRIMARY KEY REFERENCES api_key ON DELETE CASCADE
);
