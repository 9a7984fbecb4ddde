-- original-sha256: 10f5b2b8c264c892b6a3346c38b70077d07005965971ab7cf7b443e50a868b77
--
-- The context_version for which recommendations were last computed, whether any were found or not; null: never.
ALTER TABLE interest ADD COLUMN computed_for integer;
UPDATE interest SET computed_for = context_version WHERE last_recommendation_at IS NOT NULL;
