-- What the metric of the present day counts (quality/today.sql). New rows are behind the older ones, mostly, so a few bytes for each
-- megabyte of the table are enough.
CREATE INDEX recommendation_at ON recommendation USING brin (recommended_at);
