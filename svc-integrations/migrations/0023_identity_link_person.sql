-- Who made an identity link; null: the gateway does not name persons yet, or a service or an agent did.
ALTER TABLE identity_link ADD COLUMN person_id uuid;
