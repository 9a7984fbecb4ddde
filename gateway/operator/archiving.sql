-- name: archiving_measure (read)
-- Returns the seconds since the log was last archived, if the newest attempt has failed.
SELECT CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity')
            THEN extract(epoch FROM now() - coalesce(last_archived_time, stats_reset)) ELSE 0 END AS failing
FROM pg_stat_archiver;
