#include "main/database_prepare.h"

#include "main/stream_permission.h"
#include "pg/migrate.h"
#include "pg/session.h"
#include "service/service.h"

enum err_code database_prepare(const struct process *process)
{
	const struct process_settings *settings = process->settings;
	const struct service *service = process->service;
	const struct migrate_guard guard = {stream_permission_check, process};
	enum err_code code = pg_session_check(settings->database_url, service->schema);
	if (!code)
		code = migrate_run(process_direct_url(settings), service->schema,
		                   service->schema_definition, &guard);
	return code;
}
