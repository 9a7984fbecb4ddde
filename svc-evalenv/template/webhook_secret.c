#include "template/webhook_secret.h"

#include "crypto/crypto.h"
#include "observe/log.h"

#include <string.h>

#define PREFIX    "whsec_"
#define BYTES_MIN 24
#define BYTES_MAX 64

bool webhook_secret_decode(struct arena *arena, const char *text, struct webhook_key *ret_key)
{
	size_t length;
	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return false;
	text += strlen(PREFIX);
	void *bytes = base64_decode(arena, text, strlen(text), &length);
	if (!bytes || length < BYTES_MIN || length > BYTES_MAX)
		return false;
	*ret_key = (struct webhook_key){bytes, length};
	return true;
}

bool webhook_secret_check(const char *text, size_t length, const char **ret_message)
{
	struct arena *arena = arena_new_wiped();
	struct webhook_key key;
	bool is_secret = webhook_secret_decode(arena, arena_strndup(arena, text, length), &key);
	arena_free(arena);
	*ret_message = "must be whsec_ and the base64 of 24 to 64 bytes";
	return is_secret;
}

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
		log_error(LOG_GROUP_APP,
		          "a stored secret does not open: its row was changed, or its key is "
		          "missing from SEAL_KEYS",
		          f_text("template", template_id));
		raise_error(rq, ERR_INTERNAL, "the template's secret cannot be read");
	}
	return key;
}
