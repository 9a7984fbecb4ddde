/** Which process may use which operation (internal.def), and the operations that only services
 * use. */
#pragma once

#include "http/api.h"
#include "http/method.h"

#include <stdbool.h>
#include <stddef.h>

/** The internal operations, INTERNAL_ID_<id> in the order of internal.def. */
enum internal_id {
#define INTERNAL(id, method, path, service, body, effect, callers) INTERNAL_ID_##id,
#include "internal.def"
	INTERNAL_ID_COUNT
};

struct internal_op {
	enum internal_id id;
	const char *name; /* `assets_lookup` */
	const char *method, *path;
	enum api_service service; /* that implements it; API_EVERY */
	size_t body_max_bytes;
	enum http_effect effect;
	unsigned callers; /* bit 1 << enum api_service of each service that may use it */
};

/** The row of `id`. */
const struct internal_op *internal_op(enum internal_id id);

/** Whether the service implements the operation. */
bool internal_op_is_of(const struct internal_op *op, enum api_service service);

/** Find the internal operation of `service` with this method and path; NULL: there is none. */
const struct internal_op *internal_match(enum api_service service, const char *method,
                                         size_t method_length, const char *path,
                                         size_t path_length);

/** Whether the process `caller` may use the operation. */
bool internal_op_is_allowed(const struct internal_op *op, enum api_service caller);
bool api_op_is_allowed(const struct api_op *op, enum api_service caller);

/** Whether `caller` may use any operation of `service`. */
bool api_service_may_call(enum api_service caller, enum api_service service);

/** `gateway`, `svc-search`. */
const char *api_service_name(enum api_service service);

/** The process of that name. False: there is none. */
bool api_service_find(const char *name, size_t length, enum api_service *ret_service);
