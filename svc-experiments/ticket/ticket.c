#include "ticket/ticket.h"

#include "client/service_ask.h"
#include "experiment/experiment.h"
#include "experiment/fields.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "service/process.h"
#include "ticket.sql.h"

#include <string.h>

/* The tracker's answers that are waited for: one to read a ticket, and three for a comment. */
#define READ_TIMEOUT_MS    20000
#define COMMENT_TIMEOUT_MS 28000

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct experiment_path, id, "experiment_id"),
	FIELD_END,
};

/* The ticket of an experiment, of a row with `source`, `ticket` and `url`. */
struct ticket {
	const char *source, *id, *url;
};

/* Raises ERR_NOT_FOUND: there is no such experiment, or it has no ticket at a tracker. */
static struct ticket ticket_of(struct request *rq, const struct pg_rows *rows)
{
	require_row(rq, rows, EXPERIMENT_MISSING);
	struct ticket ticket = {
		.source = pg_get(rows, 0, "source"),
		.id = pg_get(rows, 0, "ticket"),
		.url = pg_get(rows, 0, "url"),
	};
	bool is_at_tracker = ticket.source && (strcmp(ticket.source, "tracker_a") == 0 ||
	                                       strcmp(ticket.source, "tracker_b") == 0);
	if (!is_at_tracker || !ticket.id || !ticket.id[0])
		raise_error(rq, ERR_NOT_FOUND,
		            "the experiment has no ticket: its ticket_source must be tracker_a or "
		            "tracker_b, with an external_ticket_id");
	return ticket;
}

static void read_ticket(struct request *rq, const char *experiment, const struct ticket *ticket)
{
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_ticket_facts_get,
	                        ASK_BODY(rq, {"source", ticket->source}, {"ticket", ticket->id},
	                                 {"url", ticket->url}),
	                        &(struct ask_options){.timeout_ms = READ_TIMEOUT_MS});
	if (answer.code)
		pg_query(rq, TICKET_STORE_FAULT_SQL, pg_text(experiment), pg_text(ticket->source),
		         pg_text(ticket->id), pg_text(answer.detail));
	else
		pg_query(rq, TICKET_STORE_SQL, pg_text(experiment), pg_text(ticket->source),
		         pg_text(ticket->id), pg_text(json_get_text(answer.json, "title")),
		         pg_text(json_get_text(answer.json, "state")),
		         pg_text(json_get_text(answer.json, "url")));
}

void ticket_get(struct request *rq)
{
	struct experiment_path *in = request_input(rq, struct experiment_path, ID_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account), id = pg_text(in->id);
	struct pg_rows *rows = pg_query(rq, TICKET_CLAIM_SQL, account, id);
	struct ticket ticket = ticket_of(rq, rows);
	if (pg_get_bool(rows, 0, "is_due"))
		read_ticket(rq, in->id, &ticket);
	reply_one(rq, 200,
	          pg_query(rq, TICKET_GET_SQL, account, id, pg_text(ticket.source),
	                   pg_text(ticket.id)),
	          EXPERIMENT_MISSING);
}

/* The decision, with the address of the experiment where it is known. */
static const char *comment_text(struct request *rq, const char *experiment, const char *decision)
{
	const char *site = process_settings.public_url;
	if (!site[0])
		return decision;
	return arena_printf(rq->arena, "%s\n%s/console/experiments/%s", decision, site, experiment);
}

void ticket_comment(struct request *rq)
{
	struct experiment_path *in = request_input(rq, struct experiment_path, ID_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, TICKET_DECISION_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	struct ticket ticket = ticket_of(rq, rows);
	const char *decision = pg_get(rows, 0, "decision");
	if (!decision)
		raise_error(rq, ERR_CONFLICT, "the experiment has no outcome and no decision yet");
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_ticket_comment_put,
	                        ASK_BODY(rq, {"source", ticket.source}, {"ticket", ticket.id},
	                                 {"url", ticket.url},
	                                 {"text", comment_text(rq, in->id, decision)}),
	                        &(struct ask_options){.timeout_ms = COMMENT_TIMEOUT_MS});
	if (answer.code)
		service_answer_raise(rq, &answer);
	bool is_created = json_get_bool(answer.json, "created", false);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *reply = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, reply);
	yyjson_mut_obj_add_str(doc, reply, "experiment_id", in->id);
	yyjson_mut_obj_add_str(doc, reply, "ticket_source", ticket.source);
	yyjson_mut_obj_add_str(doc, reply, "external_ticket_id", ticket.id);
	yyjson_mut_obj_add_bool(doc, reply, "created", is_created);
	reply_doc(rq, 200, doc);
}
