-- The numbers that the score of a recommendation was made of (ranking/breakdown.h), of the time when it was made. One that
-- an earlier version of the service made has none. Lists do not read it, so it is not in the rows that they read.
CREATE TABLE recommendation_explanation (
    recommendation_id uuid PRIMARY KEY REFERENCES recommendation ON DELETE CASCADE,
    explanation       jsonb NOT NULL
);

-- The examples that an interest's model learned from, and their coefficients in it:
-- [{"arxiv_id": "2205.14135", "signal": "like", "coefficient": 0.31}]. They are of the model with this version; a process of
-- an earlier version of the service replaces a model and leaves these.
CREATE TABLE preference_evidence (
    interest_id uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    version     integer NOT NULL,
    examples    jsonb NOT NULL
);
