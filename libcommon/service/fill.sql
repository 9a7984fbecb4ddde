-- name: fill_step(limit)
-- :limit is of rows. Returns the name of the fill (NULL: nothing is left to do), the rows seen to in all, and whether it is
-- finished.
SELECT name, rows, is_finished FROM fill_step(:limit::int);
