#include "product/event_streams.h"

#include <stddef.h>
#include <string.h>

const struct event_stream EVENT_STREAMS[] = {
	{"events.account",
         "gateway",
         {"svc-evalenv", "svc-experiments", "svc-fleet", "svc-integrations", "svc-interests"}},
	{"events.experiments",
         "svc-experiments",
         {"svc-fleet", "svc-integrations", "svc-interests"}},
	{"events.runs", "svc-fleet", {"svc-experiments", "svc-integrations", "svc-interests"}},
	{"events.eval", "svc-evalenv", {"svc-experiments", "svc-integrations"}},
	{"events.assets", "svc-search", {"svc-integrations", "svc-interests"}},
	{"events.code_host",
         "svc-integrations",
         {"gateway", "svc-evalenv", "svc-experiments", "svc-fleet", "svc-integrations",
          "svc-interests"}},
	{"events.interests", "svc-interests", {"svc-integrations"}},
	/* A service's second stream: what the audit log names. */
	{"events.audit.account", "gateway", {"gateway"}},
	{"events.audit.evalenv", "svc-evalenv", {"gateway"}},
	{"events.audit.experiments", "svc-experiments", {"gateway"}},
	{"events.audit.fleet", "svc-fleet", {"gateway"}},
	{"events.audit.integrations", "svc-integrations", {"gateway"}},
	{"events.audit.interests", "svc-interests", {"gateway"}},
	{"events.audit.search", "svc-search", {"gateway"}},
	{NULL},
};

const char *event_stream_key(struct arena *arena, const char *stream, const char *what,
                             const char *reader)
{
	return arena_printf(arena, "%s.%s.%s", stream, what, reader);
}

const struct event_stream *event_stream_find(const struct event_stream *streams, const char *name)
{
	for (; streams->name; streams++) {
		if (strcmp(streams->name, name) == 0)
			return streams;
	}
	return NULL;
}

const char *event_stream_of_writer(const struct event_stream *streams, const char *service)
{
	while (streams->name && strcmp(streams->writer, service) != 0)
		streams++;
	return streams->name;
}

bool event_stream_has_reader(const struct event_stream *streams, const char *name,
                             const char *service)
{
	const struct event_stream *stream = event_stream_find(streams, name);
	for (int i = 0; stream && i < EVENT_READERS_MAX && stream->readers[i]; i++) {
		if (strcmp(stream->readers[i], service) == 0)
			return true;
	}
	return false;
}
