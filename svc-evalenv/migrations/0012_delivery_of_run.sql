-- original-sha256: 4d96343d7da50b229f15681392bbadea4a179dcd2304792c5464d8ae54fe45e0
--
-- A delivery counts once for its run. Before, it counted once for the account: the result of a run was lost when its sender used an
-- id that another run had, by chance or because somebody guessed it.
ALTER TABLE delivery DROP CONSTRAINT delivery_pkey, ADD PRIMARY KEY (run_id, delivery_id);
DROP INDEX delivery_of_run;
