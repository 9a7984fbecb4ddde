-- Reservations go by their age (retention/retention.h). New rows are behind the older ones, so a few bytes for each megabyte are enough.
CREATE INDEX reservation_made_at ON reservation USING brin (made_at);
