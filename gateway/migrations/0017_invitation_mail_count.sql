-- How many mails of invitations a person has caused, whichever accounts they were of: accounts can be founded and deleted at will, and so
-- can persons. `mark` is the SHA-256 of the address, so that nothing else is kept of somebody who is deleted.
CREATE TABLE invitation_mail_count (
    mark  bytea PRIMARY KEY CHECK (length(mark) = 32),
    since timestamptz NOT NULL DEFAULT now(), -- the first of them
    mails integer NOT NULL
);

CREATE INDEX invitation_mail_count_since ON invitation_mail_count (since);
