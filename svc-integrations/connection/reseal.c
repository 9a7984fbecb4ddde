#include "connection/reseal.h"

#include "main/reseal.h"
#include "reseal.sql.h"

/* Every column that the vault has sealed. */
static const struct sealed_column COLUMNS[] = {
	{"connection", "connection", RESEAL_CONNECTION_PAGE_SQL, RESEAL_CONNECTION_UPDATE_SQL},
	{"revocation", "connection", RESEAL_REVOCATION_PAGE_SQL, RESEAL_REVOCATION_UPDATE_SQL},
	{"authorization_attempt", "authorization_attempt", RESEAL_ATTEMPT_PAGE_SQL,
         RESEAL_ATTEMPT_UPDATE_SQL},
	{"endpoint", "endpoint", RESEAL_ENDPOINT_PAGE_SQL, RESEAL_ENDPOINT_UPDATE_SQL},
	{"old secret of an endpoint", "endpoint", RESEAL_OLD_SECRET_PAGE_SQL,
         RESEAL_OLD_SECRET_UPDATE_SQL},
	{"email_confirmation", "endpoint", RESEAL_CONFIRMATION_PAGE_SQL,
         RESEAL_CONFIRMATION_UPDATE_SQL},
	{"app", "app", RESEAL_APP_PAGE_SQL, RESEAL_APP_UPDATE_SQL},
	{0},
};

int reseal_command(struct process *process, int argc, char **argv attr_unused)
{
	return reseal_run(process, COLUMNS, argc);
}
