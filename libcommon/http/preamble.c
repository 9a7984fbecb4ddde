#include "balancer/proxy_protocol.h"
#include "base/base.h"
#include "http/internal.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <stdlib.h>
#include <string.h>

METRIC_COUNTER(refused_total, "expops_http_proxy_headers_refused_total",
               "Connections of load balancers that were closed, because they did not begin with a "
               "header of the PROXY protocol.");

static void refuse(struct http_conn *conn)
{
	metric_add(&refused_total, NULL, NULL, 1);
	log_info("PROXY header refused", f_text("peer", conn->peer));
	conn->is_broken = true;
}

static void end(struct http_conn *conn)
{
	free(conn->preamble);
	conn->preamble = NULL;
	conn->awaits_header = false;
	conn->is_open = !conn->tls_context;
}

/* Keep a part of a header; `taken` bytes were added to it. */
static void keep(struct http_conn *conn, const char *data, size_t taken)
{
	if (!conn->preamble) {
		conn->preamble = malloc(PROXY_HEADER_MAX);
		require(conn->preamble);
		memcpy(conn->preamble, data, taken);
	}
	conn->preamble_length += taken;
}

bool http_preamble_receive(struct http_conn *conn, const char **data, size_t *length)
{
	struct proxy_header header;
	size_t had = conn->preamble_length;
	size_t taken = MIN_OF(*length, PROXY_HEADER_MAX - had);
	const char *start = *data;
	if (conn->preamble) {
		memcpy(conn->preamble + had, *data, taken);
		start = conn->preamble;
	}
	switch (proxy_header_parse(start, had + taken, &header)) {
	case PROXY_HEADER_PARTIAL:
		keep(conn, start, taken);
		return false;
	case PROXY_HEADER_INVALID:
		refuse(conn);
		return false;
	case PROXY_HEADER_COMPLETE:
		break;
	}
	if (*header.client)
		memcpy(conn->peer, header.client, sizeof(conn->peer));
	if (header.is_by_tls)
		conn->scheme = "https";
	*data += header.length - had;
	*length -= header.length - had;
	end(conn);
	return true;
}
