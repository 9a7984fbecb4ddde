#include "input/left_out.h"

#include "input/http_call.h"
#include "json/json.h"

#include <string.h>

/* One member. */
struct left_out {
	const char *name;
	const struct problem_field *faults;
	struct left_out *next;
};

void left_out_add(struct request *rq, const char *name, const struct problem *found)
{
	struct left_out *member = arena_new_of(rq->arena, struct left_out);
	*member = (struct left_out){name, found->fields, rq->http->left_out};
	rq->http->left_out = member;
}

bool left_out_has(const struct request *rq, const char *name)
{
	const struct left_out *member = rq->http->left_out;
	while (member && strcmp(member->name, name) != 0)
		member = member->next;
	return member;
}

void left_out_blame(struct request *rq)
{
	for (const struct left_out *member = rq->http->left_out; member; member = member->next)
		for (const struct problem_field *fault = member->faults; fault; fault = fault->next)
			problem_add_field(rq->arena, &rq->problem, fault->field, "%s",
			                  fault->message);
}

const char *left_out_shown(struct request *rq, const char *json)
{
	struct buf names = {.arena = rq->arena};
	for (const struct left_out *member = rq->http->left_out; member; member = member->next) {
		buf_puts(&names, names.length ? "," : "");
		json_quote(&names, member->name, strlen(member->name));
	}
	if (!names.length)
		return json;
	size_t length = strlen(json) - 1; /* without the closing brace */
	return arena_printf(rq->arena, "%.*s,\"ignored\":[%s]}", (int)length, json, names.data);
}
