-- The kinds of reminders have other names: those that the inbox shows.
UPDATE experiment_reminder SET kind = CASE kind WHEN 'experiment_without_data' THEN 'experiment_decided_without_data'
                                                ELSE 'experiment_shipped_without_merge' END
WHERE kind IN ('experiment_without_data', 'experiment_unmerged');
