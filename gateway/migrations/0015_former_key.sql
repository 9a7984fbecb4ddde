-- Whose a personal key was that is deleted KEY_DAYS after its end: a service may know no more of who did something than the key.
--
--   account_id  goes with it by a trigger: a reference would lock the account for as long as its keys are deleted
--   person_id   who may be gone
CREATE TABLE former_key (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    person_id  uuid NOT NULL
);

CREATE INDEX former_key_of_account ON former_key (account_id);
CREATE INDEX former_key_of_person ON former_key (person_id);
