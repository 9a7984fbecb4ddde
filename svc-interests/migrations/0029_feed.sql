-- Atom feeds of recommended papers: whoever has the token can read one.
CREATE TABLE feed (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id  uuid NOT NULL,
    interest_id uuid REFERENCES interest ON DELETE CASCADE, -- null: all
    min_score   double precision NOT NULL CHECK (min_score BETWEEN 0 AND 1),
    hash        bytea NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the token
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX feed_of_account ON feed (account_id, id DESC);
CREATE INDEX feed_of_interest ON feed (interest_id) WHERE interest_id IS NOT NULL;
CREATE TRIGGER account_required BEFORE INSERT ON feed FOR EACH ROW EXECUTE FUNCTION account_required();
