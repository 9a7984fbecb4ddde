#include "request/access.h"

#include "base/timefmt.h"
#include "observe/log.h"

#include <string.h>

#define LOG_PAUSE_MS 10000 /* between two lines about the same fault */

static struct access log_invalid(void)
{
	static struct log_pause pause;
	if (log_is_due(&pause, LOG_PAUSE_MS))
		log_error("request refused: its identity is not signed with a secret of the sender "
		          "in IDENTITY_VERIFY_SECRETS");
	return (struct access){ERR_MISDIRECTED,
	                       "the request is not signed for this process; nothing was done",
	                       NULL};
}

static struct access log_clocks(const struct verified_identity *verified, int64_t now_ms)
{
	static struct log_pause pause;
	char signed_at[TIME_TEXT_LEN + 1], own_time[TIME_TEXT_LEN + 1];
	time_format(verified->signed_ms, signed_at);
	time_format(now_ms, own_time);
	if (log_is_due(&pause, LOG_PAUSE_MS))
		log_error("request refused: the clocks of two processes differ too much",
		          f_text("sender", verified->sender), f_text("signed_at", signed_at),
		          f_text("own_time", own_time));
	return (struct access){ERR_UNAVAILABLE,
	                       "the clocks of two parts of the system differ; nothing was done",
	                       NULL};
}

struct access access_authenticate(struct identity_verifier *verifier, struct http_exchange *x,
                                  struct verified_sender *ret_sender)
{
	const struct http_head *head = &x->head;
	const char *value = http_head_get(head, IDENTITY_HEADER);
	const struct identity_request request = {
		.method = head->method,
		.method_length = head->method_length,
		.target = head->target,
		.target_length = head->target_length,
		.id = http_head_get(head, "X-Request-Id"),
	};
	struct verified_identity verified;
	if (!value)
		return (struct access){.code = ERR_UNAUTHENTICATED};
	int64_t now_ms = time_now_ms();
	enum err_code code =
		identity_verify(verifier, x->arena, value, &request, now_ms, &verified);
	if (code == ERR_UNAVAILABLE)
		return log_clocks(&verified, now_ms);
	if (code ||
	    !api_service_find(verified.sender, strlen(verified.sender), &ret_sender->process))
		return log_invalid();
	ret_sender->caller = verified.identity;
	return (struct access){0};
}

/* Of public operations, the gateway has requests of callers with a key only, services only their
 * own. */
static bool is_own_kind(const struct verified_sender *sender)
{
	return (sender->process == API_GATEWAY) == (sender->caller.kind != KEY_SERVICE);
}

static struct access refuse(const struct verified_sender *sender, const char *operation,
                            enum err_code code)
{
	static struct log_pause pause;
	if (log_is_due(&pause, LOG_PAUSE_MS))
		log_error("request refused: the sender may not use the operation",
		          f_text("sender", api_service_name(sender->process)),
		          f_text("kind", key_kind_name(sender->caller.kind)),
		          f_text("operation", operation));
	return (struct access){.code = code};
}

struct access access_check_internal(const struct verified_sender *sender,
                                    const struct internal_op *op)
{
	if (sender->caller.kind == KEY_SERVICE && internal_op_is_allowed(op, sender->process))
		return (struct access){0};
	return refuse(sender, op->name, ERR_NOT_FOUND);
}

struct access access_check_public(const struct verified_sender *sender, const struct api_op *op)
{
	if (!is_own_kind(sender) || !api_op_is_allowed(op, sender->process))
		return refuse(sender, op->name, ERR_FORBIDDEN);
	enum err_code code = api_permit(op, &sender->caller);
	return (struct access){.code = code, .scope = code == ERR_SCOPE ? op->scope_name : NULL};
}
