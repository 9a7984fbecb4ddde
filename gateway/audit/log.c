#include "audit/log.h"

#include "crypto/scope.h"
#include "input/input.h"
#include "log.sql.h"
#include "pg/pg.h"
#include "reply/media_type.h"
#include "reply/resource.h"

#include <string.h>

#define LIST_DEFAULT 20
#define LIST_MAX     100
#define ACTION_MAX   64
#define TARGET_MAX   200
#define PAGE_ENTRIES 500 /* of an export */

struct log_input {
	const char *since, *until, *action, *person, *target;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_TIME(struct log_input, since, "since"),
	QUERY_TIME(struct log_input, until, "until"),
	QUERY_TEXT(struct log_input, action, "action", OPTIONAL, 1, ACTION_MAX),
	QUERY_UUID(struct log_input, person, "person_id"),
	QUERY_TEXT(struct log_input, target, "target", OPTIONAL, 1, TARGET_MAX),
	QUERY_LIMIT(struct log_input, limit, LIST_DEFAULT, LIST_MAX),
	QUERY_OFFSET(struct log_input, offset),
	FIELD_END,
};

static const char *const TYPES[] = {"application/json", "application/x-ndjson", NULL};

/* Entries of no account that there is are for operators. */
static struct pg_param is_operator(const struct request *rq)
{
	return pg_bool(caller_has_scope(rq, SCOPE_BIT_SERVICE_ANY_USER));
}

static void reply_list(struct request *rq, const struct log_input *in)
{
	struct pg_rows *rows = pg_query(rq, LOG_LIST_SQL, pg_uuid(rq->caller.account),
	                                is_operator(rq), pg_text(in->since), pg_text(in->until),
	                                pg_text(in->action), pg_text(in->person),
	                                pg_text(in->target), pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

/* Where an export goes on: behind the entry of this time and id. */
struct position {
	char at[64], id[UUID_TEXT_LEN + 1];
};

/* Send the entries behind `position`, and let it be that of the last. False: there were none. */
static bool send_page(struct request *rq, const struct log_input *in, struct position *position)
{
	bool is_first = !position->id[0];
	struct pg_rows *rows =
		pg_query(rq, LOG_EXPORT_SQL, pg_uuid(rq->caller.account), is_operator(rq),
	                 pg_text(in->since), pg_text(in->until), pg_text(in->action),
	                 pg_text(in->person), pg_text(in->target),
	                 pg_text(is_first ? NULL : position->at),
	                 pg_text(is_first ? NULL : position->id), pg_int(PAGE_ENTRIES));
	const char *lines = pg_get(rows, 0, "lines");
	if (!lines)
		return false;
	snprintf(position->at, sizeof(position->at), "%s", pg_get(rows, 0, "last_at"));
	snprintf(position->id, sizeof(position->id), "%s", pg_get(rows, 0, "last_id"));
	reply_stream_add(rq, lines, strlen(lines));
	return true;
}

static void reply_export(struct request *rq, const struct log_input *in)
{
	struct position position = {0};
	bool has_more = true;
	struct pg_rows *rows =
		pg_query(rq, LOG_COUNT_SQL, pg_uuid(rq->caller.account), is_operator(rq),
	                 pg_text(in->since), pg_text(in->until), pg_text(in->action),
	                 pg_text(in->person), pg_text(in->target));
	reply_header(rq, "X-Total-Count", "%s", pg_value(rows, 0));
	reply_header(rq, "Content-Disposition", "attachment; filename=\"audit.ndjson\"");
	reply_stream_begin(rq, 200, "application/x-ndjson");
	while (has_more) {
		request_page_begin(rq);
		has_more = send_page(rq, in, &position);
		request_page_end(rq);
	}
}

void audit_list(struct request *rq)
{
	struct log_input *in = request_input(rq, struct log_input, LIST_FIELDS);
	if (reply_choose(rq, TYPES) == 0)
		reply_list(rq, in);
	else
		reply_export(rq, in);
}
