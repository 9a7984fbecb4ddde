-- Former recommendations go by their age, which is in the id (retention/retention.h).
CREATE INDEX former_recommendation_by_age ON former_recommendation (recommendation_id);
