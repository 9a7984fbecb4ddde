-- What the code host told of repositories goes with the account that it was asked for (account_repositories_forget()); of accounts
-- that were deleted before it is still here. It is asked again.
DELETE FROM installation;
