-- name: maker_gone(account, event_data, providers, web_url)
-- :event_data: what the gateway tells of the person. :providers: a JSON array. :web_url: address of the code host's pages.
SELECT connections_of_maker_end(:account, :event_data, :providers, :web_url), endpoints_of_maker_disable(:account, :event_data);
