#include "http/internal_api.h"

#include "base/base.h"

#include <string.h>

#define BODY_NONE 0
#define BODY_JSON (1 << 20)

#define MAY(service) (1U << API_##service)

static const struct internal_op OPS[] = {
#define INTERNAL(id, method, path, service, body, effect, callers) \
	{INTERNAL_ID_##id, #id, #method, path, API_##service, body, HTTP_##effect, callers},
#include "internal.def"
};

/* By enum api_id: the services that may use the public operation. */
static const unsigned PUBLIC_CALLERS[API_ID_COUNT] = {
#define PUBLIC(id, callers) [API_ID_##id] = (callers),
#include "internal.def"
};

static const char *const NAMES[API_SERVICE_COUNT] = {[API_GATEWAY] = "gateway",
#define SERVICE_NAME(symbol, process, setting) [API_##symbol] = process,
                                                     API_SERVICES(SERVICE_NAME)
#undef SERVICE_NAME
};

const struct internal_op *internal_op(enum internal_id id)
{
	require((unsigned)id < INTERNAL_ID_COUNT);
	return &OPS[id];
}

static bool is_text(const char *expected, const char *text, size_t length)
{
	return strlen(expected) == length && memcmp(expected, text, length) == 0;
}

bool internal_op_is_of(const struct internal_op *op, enum api_service service)
{
	return op->service == service || (op->service == API_EVERY && service != API_GATEWAY);
}

const struct internal_op *internal_match(enum api_service service, const char *method,
                                         size_t method_length, const char *path, size_t path_length)
{
	for (size_t i = 0; i < ARRAY_LEN(OPS); i++)
		if (internal_op_is_of(&OPS[i], service) &&
		    is_text(OPS[i].method, method, method_length) &&
		    is_text(OPS[i].path, path, path_length))
			return &OPS[i];
	return NULL;
}

bool internal_op_is_allowed(const struct internal_op *op, enum api_service caller)
{
	return (op->callers & 1U << caller) != 0;
}

bool api_op_is_allowed(const struct api_op *op, enum api_service caller)
{
	return caller == API_GATEWAY || (PUBLIC_CALLERS[op->id] & 1U << caller) != 0;
}

bool api_service_may_call(enum api_service caller, enum api_service service)
{
	if (caller == API_GATEWAY)
		return service != API_GATEWAY;
	for (size_t i = 0; i < ARRAY_LEN(OPS); i++)
		if (internal_op_is_of(&OPS[i], service) && internal_op_is_allowed(&OPS[i], caller))
			return true;
	for (int id = 0; id < API_ID_COUNT; id++)
		if (api_op(id)->service == service && api_op_is_allowed(api_op(id), caller))
			return true;
	return false;
}

const char *api_service_name(enum api_service service)
{
	require((unsigned)service < API_SERVICE_COUNT);
	return NAMES[service];
}

bool api_service_find(const char *name, size_t length, enum api_service *ret_service)
{
	for (int service = 0; service < API_SERVICE_COUNT; service++) {
		if (is_text(NAMES[service], name, length)) {
			*ret_service = service;
			return true;
		}
	}
	return false;
}
