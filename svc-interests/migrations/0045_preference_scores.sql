-- The preference scores of an interest's candidates, so that a refresh reads only some of their papers (preference/stored_scores.h). They
-- are those of the model with this version and embedder, made by code of the version `scoring`.
CREATE TABLE preference_scores (
    interest_id   uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    model_version integer NOT NULL,
    embedder      text,
    scoring       integer NOT NULL,
    scores        bytea NOT NULL
);
