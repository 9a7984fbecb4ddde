-- What the metric of the present day counts (notify/today.sql).
CREATE INDEX message_delivery_digests ON message_delivery (day) WHERE type = 'digest.ready' AND status = 'delivered';
