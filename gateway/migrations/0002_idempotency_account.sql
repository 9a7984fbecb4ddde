-- First answers go with their account: none is kept for one that is deleted, not even by a request under way.
DELETE FROM idempotency i WHERE NOT EXISTS (SELECT FROM account WHERE id = i.account_id);

ALTER TABLE idempotency ADD CONSTRAINT idempotency_account FOREIGN KEY (account_id) REFERENCES account ON DELETE CASCADE;
