#include "budget/budget.h"
#include "crypto/crypto.h"
#include "input/field_check.h"
#include "input/input.h"
#include "json/json.h"
#include "json/json_file.h"
#include "json/problem.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "price.sql.h"
#include "prices.h"
#include "reply/reply.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)4 << 20)
#define PRICES_MAX     2000
#define USD_MAX        1e6

const int64_t PRICES_EVERY_MS = (int64_t)3600 * 1000;

METRIC_GAUGE(refused_gauge, "expops_prices_refused",
             "Whether PRICES_FILE has a fault and the prices before it are still used.");

static const char *prices_file;

const struct setting PRICE_SETTINGS[] = {
	SETTING_TEXT(&prices_file, "PRICES_FILE", "",
                     "File with the prices of models, of the form of deploy/prices.json; empty: "
                     "those that the program has. Read again every hour and on SIGHUP."),
	SETTING_END,
};

/* A name, or the beginning of names with `*` behind it. */
static bool model_check(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "may have * only at its end";
	const char *star = memchr(text, '*', length);
	return !star || star == text + length - 1;
}

static const struct field USD_FIELDS[] = {
	JSON_FLOAT("input", REQUIRED, 0, USD_MAX),
	JSON_FLOAT("cache_write", OPTIONAL, 0, USD_MAX),
	JSON_FLOAT("cache_read", OPTIONAL, 0, USD_MAX),
	JSON_FLOAT("output", REQUIRED, 0, USD_MAX),
	FIELD_END,
};

static const struct field PRICE_FIELDS[] = {
	JSON_TEXT("provider", REQUIRED, 1, 100),
	{IN_BODY, FIELD_TEXT, "model", FIELD_NOWHERE, REQUIRED, 1, 200, .check = model_check},
	{IN_BODY, FIELD_DATE, "from", FIELD_NOWHERE, REQUIRED},
	{IN_BODY, FIELD_DATE, "until", FIELD_NOWHERE, NULLABLE},
	JSON_OBJECT_OF("usd_per_million", REQUIRED, USD_FIELDS),
	{IN_BODY, FIELD_DATE, "checked", FIELD_NOWHERE, REQUIRED},
	JSON_URL("source", REQUIRED),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	JSON_INT("version", REQUIRED, 1, 1),
	{IN_BODY, FIELD_ARRAY, "prices", FIELD_NOWHERE, REQUIRED, 0, PRICES_MAX,
         .bytes_max = FILE_MAX_BYTES, .members = PRICE_FIELDS},
	FIELD_END,
};

static bool is_same(yyjson_val *a, yyjson_val *b, const char *name)
{
	return strcmp(json_get_text(a, name), json_get_text(b, name)) == 0;
}

/* Whether a price holds on a day before another's begins; both are of one model. */
static bool ends_before(yyjson_val *price, yyjson_val *next)
{
	const char *until = json_get_text(price, "until");
	return until && strcmp(until, json_get_text(next, "from")) <= 0;
}

/* Add a fault for each price that does not end after it begins, and for each that holds on a day on
 * which an earlier entry of the model does. */
static void check_days(struct arena *arena, struct problem *problem, yyjson_val *prices)
{
	size_t i, j, count, before;
	yyjson_val *price, *other;
	yyjson_arr_foreach (prices, i, count, price) {
		const char *name = arena_printf(arena, "prices[%zu]", i);
		if (ends_before(price, price))
			problem_add_field(arena, problem, name, "must end after it begins");
		yyjson_arr_foreach (prices, j, before, other) {
			if (j == i)
				break;
			if (is_same(price, other, "provider") && is_same(price, other, "model") &&
			    !ends_before(other, price) && !ends_before(price, other))
				problem_add_field(arena, problem, name, "overlaps with prices[%zu]",
				                  j);
		}
	}
}

/* Read and check the list. NULL: it has faults, or cannot be read, which `problem` says. */
static yyjson_val *read_list(struct arena *arena, struct problem *problem)
{
	yyjson_val *list;
	const char *why;
	enum err_code code =
		*prices_file ? json_file_read(arena, prices_file, FILE_MAX_BYTES, &list, &why)
			     : json_parse(arena, PRICES_JSON, strlen(PRICES_JSON), &list, &why);
	if (code) {
		problem_add_field(arena, problem, "the file", "%s", why);
		return NULL;
	}
	if (!yyjson_is_obj(list)) {
		problem_add_field(arena, problem, "the file", "is not a JSON object");
		return NULL;
	}
	field_check_members(arena, problem, list, LIST_FIELDS);
	if (!problem->field_count)
		check_days(arena, problem, json_get(list, "prices"));
	return problem->field_count ? NULL : list;
}

enum err_code prices_init(void)
{
	struct arena *arena = arena_new();
	struct problem problem = {0};
	yyjson_val *list = read_list(arena, &problem);
	for (const struct problem_field *f = problem.fields; f; f = f->next)
		fprintf(stderr, "PRICES_FILE: %s %s\n", f->field, f->message);
	arena_free(arena);
	return list ? ERR_NONE : ERR_INVALID;
}

void prices_refresh(struct request *rq)
{
	static char stored[SHA256_HEX_LEN + 1]; /* by this process, which reads in one fiber */
	struct problem problem = {0};
	yyjson_val *list = read_list(rq->arena, &problem);
	metric_set(&refused_gauge, NULL, NULL, !list);
	if (!list) {
		log_error("the prices have a fault, and stay as they were",
		          f_text("file", prices_file), f_text("field", problem.fields->field),
		          f_text("error", problem.fields->message));
		return;
	}
	char digest[SHA256_HEX_LEN + 1];
	const char *prices = json_write(rq->arena, json_get(list, "prices"), NULL);
	sha256_hex(prices, strlen(prices), digest);
	if (strcmp(digest, stored) == 0)
		return;
	if (pg_value_bool(pg_query(rq, PRICE_LIST_STORE_SQL, pg_text(digest), pg_text(prices)), 0))
		log_info("new prices are used", f_text("digest", digest));
	memcpy(stored, digest, sizeof(digest));
}

void fleet_prices_get(struct request *rq)
{
	request_input_none(rq);
	reply_json(rq, 200, pg_value(pg_query(rq, PRICES_GET_SQL), 0));
}
