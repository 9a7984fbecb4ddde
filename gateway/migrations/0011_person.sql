-- Persons, and the accounts that they are members of: an account is a team, which may have one member only.

-- Someone who uses the product. An address is one person's, without case.
--
--   email_verified  whoever made the person by a command, or a provider, has said that the address is theirs
--   disabled_at     neither their personal keys nor their sessions are accepted since then
CREATE TABLE person (
    id             uuid PRIMARY KEY DEFAULT uuid_v7(),
    email          text NOT NULL,
    email_verified boolean NOT NULL DEFAULT false,
    name           text CHECK (char_length(name) BETWEEN 1 AND 200),
    is_operator    boolean NOT NULL DEFAULT false, -- may have service:any_user and assets:write
    created_at     timestamptz NOT NULL DEFAULT now(),
    disabled_at    timestamptz
);

CREATE UNIQUE INDEX person_email ON person (lower(email));

-- The roles are sets of scopes (gateway/key/role.c).
CREATE TABLE member (
    account_id uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id  uuid NOT NULL REFERENCES person ON DELETE CASCADE,
    role       text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    created_at timestamptz NOT NULL DEFAULT now(),
    invited_by uuid, -- a person, who may be gone; null: nobody
    PRIMARY KEY (account_id, person_id)
);

CREATE INDEX member_of_person ON member (person_id);

-- An invitation is open until it is accepted, revoked or has expired. Of its token only the SHA-256 is kept.
CREATE TABLE invitation (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id  uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    email       text NOT NULL,
    role        text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    hash        bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    invited_by  uuid,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at  timestamptz
);

CREATE UNIQUE INDEX invitation_open ON invitation (account_id, lower(email)) WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- Who made a key: of an automation key, whose agent it is. A key without a row counts as the owner's. A table of its own: a column
-- of api_key would lock this table, which every request of a key that is not cached reads, until all of its rows are written anew.
CREATE TABLE api_key_person (
    key_id    uuid PRIMARY KEY REFERENCES api_key ON DELETE CASCADE,
    person_id uuid NOT NULL -- who may be gone
);

CREATE INDEX api_key_of_person ON api_key_person (person_id);

-- The name of an account; null: its address. Only an account that create-user made for one person has an address, and the release
-- before wants that to be unique: a team's address is that of its first owner.
ALTER TABLE account ADD COLUMN name text CHECK (char_length(name) BETWEEN 1 AND 200);
ALTER TABLE account ALTER COLUMN email DROP NOT NULL;
ALTER TABLE account ADD CONSTRAINT account_called CHECK (email IS NOT NULL OR name IS NOT NULL);

INSERT INTO person (email, email_verified, is_operator) SELECT email, true, is_operator FROM account;
INSERT INTO member (account_id, person_id, role, created_at)
SELECT a.id, p.id, 'owner', a.created_at FROM account a JOIN person p ON lower(p.email) = lower(a.email);
INSERT INTO api_key_person (key_id, person_id) SELECT k.id, m.person_id FROM api_key k JOIN member m ON m.account_id = k.account_id;
CREATE INDEX session_of_person ON session (person_id, id DESC);
UPDATE session s SET person_id = o.person_id FROM api_key_person o WHERE o.key_id = s.key_id;
