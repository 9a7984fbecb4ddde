-- name: key_changes_own
-- Returns of whom the transaction has changed keys, sessions or roles.
SELECT subject FROM key_change WHERE xid = pg_current_xact_id_if_assigned();

-- name: key_changes_since(snapshot, limit)
-- Returns of whom something has changed that was committed since :snapshot, that of the last look (NULL: none), with the snapshot
-- of this look and the server that it is of; a row without a subject if there is nobody. What the last snapshot did not see is
-- what it held to be running or to begin later: a transaction can commit after one that began later.
SELECT now.*, changed.subject
FROM (SELECT pg_current_snapshot()::text AS snapshot, pg_postmaster_start_time()::text AS server) AS now
LEFT JOIN (SELECT DISTINCT c.subject
           FROM key_change c
           WHERE c.xid >= pg_snapshot_xmin(:snapshot::pg_snapshot) AND NOT pg_visible_in_snapshot(c.xid, :snapshot::pg_snapshot)
           LIMIT :limit) AS changed ON true;
