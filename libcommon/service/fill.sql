-- name: fill_step
-- $1 how many rows at most: the name of the fill (NULL: nothing is left to do), the rows seen to in all, whether it is finished.
SELECT name, rows, is_finished FROM fill_step($1::int);
