-- Who gave a signal last; null: the gateway does not name persons yet, or an agent did. The model is the team's: it counts once.
ALTER TABLE feedback ADD COLUMN person_id uuid;
