#include "tracker/ticket.h"

#include "connection/token.h"
#include "crypto/crypto.h"
#include "input/input.h"
#include "json/json.h"
#include "reply/reply.h"
#include "tracker/tracker.h"

#include <string.h>

#define ID_MAX   255
#define TEXT_MAX 20000

struct ticket_input {
	const char *source, *ticket, *url, *text;
};

static const char *const SOURCES[] = {"tracker_a", "tracker_b", NULL};

#define TICKET_FIELDS                                                                  \
	BODY_ENUM(struct ticket_input, source, "source", REQUIRED, SOURCES),           \
		BODY_TEXT(struct ticket_input, ticket, "ticket", REQUIRED, 1, ID_MAX), \
		BODY_URL(struct ticket_input, url, "url", NULLABLE)

static const struct field GET_FIELDS[] = {
	TICKET_FIELDS,
	FIELD_END,
};

static const struct field COMMENT_FIELDS[] = {
	TICKET_FIELDS,
	BODY_TEXT(struct ticket_input, text, "text", REQUIRED, 1, TEXT_MAX),
	FIELD_END,
};

/* The ticket that the input names, to be reached by *ret_api. */
static struct ticket open_ticket(struct request *rq, const struct ticket_input *in,
                                 const struct tracker_api **ret_api)
{
	const struct provider *provider = provider_get(rq, in->source);
	*ret_api = tracker_api_of(provider);
	if (!*ret_api)
		raise_error(rq, ERR_NOT_CONFIGURED, "the API of %s is not configured", in->source);
	return (struct ticket){
		.provider = provider,
		.token = connection_token(rq, &rq->caller.account, in->source).access_token,
		.id = in->ticket,
		.url = in->url,
	};
}

void ticket_facts_get(struct request *rq)
{
	struct ticket_input *in = request_input(rq, struct ticket_input, GET_FIELDS);
	const struct tracker_api *api;
	struct ticket ticket = open_ticket(rq, in, &api);
	struct ticket_facts facts = api->get(rq, &ticket);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	json_add_text(doc, answer, "title", facts.title);
	json_add_text(doc, answer, "state", facts.state);
	json_add_text(doc, answer, "url", facts.url);
	reply_doc(rq, 200, doc);
}

/* `expops:` and the beginning of a hash. */
static const char *mark_of(struct request *rq, const char *text)
{
	char hex[SHA256_HEX_LEN + 1];
	sha256_hex(text, strlen(text), hex);
	return arena_printf(rq->arena, "expops:%.16s", hex);
}

void ticket_comment_put(struct request *rq)
{
	struct ticket_input *in = request_input(rq, struct ticket_input, COMMENT_FIELDS);
	const struct tracker_api *api;
	struct ticket ticket = open_ticket(rq, in, &api);
	const char *mark = mark_of(rq, in->text);
	bool is_there = api->has_comment(rq, &ticket, mark);
	if (!is_there)
		api->comment(rq, &ticket, arena_printf(rq->arena, "%s\n\n%s", in->text, mark));
	reply_json(rq, 200, is_there ? "{\"created\":false}" : "{\"created\":true}");
}
