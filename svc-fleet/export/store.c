#include "export/store.h"

#include <stdlib.h>
#include <string.h>

#define S3_SCHEME "s3://"

static void require_s3_settings(struct request *rq)
{
	const struct {
		const char *name, *value;
	} needed[] = {
		{"EXPORT_S3_URL", s3_url},
		{"EXPORT_S3_KEY_ID", s3_key_id},
		{"EXPORT_S3_SECRET", s3_secret},
	};
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (!*needed[i].value)
			raise_error(rq, ERR_INVALID, "%s: must be set", needed[i].name);
}

static bool is_safe_text(const char *text)
{
	static const char SAFE[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
	return text[strspn(text, SAFE)] == '\0' && !strstr(text, "//") && !strstr(text, "..");
}

static struct store *s3_store(struct request *rq, const char *target)
{
	require_s3_settings(rq);
	const char *bucket = target + strlen(S3_SCHEME);
	size_t length = strcspn(bucket, "/");
	const char *prefix = bucket[length] ? bucket + length + 1 : "";
	if (length < 3 || !is_safe_text(bucket))
		raise_error(rq, ERR_INVALID,
		            "--to: must be s3://BUCKET or s3://BUCKET/PREFIX, of letters, digits "
		            "and . _ - /");
	bool has_end = !*prefix || prefix[strlen(prefix) - 1] == '/';
	struct store *store = arena_new_of(rq->arena, struct store);
	store->kind = &S3_STORE;
	store->bucket = arena_printf(rq->arena, "%.*s", (int)length, bucket);
	store->prefix = arena_printf(rq->arena, "%s%s", prefix, has_end ? "" : "/");
	store->target = arena_printf(rq->arena, S3_SCHEME "%s/%s", store->bucket, store->prefix);
	store->url = s3_url;
	store->region = s3_region;
	store->key_id = s3_key_id;
	store->secret = s3_secret;
	return store;
}

static struct store *folder_store(struct request *rq, const char *target)
{
	struct store *store = arena_new_of(rq->arena, struct store);
	char *whole = realpath(target, NULL);
	store->kind = &FOLDER_STORE;
	store->folder = arena_printf(rq->arena, "%s", whole ? whole : target);
	store->target = store->folder;
	free(whole);
	return store;
}

struct store *store_new(struct request *rq, const char *target)
{
	bool is_s3 = strncmp(target, S3_SCHEME, strlen(S3_SCHEME)) == 0;
	struct store *store = is_s3 ? s3_store(rq, target) : folder_store(rq, target);
	store->kind->open(rq, store);
	return store;
}
