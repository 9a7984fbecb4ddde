#include "oidc/provider.h"

#include "base/timefmt.h"
#include "client/fetch.h"
#include "client/oauth_code.h"
#include "crypto/crypto.h"
#include "gateway_process.h"
#include "http/query.h"
#include "input/http_call.h"
#include "json/json.h"
#include "limit/rate_limit.h"
#include "llm/call_gate.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "oidc/jwks.h"
#include "oidc/oidc.h"
#include "pacing/client_id.h"
#include "service/process.h"

#include <string.h>

#define DISCOVERY_PATH   "/.well-known/openid-configuration"
#define ANSWER_MAX_BYTES ((size_t)256 << 10)
#define KEPT_MS          3600000
#define KEYS_PAUSE_MS    60000 /* between two readings for an unknown key */

/* A part of what a worker keeps; arena NULL: it was not read yet. */
struct kept {
	struct arena *arena;
	uint64_t read_ms;
};

/* Of one worker, which alone uses it. */
struct worker_cache {
	struct kept metadata_kept, jwks_kept;
	struct oidc_metadata metadata; /* while metadata_kept.arena is set */
	struct jwks jwks;              /* while jwks_kept.arena is set */
};

struct oidc_cache {
	struct worker_cache *workers;
	int count;
	struct call_gate gate;
};

struct oidc_cache *oidc_cache_new(struct arena *arena, int workers)
{
	struct oidc_cache *cache = arena_new_of(arena, struct oidc_cache);
	cache->workers = arena_array(arena, (size_t)workers, sizeof(*cache->workers));
	cache->count = workers;
	cache->gate.limit = CALL_GATE_MAX;
	pthread_mutex_init(&cache->gate.lock, NULL);
	return cache;
}

void oidc_cache_free(struct oidc_cache *cache)
{
	if (!cache)
		return;
	for (int i = 0; i < cache->count; i++) {
		arena_free(cache->workers[i].metadata_kept.arena);
		arena_free(cache->workers[i].jwks_kept.arena);
	}
	pthread_mutex_destroy(&cache->gate.lock);
}

static struct oidc_cache *cache_of(const struct request *rq)
{
	const struct gateway_process *gateway = rq->worker->process->user;
	return gateway->oidc;
}

static struct worker_cache *worker_cache_of(const struct request *rq)
{
	return &cache_of(rq)->workers[rq->worker->index];
}

static bool is_fresh(const struct kept *kept)
{
	return kept->arena && time_monotonic_ms() - kept->read_ms < KEPT_MS;
}

/* Replace what is kept by what is in `arena`. */
static void keep(struct kept *kept, struct arena *arena)
{
	arena_free(kept->arena);
	*kept = (struct kept){arena, time_monotonic_ms()};
}

/* --- Calls ------------------------------------------------------------------------------------ */

static attr_noreturn void raise_away(struct request *rq, const char *why)
{
	log_warn("log-in provider does not answer", f_text("reason", why));
	raise_error(rq, ERR_UNAVAILABLE,
	            "the provider of the log-in does not answer; try again, or log in with a key");
}

static attr_noreturn void raise_unusable(struct request *rq, const char *url, const char *why)
{
	size_t length = strcspn(url, "?");
	log_warn("log-in provider sent an unusable answer",
	         f_text("url", arena_strndup(rq->arena, url, length)), f_text("reason", why));
	raise_error(rq, ERR_UPSTREAM, "the provider of the log-in sent an unusable answer");
}

/* What an answer shows of the provider. A fault at a request with what a client sent, such as its
 * code, may be of this request alone: otherwise a client that knows how to cause one would make all
 * log-ins pause. */
static enum call_gate_sign sign_of(const struct fetch_call *call, enum err_code code,
                                   const struct fetch_response *answer)
{
	if (code == ERR_CLIENT_GONE || code == ERR_FORBIDDEN || code == ERR_CONTENTION)
		return GATE_NO_SIGN;
	if (!code && answer->status < 500)
		return GATE_SERVER_WORKS;
	return !code && call->body ? GATE_NO_SIGN : GATE_SERVER_FAILED;
}

/* Make a call, of the provider's own origin or of a public address. An answer of a status below
 * 500. */
static struct fetch_response *call(struct request *rq, struct fetch_call *call)
{
	struct call_gate *gate = &cache_of(rq)->gate;
	const struct http_exchange *x = rq->http->exchange;
	struct uuid client = client_id(x ? x->peer : "");
	struct fetch_response *answer = NULL;
	bool is_own = oidc_is_same_origin(oidc_settings.issuer, call->url);
	char why[200] = "";
	call->response_max_bytes = ANSWER_MAX_BYTES;
	call->timeout_ms = (uint64_t)oidc_settings.timeout_ms;
	call->guard = is_own ? FETCH_GUARD_REDIRECTS : FETCH_GUARD_ALL;
	call->ret_why = why;
	call->why_size = sizeof(why);
	enum call_gate_entry entry = call_gate_enter(gate, &client);
	if (entry != GATE_ENTERED)
		raise_away(rq, entry == GATE_PAUSED ? "it has just failed" : "too many calls run");
	enum err_code code = fetch_try(rq, call, &answer);
	call_gate_leave(gate, &client, sign_of(call, code, answer), 0);
	fetch_raise_if_full(rq, code);
	if (code == ERR_CLIENT_GONE)
		raise_error(rq, code, "%s", err_info(code)->detail);
	if (code == ERR_FORBIDDEN || code == ERR_UPSTREAM)
		raise_unusable(rq, call->url,
		               code == ERR_FORBIDDEN ? "its address is private" : why);
	if (code || answer->status >= 500)
		raise_away(rq, code ? why : "it has a fault");
	return answer;
}

/* The object of an answer; NULL: it has none. */
static yyjson_val *object_of(struct request *rq, const struct fetch_response *answer)
{
	yyjson_val *root;
	if (json_parse(rq->arena, answer->body, answer->body_length, &root, NULL))
		return NULL;
	return yyjson_is_obj(root) ? root : NULL;
}

static yyjson_val *get_object(struct request *rq, const char *url, const char *access_token)
{
	struct http_field fields[] = {
		{"Accept", "application/json"},
		{"Authorization",
	         access_token ? arena_printf(rq->arena, "Bearer %s", access_token) : NULL},
	};
	struct fetch_call get = {
		.url = url,
		.fields = fields,
		.field_count = access_token ? 2 : 1,
	};
	struct fetch_response *answer = call(rq, &get);
	yyjson_val *root = answer->status == 200 ? object_of(rq, answer) : NULL;
	if (!root)
		raise_unusable(rq, url, "it is no JSON object with status 200");
	return root;
}

/* --- Metadata --------------------------------------------------------------------------------- */

/* An issuer may end with a slash, which is not part of the path (OpenID Connect Discovery 1.0
 * section 4). */
static const char *discovery_url(struct request *rq)
{
	size_t length = strlen(oidc_settings.issuer);
	bool has_slash = oidc_settings.issuer[length - 1] == '/';
	return arena_printf(rq->arena, "%.*s" DISCOVERY_PATH, (int)(length - has_slash),
	                    oidc_settings.issuer);
}

struct oidc_metadata provider_metadata(struct request *rq)
{
	struct worker_cache *cache = worker_cache_of(rq);
	if (!is_fresh(&cache->metadata_kept)) {
		struct oidc_metadata metadata;
		const char *url = discovery_url(rq);
		yyjson_val *root = get_object(rq, url, NULL);
		const char *fault =
			oidc_metadata_read(rq->arena, oidc_settings.issuer, root, &metadata);
		if (fault)
			raise_unusable(rq, url, fault);
		struct arena *arena = arena_new();
		cache->metadata = oidc_metadata_copy(arena, &metadata);
		keep(&cache->metadata_kept, arena);
	}
	return oidc_metadata_copy(rq->arena, &cache->metadata);
}

/* --- Keys ------------------------------------------------------------------------------------- */

static void read_keys(struct request *rq, const struct oidc_metadata *metadata)
{
	struct worker_cache *cache = worker_cache_of(rq);
	yyjson_val *root = get_object(rq, metadata->jwks_uri, NULL);
	struct arena *arena = arena_new();
	cache->jwks = jwks_read(arena, root);
	keep(&cache->jwks_kept, arena);
}

static const struct public_key *find_key(struct request *rq, const struct oidc_metadata *metadata,
                                         const struct id_token *token)
{
	struct worker_cache *cache = worker_cache_of(rq);
	if (!is_fresh(&cache->jwks_kept))
		read_keys(rq, metadata);
	const struct public_key *key = jwks_find(&cache->jwks, token->kid, token->algorithm);
	if (key || time_monotonic_ms() - cache->jwks_kept.read_ms < KEYS_PAUSE_MS)
		return key;
	read_keys(rq, metadata);
	return jwks_find(&cache->jwks, token->kid, token->algorithm);
}

/* A key of the request's own, since what is kept may be replaced while a thread verifies. */
static struct key_number copy_number(struct arena *arena, struct key_number number)
{
	if (number.bytes)
		number.bytes = arena_memdup(arena, number.bytes, number.length);
	return number;
}

static struct public_key copy_key(struct arena *arena, const struct public_key *key)
{
	return (struct public_key){
		.algorithm = key->algorithm,
		.n = copy_number(arena, key->n),
		.e = copy_number(arena, key->e),
		.x = copy_number(arena, key->x),
		.y = copy_number(arena, key->y),
	};
}

struct verification {
	struct public_key key;
	const struct id_token *token;
	bool is_valid;
};

static void verify(void *arg)
{
	struct verification *it = arg;
	it->is_valid = public_key_verify(&it->key, it->token->signed_text, it->token->signed_length,
	                                 it->token->signature, it->token->signature_length);
}

bool provider_has_signed(struct request *rq, const struct oidc_metadata *metadata,
                         const struct id_token *token)
{
	const struct public_key *key = find_key(rq, metadata, token);
	if (!key)
		return false;
	struct verification verification = {.key = copy_key(rq->arena, key), .token = token};
	fiber_offload(rq, LANE_SHORT, verify, &verification);
	return verification.is_valid;
}

/* --- Tokens ----------------------------------------------------------------------------------- */

/* The id and the secret, form-encoded each (RFC 6749 section 2.3.1). */
static const char *basic_credentials(struct arena *arena)
{
	const char *pair =
		arena_printf(arena, "%s:%s", query_encode(arena, oidc_settings.client_id),
	                     query_encode(arena, oidc_settings.client_secret));
	return arena_printf(arena, "Basic %s", base64_encode(arena, pair, strlen(pair)));
}

/* Ask the token endpoint; the client authenticates as the metadata offers it. */
static struct fetch_response *ask_tokens(struct request *rq, struct arena *arena,
                                         const struct oidc_metadata *metadata, struct buf *form)
{
	struct http_field fields[] = {
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Accept", "application/json"},
		{"Authorization", basic_credentials(arena)},
	};
	if (!metadata->takes_basic) {
		form_add(form, "client_id", oidc_settings.client_id);
		form_add(form, "client_secret", oidc_settings.client_secret);
	}
	struct fetch_call post = {
		.method = "POST",
		.url = metadata->token_endpoint,
		.fields = fields,
		.field_count = metadata->takes_basic ? 3 : 2,
		.body = form->data,
		.body_length = form->length,
	};
	return call(rq, &post);
}

/* The refusal of a code, or of the client, whose code is a word (RFC 6749 section 5.2). */
static attr_noreturn void raise_refused(struct request *rq, const struct fetch_response *answer)
{
	const char *error = json_get_text(object_of(rq, answer), "error");
	log_warn("log-in provider refuses the code", f_int("status", answer->status),
	         f_text("reason", error));
	raise_error(rq, ERR_FORBIDDEN, "the provider refuses this log-in; begin again");
}

struct provider_tokens provider_exchange(struct request *rq, const struct oidc_metadata *metadata,
                                         const char *code, const char *redirect_uri,
                                         const char *verifier)
{
	struct arena *arena = request_secrets_arena(rq);
	struct buf form = {.arena = arena};
	form_add(&form, "grant_type", "authorization_code");
	form_add(&form, "code", code);
	form_add(&form, "redirect_uri", redirect_uri);
	form_add(&form, "code_verifier", verifier);
	struct fetch_response *answer = ask_tokens(rq, arena, metadata, &form);
	if (answer->status != 200)
		raise_refused(rq, answer);
	yyjson_val *root = object_of(rq, answer);
	const char *access = json_get_text(root, "access_token");
	struct provider_tokens tokens = {
		.id_token = json_get_text(root, "id_token"),
		.access_token = oauth_token_is_valid(access) ? access : NULL,
	};
	if (!tokens.id_token)
		raise_unusable(rq, metadata->token_endpoint, "it has no ID token");
	return tokens;
}

yyjson_val *provider_userinfo(struct request *rq, const struct oidc_metadata *metadata,
                              const char *access_token)
{
	if (!metadata->userinfo_endpoint || !access_token)
		return NULL;
	return get_object(rq, metadata->userinfo_endpoint, access_token);
}
