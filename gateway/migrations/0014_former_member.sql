-- Who was a member of an account: so that what they did stays readable, and nobody is let in again whom an owner has removed.
--
--   email, name  as they were when the membership ended; null: the person was deleted
--   marks        of a deleted person: former_marks() of what they could come back as
CREATE TABLE former_member (
    account_id uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id  uuid NOT NULL,
    email      text,
    name       text,
    ended_at   timestamptz NOT NULL DEFAULT now(),
    marks      bytea[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (account_id, person_id)
);

CREATE INDEX former_member_of_person ON former_member (person_id);
