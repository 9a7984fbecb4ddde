#include "template/webhook_secret.h"

#include "observe/log.h"

static const char *context(struct request *rq, const char *template_id)
{
	arena_wipe_on_free(rq->arena);
	return arena_printf(rq->arena, "template %s", template_id);
}

struct sealed webhook_secret_seal(struct request *rq, const char *template_id, const char *text)
{
	return vault_seal(rq->arena, context(rq, template_id), text);
}

struct webhook_key webhook_secret_open(struct request *rq, const char *template_id,
                                       const void *sealed, size_t length)
{
	struct webhook_key key;
	const char *text = vault_open(rq->arena, context(rq, template_id), sealed, length);
	if (!text || !webhook_secret_decode(rq->arena, text, &key)) {
		log_error("a stored secret does not open: its row was changed, or its key is "
		          "missing from SEAL_KEYS",
		          f_text("template", template_id));
		raise_error(rq, ERR_INTERNAL, "the template's secret cannot be read");
	}
	return key;
}
