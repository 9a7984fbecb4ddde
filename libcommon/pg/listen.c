#include "base/base.h"
#include "pg/internal.h"

#include <stdlib.h>
#include <string.h>

struct channel {
	struct channel *next;
	char *name;
	pg_listen_cb *cb;
	void *context;
	bool is_listening;
};

/* One connection listens for all channels of a pool; it is not in pipeline mode. LISTEN statements
 * go one at a time. */
struct pg_listener {
	struct pg_pool *pool;
	struct pg_conn *conn;
	struct channel *channels;
	struct channel *asked; /* whose LISTEN is under way */
};

/* Send the next LISTEN that is due. */
static void listener_advance(struct pg_listener *listener)
{
	PGconn *pg = pg_conn_pg(listener->conn);
	if (pg == NULL || listener->asked != NULL)
		return;
	struct channel *channel = listener->channels;
	while (channel != NULL && channel->is_listening)
		channel = channel->next;
	if (channel == NULL)
		return;
	char sql[128];
	snprintf(sql, sizeof(sql), "LISTEN \"%s\"", channel->name);
	listener->asked = channel;
	if (!PQsendQuery(pg, sql))
		pg_conn_down(listener->conn, NULL);
	else
		pg_conn_flush(listener->conn);
}

/* The answers of LISTEN. */
static void listener_receive(struct pg_listener *listener, PGconn *pg)
{
	while (listener->asked != NULL && !PQisBusy(pg)) {
		PGresult *result = PQgetResult(pg);
		struct channel *channel = listener->asked;
		if (result == NULL) {
			listener->asked = NULL;
			if (channel->is_listening)
				channel->cb(channel->context, NULL);
			listener_advance(listener);
			continue;
		}
		channel->is_listening = PQresultStatus(result) == PGRES_COMMAND_OK;
		PQclear(result);
		if (!channel->is_listening) {
			pg_conn_down(listener->conn, NULL);
			return;
		}
	}
}

static void listener_notify(struct pg_listener *listener, PGconn *pg)
{
	PGnotify *note;
	while ((note = PQnotifies(pg)) != NULL) {
		for (struct channel *c = listener->channels; c != NULL; c = c->next) {
			if (strcmp(c->name, note->relname) == 0)
				c->cb(c->context, note->extra);
		}
		PQfreemem(note);
	}
}

static void on_readable(void *context)
{
	struct pg_listener *listener = context;
	PGconn *pg = pg_conn_pg(listener->conn);
	if (PQconsumeInput(pg) != 1) {
		pg_conn_down(listener->conn, NULL);
		return;
	}
	listener_receive(listener, pg);
	if (pg_conn_pg(listener->conn) == pg)
		listener_notify(listener, pg);
}

static void on_ready(void *context)
{
	listener_advance(context);
}

static void on_lost(void *context)
{
	struct pg_listener *listener = context;
	listener->asked = NULL;
	for (struct channel *c = listener->channels; c != NULL; c = c->next)
		c->is_listening = false;
}

static void on_broken(void *context attr_unused)
{
}

static bool is_wanted(void *context attr_unused)
{
	return true;
}

static void on_freed(void *context)
{
	struct pg_listener *listener = context;
	struct pg_pool *pool = listener->pool;
	for (struct channel *c = listener->channels, *next; c != NULL; c = next) {
		next = c->next;
		free(c->name);
		free(c);
	}
	free(listener);
	pg_pool_handle_closed(pool);
}

static const struct pg_conn_owner listener_owner = {
	.ready = on_ready,
	.readable = on_readable,
	.lost = on_lost,
	.broken = on_broken,
	.wanted = is_wanted,
	.freed = on_freed,
};

static struct pg_listener *listener_new(struct pg_pool *pool)
{
	struct pg_listener *listener = calloc(1, sizeof(*listener));
	require(listener != NULL);
	listener->pool = pool;
	listener->conn = pg_conn_new(pool->loop, pool->target, pool->settings.connect_timeout_ms,
	                             &listener_owner, listener);
	pool->handles++;
	return listener;
}

void pg_listen(struct pg_pool *pool, const char *channel, pg_listen_cb *cb, void *context)
{
	/* An identifier of Postgres has at most 63 bytes; it is quoted into the statement. */
	require(strlen(channel) <= 63 && strchr(channel, '"') == NULL);
	struct channel *entry = calloc(1, sizeof(*entry));
	require(entry != NULL);
	*entry = (struct channel){.name = strdup(channel), .cb = cb, .context = context};
	require(entry->name != NULL);
	if (pool->listener == NULL)
		pool->listener = listener_new(pool);
	entry->next = pool->listener->channels;
	pool->listener->channels = entry;
	pg_conn_connect(pool->listener->conn);
	listener_advance(pool->listener);
}

void pg_listener_free(struct pg_listener *listener)
{
	if (listener != NULL)
		pg_conn_free(listener->conn);
}
