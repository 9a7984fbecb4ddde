/** libcommon/reply/: replies of handlers. A handler calls exactly one of reply_json(),
 * reply_json_length(), reply_doc(), reply_content(), reply_empty(), reply_page(), reply_task(),
 * reply_papers() (reply_papers.h), reply_csv() (reply_csv.h), reply_stream_begin() or reply_one()
 * (resource.h), or it raises, which replies a problem (json/problem.h). None or two is a bug and
 * aborts. But for the two that send while they run, the reply is sent after the handler has
 * returned, with Content-Type and X-Request-Id. */
#pragma once

#include "http/server.h"
#include "loop/request.h"

#include <yyjson.h>

#include <stddef.h>
#include <stdint.h>

struct pg_rows;

/** Reply with JSON: a text, a text of known length, or a document of yyjson (json/json.h). Borrows:
 * the text must live in the request's arena or be static. */
void reply_json(struct request *rq, int status, const char *json);
void reply_json_length(struct request *rq, int status, const char *json, size_t length);
void reply_doc(struct request *rq, int status, yyjson_mut_doc *doc);

/** Reply with content of another media type. Borrows both texts. */
void reply_content(struct request *rq, int status, const char *type, const char *content,
                   size_t length);

/** Begin a reply whose content is made while it is sent, and send more of it. No cache validates
 * it. Once it has begun, the handler does not run again, and a failure breaks the connection off,
 * so that the client does not take the content for complete. reply_stream_add() suspends while the
 * client has not read what was sent before, outside of a transaction; that time does not count
 * against the request's deadline. Copies. Raises ERR_CLIENT_GONE. */
void reply_stream_begin(struct request *rq, int status, const char *type);
void reply_stream_add(struct request *rq, const char *content, size_t length);

/** Reply without content: 202, 204 or 304. */
void reply_empty(struct request *rq, int status);

/** Reply with a page of a list: 200, and the first column of the row, a JSON array; its column
 * `total` is in the field X-Total-Count. The field Link has the next and the previous page: the
 * request's own target with another offset.
 *
 *     Link: </api/v1.0/projects?limit=20&offset=40>; rel="next", </api/…>; rel="prev" */
void reply_page(struct request *rq, const struct pg_rows *rows, int64_t limit, int64_t offset);

/** Reply with a page of the document, which is a whole list: a JSON array. */
void reply_doc_page(struct request *rq, yyjson_mut_doc *doc, int64_t limit, int64_t offset);

/** Add only the fields of a page, X-Total-Count and Link, to a reply whose body is not a bare
 * array. `limit_name` is the parameter of the limit, `limit` in most operations. */
void reply_page_fields(struct request *rq, const char *limit_name, int64_t total, int64_t limit,
                       int64_t offset);

/** Say that the reply has a secret, such as the text of a new key: no cache stores it
 * (Cache-Control: no-store, RFC 9111 section 5.2.2.5), it gets no ETag, and the request's memory is
 * overwritten when it is freed. */
void reply_is_secret(struct request *rq);

/** Add a field (header) to the reply, before or after one of the functions above. A problem reply
 * drops it. Copies. At most REPLY_FIELDS_MAX. */
void reply_header(struct request *rq, const char *name, const char *format, ...) attr_printf(3, 4);

/** Reply 202 with the JSON object of a task, as the SQL function task_json() writes it, plus the
 * member `status_url`. */
void reply_task(struct request *rq, const char *task_json, const char *status_url);

/* The rest is for http_request.c and idempotency.c. */

#define REPLY_FIELDS_MAX     12
#define REPLY_GZIP_MIN_BYTES 1024 /* of content that is compressed */

struct reply {
	int status;       /* 0: the handler has not replied yet */
	const char *type; /* Content-Type; NULL: none */
	const char *body;
	size_t length;
	struct http_field fields[REPLY_FIELDS_MAX];
	size_t field_count;
	bool is_unchanged; /* as etag_reply_unchanged() says */
	bool is_secret;    /* as reply_is_secret() says */
	bool is_varying;   /* of a 304: its content depends on Accept-Encoding */
};

/** The request's reply; an empty one on first use. */
struct reply *reply_of(struct request *rq);

/** Replace the reply, if there is one, by rq->problem. */
void reply_problem(struct request *rq);

/** Set the limit of the memory of large answers. Once, before threads. */
void reply_set_limit(size_t answer_memory_bytes);

/** Count the reply in the memory of answers until the request is freed; one that cannot be repeated
 * is always counted. ERR_UNAVAILABLE: the memory is used up; ERR_RATE_LIMITED: the account's share
 * of it is. */
enum err_code reply_take_memory(struct request *rq) attr_must_use;

/** Send the reply over the exchange: at once, or its first pieces when it is large. JSON of a
 * kilobyte or more is compressed when the client accepts gzip; a strong ETag then ends in
 * `-gzip`. */
void reply_send(struct request *rq);

/** End the content that reply_stream_begin() began; or, when the request has failed, break the
 * connection off. */
void reply_stream_end(struct request *rq);

/** For on_drained: send the next pieces. */
void reply_send_more(struct request *rq);
