/** The part of input.c that reads query parameters. */
#pragma once

#include "http/query.h"
#include "input/field_check.h"
#include "loop/request.h"

/** The parameters of a request. */
struct query_input {
	struct query_param *params;
	size_t count;
};

/** Parse the query of the request, in its arena. */
struct query_input query_input_parse(struct request *rq);

/** Decode the parameter of a row. True: *ret_value is set, to the row's default when the parameter
 * is absent; false: a fault was added to the problem of the request. */
bool query_input_decode(struct request *rq, const struct query_input *query,
                        const struct field *field, struct field_value *ret_value);

/** Add a fault for each parameter that no row of the table names, unless the table ignores them; it
 * names the parameter of the table that the client may have meant. */
void query_input_check_names(struct request *rq, const struct query_input *query,
                             const struct field *fields);
