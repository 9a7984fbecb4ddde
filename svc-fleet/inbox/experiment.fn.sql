-- Reminders of experiments.

-- svc-experiments announces what an experiment is to be reminded of from now on; `told` has `id`, `name` and `reminders`, which are gone with
-- the experiment.
CREATE OR REPLACE FUNCTION experiment_reminder_note(account uuid, told jsonb, is_deleted boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM experiment_reminder r WHERE r.account_id = account AND r.experiment_id = (told ->> 'id')::uuid;
    INSERT INTO experiment_reminder (account_id, experiment_id, kind, name, due_at)
    SELECT account, (told ->> 'id')::uuid, r.kind, told ->> 'name', r.at
    FROM jsonb_to_recordset(CASE WHEN NOT is_deleted THEN told -> 'reminders' END) AS r (kind text, at timestamptz);
    PERFORM inbox_mark(account, min(r.due_at)) FROM experiment_reminder r
    WHERE r.account_id = account AND r.experiment_id = (told ->> 'id')::uuid HAVING min(r.due_at) IS NOT NULL;
END $$;
