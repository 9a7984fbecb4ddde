#include "pg/listen.h"

#include "base/base.h"
#include "pg/reconnect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct channel {
	SLIST_ENTRY(channel) entry;
	char *name;
	pg_listen_cb *cb;
	void *context;
	bool is_listening;
};

/* The connection is not in pipeline mode. LISTEN statements go one at a time. */
struct pg_listener {
	struct pg_link *link;
	SLIST_HEAD(, channel) channels;
	struct channel *pending; /* whose LISTEN was sent and not answered; NULL: none */
	void (*freed)(void *context);
	void *context;
};

/* Send the next LISTEN that is due. */
static void listener_advance(struct pg_listener *listener)
{
	PGconn *pg = pg_link_pg(listener->link);
	if (!pg || listener->pending)
		return;
	struct channel *channel;
	SLIST_FOREACH (channel, &listener->channels, entry) {
		if (!channel->is_listening)
			break;
	}
	if (!channel)
		return;
	char sql[128];
	snprintf(sql, sizeof(sql), "LISTEN \"%s\"", channel->name);
	listener->pending = channel;
	if (PQsendQuery(pg, sql))
		pg_link_flush(listener->link);
	else
		pg_link_fail(listener->link, NULL);
}

/* Read the answers to LISTEN. */
static void listener_receive(struct pg_listener *listener, PGconn *pg)
{
	while (listener->pending && !PQisBusy(pg)) {
		PGresult *result = PQgetResult(pg);
		struct channel *channel = listener->pending;
		if (!result) {
			listener->pending = NULL;
			if (channel->is_listening)
				channel->cb(channel->context, NULL);
			listener_advance(listener);
			continue;
		}
		channel->is_listening = PQresultStatus(result) == PGRES_COMMAND_OK;
		PQclear(result);
		if (!channel->is_listening) {
			pg_link_fail(listener->link, NULL);
			return;
		}
	}
}

static void listener_notify(struct pg_listener *listener, PGconn *pg)
{
	PGnotify *note;
	while ((note = PQnotifies(pg))) {
		struct channel *channel;
		SLIST_FOREACH (channel, &listener->channels, entry) {
			if (strcmp(channel->name, note->relname) == 0)
				channel->cb(channel->context, note->extra);
		}
		PQfreemem(note);
	}
}

static void on_readable(void *context)
{
	struct pg_listener *listener = context;
	PGconn *pg = pg_link_pg(listener->link);
	if (PQconsumeInput(pg) != 1) {
		pg_link_fail(listener->link, NULL);
		return;
	}
	listener_receive(listener, pg);
	if (pg_link_pg(listener->link) == pg)
		listener_notify(listener, pg);
}

static void on_ready(void *context)
{
	listener_advance(context);
}

static void on_lost(void *context)
{
	struct pg_listener *listener = context;
	struct channel *channel;
	listener->pending = NULL;
	SLIST_FOREACH (channel, &listener->channels, entry)
		channel->is_listening = false;
}

static void on_broken(void *context attr_unused)
{
}

static bool should_reconnect(void *context attr_unused)
{
	return true;
}

static void on_link_freed(void *context)
{
	struct pg_listener *listener = context;
	while (!SLIST_EMPTY(&listener->channels)) {
		struct channel *channel = SLIST_FIRST(&listener->channels);
		SLIST_REMOVE_HEAD(&listener->channels, entry);
		free(channel->name);
		free(channel);
	}
	listener->freed(listener->context);
	free(listener);
}

static const struct pg_link_owner LINK_OWNER = {
	.ready = on_ready,
	.readable = on_readable,
	.lost = on_lost,
	.broken = on_broken,
	.should_reconnect = should_reconnect,
	.freed = on_link_freed,
};

struct pg_listener *pg_listener_new(uv_loop_t *loop, const struct pg_target *target,
                                    uint64_t connect_timeout_ms, void (*freed)(void *context),
                                    void *context)
{
	struct pg_listener *listener = calloc(1, sizeof(*listener));
	require(listener);
	listener->freed = freed;
	listener->context = context;
	listener->link = pg_link_new(loop, target, connect_timeout_ms, &LINK_OWNER, listener);
	return listener;
}

void pg_listener_free(struct pg_listener *listener)
{
	if (listener)
		pg_link_free(listener->link);
}

void pg_listener_add(struct pg_listener *listener, const char *name, pg_listen_cb *cb,
                     void *context)
{
	/* A Postgres identifier has at most 63 bytes; the name is quoted into the statement. */
	require(strlen(name) <= 63 && !strchr(name, '"'));
	struct channel *channel = calloc(1, sizeof(*channel));
	require(channel);
	channel->name = strdup(name);
	require(channel->name);
	channel->cb = cb;
	channel->context = context;
	SLIST_INSERT_HEAD(&listener->channels, channel, entry);
	pg_link_connect(listener->link);
	listener_advance(listener);
}
