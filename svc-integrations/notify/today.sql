-- name: today_measure (read)
SELECT count(*) FROM message_delivery
WHERE day = (now() AT TIME ZONE 'UTC')::date AND type = 'digest.ready' AND status = 'delivered';
