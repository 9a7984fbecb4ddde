-- original-sha256: 613f4347dc6d5ec85a4901dafe03c2ba98b447acb1b46dd5c6aba63006539e37
--
-- Sums that no report can overflow or distort: tokens are summed without bound, and a cost that is not believed is left out.
ALTER TABLE run_day ALTER COLUMN input_tokens TYPE numeric, ALTER COLUMN output_tokens TYPE numeric;

UPDATE run_day d SET cost_usd = d.cost_usd - x.cost_usd, cost_runs = d.cost_runs - x.runs
FROM (SELECT r.account_id, r.repo_key, (r.at AT TIME ZONE 'UTC')::date AS day, sum(r.cost_usd) AS cost_usd, count(*) AS runs
      FROM run r WHERE r.cost_usd > 10000 GROUP BY 1, 2, 3) x
WHERE d.account_id = x.account_id AND d.repo_key = x.repo_key AND d.day = x.day;
