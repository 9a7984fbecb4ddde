#include "main/retention_command.h"

#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/pg.h"
#include "retention.sql.h"
#include "service/retained_table.h"
#include "service/service.h"

#include <stdio.h>
#include <string.h>

#define LINE "%-26s %14s %16s  %-20s  %-28s  %s\n"

static const struct retained_table *table_in(const struct retained_table *tables, const char *name)
{
	for (const struct retained_table *t = tables; t && t->table; t++)
		if (strcmp(t->table, name) == 0)
			return t;
	return NULL;
}

static const struct retained_table *table_of(const struct service *service, const char *name)
{
	const struct retained_table *own = table_in(service->tables, name);
	return own ? own : table_in(COMMON_TABLES, name);
}

/* `RUN_DAYS=1100`, or "-" without a setting. NULL: there is no such setting of whole days. */
static const char *setting_text(struct request *rq, const struct service *service,
                                const struct retained_table *table)
{
	if (!table->setting)
		return "-";
	const struct setting *setting = retained_table_setting(service, table);
	if (!setting)
		return NULL;
	return arena_printf(rq->arena, "%s=%lld", setting->name,
	                    (long long)*(const int64_t *)setting->target);
}

static const char *oldest_text(struct request *rq, const struct retained_table *table)
{
	if (!table->age)
		return "-";
	struct pg_rows *rows =
		pg_query(rq, RETENTION_OLDEST_SQL, pg_text(table->table), pg_text(table->age));
	const char *oldest = pg_value(rows, 0);
	return oldest ? oldest : "-";
}

/* Whether the table is declared. */
static bool show_table(struct request *rq, const struct service *service,
                       const struct pg_rows *rows, int row)
{
	const char *name = pg_get(rows, row, "name");
	const struct retained_table *table = table_of(service, name);
	const char *setting = table ? setting_text(rq, service, table) : NULL;
	const char *count =
		arena_printf(rq->arena, "%s%s", pg_get_bool(rows, row, "is_estimate") ? "~" : "",
	                     pg_get(rows, row, "rows"));
	printf(LINE, name, count, pg_get(rows, row, "bytes"), table ? oldest_text(rq, table) : "-",
	       setting ? setting : "-", table ? table->end : "not declared");
	if (!table)
		fprintf(stderr, "%s: the table %s is not declared\n", service->name, name);
	else if (!setting)
		fprintf(stderr, "%s: the setting %s of the table %s does not exist\n",
		        service->name, table->setting, name);
	return setting != NULL;
}

/* Whether all declared tables are in the schema. */
static bool check_declared(const struct service *service, const struct retained_table *tables,
                           const struct pg_rows *rows)
{
	bool is_valid = true;
	for (const struct retained_table *t = tables; t && t->table; t++) {
		int row = 0;
		while (row < rows->count && strcmp(pg_get(rows, row, "name"), t->table) != 0)
			row++;
		if (row < rows->count)
			continue;
		fprintf(stderr, "%s: the schema has no table %s\n", service->name, t->table);
		is_valid = false;
	}
	return is_valid;
}

static void show(struct request *rq)
{
	const struct service *service = rq->worker->process->service;
	bool *ret_is_valid = rq->user;
	const struct pg_rows *rows = pg_query(rq, RETENTION_TABLES_SQL);
	printf(LINE, "TABLE", "ROWS", "BYTES", "OLDEST", "SETTING", "END");
	bool is_valid = true;
	for (int row = 0; row < rows->count; row++)
		is_valid = show_table(rq, service, rows, row) && is_valid;
	is_valid = check_declared(service, service->tables, rows) && is_valid;
	*ret_is_valid = check_declared(service, COMMON_TABLES, rows) && is_valid;
}

/* Without --show nothing is done: the name of the command says otherwise. */
struct arguments {
	bool shows;
};

int retention_command(struct process *process, int argc, char **argv)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_FLAG(struct arguments, shows, "show"),
		ARGUMENT_END,
	};
	struct arguments arguments = {0};
	bool is_valid = false;
	if (!options_read(argc, argv, ARGUMENTS, &arguments) || !arguments.shows)
		return COMMAND_USAGE;
	int status = command_run(process, show, &is_valid);
	return status ? status : is_valid ? 0 : 1;
}
