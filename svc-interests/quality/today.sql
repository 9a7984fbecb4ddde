-- name: today_measure (read)
SELECT count(*) FROM recommendation WHERE recommended_at >= date_trunc('day', now());
