/** Transfers of libcurl's multi interface on a worker's loop, each for one fiber. Internal to this
 * folder: fetch.c makes those of HTTP, mail.c those of SMTP. Only transfer_wait() suspends.
 *
 * fetcher_new() require()s a libcurl that looks names up without blocking the loop. Connections
 * are kept and reused, but only for requests that change nothing: libcurl silently repeats a
 * request when a reused connection turns out to be closed. The connection of any other request is
 * new, and closed after it.
 */
#pragma once

#include "base/ip.h"
#include "client/fetch.h"
#include "http/body.h"

#include <curl/curl.h>

#include <stdbool.h>

/** One transfer. It and everything it collects are in its own arena. */
struct transfer {
	struct arena *arena;
	CURL *easy;
	struct curl_slist *fields;
	curl_mime *content; /* of a mail, with its recipients; NULL: none */
	struct curl_slist *recipients;
	char error[CURL_ERROR_SIZE];
	/* Of the last response received: a redirect or 1xx is replaced by the next one. */
	struct http_field *answer_fields;
	size_t field_count, field_room, field_bytes;
	struct http_body body; /* its work bytes count what else the transfer holds */
	bool cuts_body, is_cut;
	enum err_code failure; /* why the rest of the answer was not read */
	enum fetch_guard guard;
	bool is_refused; /* the guard refused an address */
	struct ip
		first_ip; /* with a guard: where the first hop connected to; port 0: nowhere yet */
	int first_port;
	/* Set when the transfer has ended. */
	bool is_done;
	CURLcode result;
	struct fiber *fiber; /* woken when the transfer has ended */
	struct fetcher *fetcher;
};

/** A transfer for the running fiber, which can be set up before it begins. `timeout_ms` limits all
 * of it. */
struct transfer *transfer_new(struct fetcher *fetcher, uint64_t timeout_ms);

/** Add a line to `fields`. Copies. */
void transfer_add_line(struct transfer *transfer, const char *line);

/** Begin; returns the transfer. NULL: libcurl does not accept the URL; the transfer is freed. */
struct transfer *transfer_begin(struct transfer *transfer, const char *url);

/** Wait until it is done. Suspends. Otherwise the reason of a cancellation. */
enum err_code transfer_wait(struct transfer *transfer);

/** Start the call for the running fiber. `timeout_ms` limits all of it. Copies what it needs.
 * ERR_UPSTREAM: libcurl does not accept the URL; ERR_RATE_LIMITED, ERR_CONTENTION: as fetch_try().
 */
enum err_code transfer_start(struct request *rq, const struct fetch_call *call, uint64_t timeout_ms,
                             struct transfer **ret_transfer);

/** Remove the transfer, whether it has ended or not, and free its handle. The caller owns the
 * arena from then on. Not to be called from a libcurl callback. */
void transfer_end(struct transfer *transfer);

/** As fetch_try(). Sets *ret_is_sent: the other server may have read the request. */
enum err_code fetch_once(struct request *rq, const struct fetch_call *call,
                         struct fetch_response **ret_answer, bool *ret_is_sent);

/** What the call does when it is sent again: `effect`, or that of the method. */
enum http_effect fetch_effect(const struct fetch_call *call);
