/** The public surface as data (api.def), and finding an operation in it. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum api_service {
	API_GATEWAY,
	API_EXPERIMENTS,
	API_INTERESTS,
	API_SEARCH,
	API_FLEET,
	API_INTEGRATIONS,
	API_EVALENV,
	API_SERVICE_COUNT
};

enum api_flag {
	API_OPEN = 1,    /* no key needed */
	API_GONE = 2,    /* answers 410 */
	API_CREATES = 4, /* a POST that creates or starts something: Idempotency-Key is honoured */
	API_NOT_BUILT = 8, /* answers 501 */
	API_READS = 16,    /* a POST that changes nothing: asking twice does no harm */
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
	uint64_t scope;         /* mask of one scope, SCOPE_NONE with API_OPEN */
	const char *scope_name; /* NULL with API_OPEN */
	size_t body_max_bytes;  /* 0: no body is read */
	unsigned flags;         /* of enum api_flag */
};

/** Row of `id`. */
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
 * `path` is the target up to the query, as received. It is matched segment by segment;
 * percent-encoding is decoded after splitting, `%2F` never splits; literal segments win over
 * parameters; `{+name}` takes the rest. A path that two parsers could read differently (`//`, `.`
 * or `..` segments, encoded or not, a raw or encoded NUL or control character, broken
 * percent-encoding, invalid UTF-8, `\`, an encoded slash outside a parameter that takes the rest)
 * matches nothing. Values are decoded into the arena. Constant-time in the number of operations (a
 * segment trie).
 *
 * ERR_NOT_FOUND: no such path; ERR_METHOD: the path exists with other methods, `allow` is set. So it
 * is for `*`, the server as a whole: `allow` has every method of the table. */
enum err_code api_match(struct arena *arena, const char *method, size_t method_length,
                        const char *path, size_t path_length, struct api_match *ret_match);

/** Build the trie; once, before threads. */
void api_init(void);
