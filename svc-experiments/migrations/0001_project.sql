-- What experiments can be gathered in.
CREATE TABLE project (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id  uuid NOT NULL,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT project_of_account UNIQUE (account_id, id)
);

CREATE UNIQUE INDEX project_name ON project (account_id, name);

CREATE TRIGGER account_required BEFORE INSERT ON project FOR EACH ROW EXECUTE FUNCTION account_required();
