-- Who made an endpoint, or gave it the address that it has: messages leave the account for it by their choice.
--
--   key_id     with which; null: a version that did not note it
--   person_id  whose key that is; null: not known, or an automation key
ALTER TABLE endpoint ADD COLUMN key_id uuid, ADD COLUMN person_id uuid;
