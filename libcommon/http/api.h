/** The public operations (api.def), and finding the operation of a request. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "crypto/identity.h"

#include <stddef.h>
#include <stdint.h>

/** The services that api.def may name, besides GATEWAY: X(symbol, process, setting with its
 * address). */
#define API_SERVICES(X)                                         \
	X(EXPERIMENTS, "svc-experiments", "EXPERIMENTS_URL")    \
	X(INTERESTS, "svc-interests", "INTERESTS_URL")          \
	X(SEARCH, "svc-search", "SEARCH_URL")                   \
	X(FLEET, "svc-fleet", "FLEET_URL")                      \
	X(INTEGRATIONS, "svc-integrations", "INTEGRATIONS_URL") \
	X(EVALENV, "svc-evalenv", "EVALENV_URL")

enum api_service {
	API_GATEWAY, /* its address is GATEWAY_URL */
#define API_SERVICE_SYMBOL(symbol, process, setting) API_##symbol,
	API_SERVICES(API_SERVICE_SYMBOL) API_SERVICE_COUNT,
#undef API_SERVICE_SYMBOL
	API_EVERY /* of an internal operation: each of API_SERVICES implements it */
};

enum api_flag {
	API_OPEN = 1,       /* needs no key */
	API_GONE = 2,       /* replies 410 */
	API_CREATES = 4,    /* a POST that creates or starts something; takes Idempotency-Key */
	API_READS = 8,      /* a POST that changes nothing; may be repeated */
	API_CALLS_OUT = 16, /* CREATES, and waits for outside services: runs in no transaction */
	API_REPO_KEYS = 32, /* open to keys that are limited to a repository */
	API_INTEREST_KEYS = 64, /* open to keys that are limited to an interest */
	API_PROTOCOL = 128,     /* not of the REST interface; its scope is any */
	API_CONVERGES = 256,    /* CREATES, by an id of the client: a repetition changes nothing */
	API_VERSIONED = 512,    /* takes If-Match */
};

/** The operations, API_ID_<id> in the order of api.def. */
enum api_id {
#define API(id, method, path, service, scope, body, flags) API_ID_##id,
#include "api.def"
#undef API
	API_ID_COUNT
};

struct api_op {
	enum api_id id;
	const char *name;   /* the operationId of openapi.yaml */
	const char *method; /* `GET`; `ANY` matches every method */
	const char *path;   /* template: `/api/v1.0/experiments/{experiment_id}` */
	enum api_service service;
	uint64_t scope;         /* mask of one scope; SCOPE_NONE with API_OPEN and API_PROTOCOL */
	const char *scope_name; /* NULL with API_OPEN and API_PROTOCOL */
	size_t body_max_bytes;  /* 0: the operation has no body */
	unsigned flags;         /* of enum api_flag */
};

/** Whether a caller may use the operation: ERR_NONE; ERR_SCOPE: its key lacks the scope;
 * ERR_FORBIDDEN: its key is limited to a repository or an interest, and the operation is open to no
 * key with such a limit. */
enum err_code api_permit(const struct api_op *op, const struct identity *caller);

/** The row of `id`. */
const struct api_op *api_op(enum api_id id);

#define API_PARAMS_MAX 4

/** One path parameter: its name and its decoded value. */
struct api_param {
	const char *name;
	const char *value;
};

struct api_match {
	const struct api_op *op; /* NULL unless ERR_NONE */
	struct api_param params[API_PARAMS_MAX];
	size_t param_count;
	const char *allow; /* with ERR_METHOD: the Allow field's value; in the arena */
};

/** Find the operation of `method` and `path`.
 *
 * `path` is the target before the query, as received. It is split at slashes first and
 * percent-decoded afterwards, so `%2F` does not split. A literal segment wins over a parameter;
 * `{+name}` matches the rest of the path, up to the longest literal end of a template. Values are
 * decoded into the arena. The time does not depend on the number of operations (a trie of
 * segments).
 *
 * A path that two parsers could read differently matches nothing: `//`; `.` or `..` segments,
 * encoded or not; a raw or encoded NUL or control character; invalid percent-encoding; invalid
 * UTF-8; `\`; an encoded slash outside `{+name}`.
 *
 * ERR_NOT_FOUND: no such path. ERR_METHOD: the path exists with other methods, which `allow` lists;
 * for the path `*` (the whole server) `allow` lists every method of the table. */
enum err_code api_match(struct arena *arena, const char *method, size_t method_length,
                        const char *path, size_t path_length, struct api_match *ret_match);

/** Build the trie. Must be called before other threads start; later calls do nothing. */
void api_init(void);
