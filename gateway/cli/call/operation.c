#include "call/operation.h"

#include "operation_table.h"

#include <string.h>

const struct operation *operations(void)
{
	return OPERATIONS;
}

const struct operation *operation_find(const char *id)
{
	for (const struct operation *row = OPERATIONS; row->id; row++)
		if (strcmp(row->id, id) == 0)
			return row;
	return NULL;
}

const struct operation_field *operation_field(const struct operation *operation, const char *name)
{
	for (const struct operation_field *row = operation->fields; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

bool operation_is_repeatable(const struct operation *operation)
{
	bool is_idempotent =
		strcmp(operation->method, "POST") != 0 && strcmp(operation->method, "PATCH") != 0;
	return is_idempotent || operation_field(operation, "Idempotency-Key");
}
