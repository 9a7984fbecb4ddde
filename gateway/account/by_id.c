#include "account/by_id.h"

#include "account.sql.h"
#include "account/account.h"
#include "audit/audit.h"
#include "crypto/uuid.h"
#include "key/key.h"
#include "main/command_run.h"
#include "pg/pg.h"

#include <stdio.h>
#include <string.h>

/* What a command does with each id. */
struct work {
	bool (*change)(struct request *rq, const char *id); /* false: it is unknown */
	const char *done;                                   /* the word for it */
	char **ids;                                         /* NULL-terminated */
};

static bool delete_account(struct request *rq, const char *id)
{
	audit_begin(rq);
	bool is_deleted = !pg_empty(pg_query(rq, ACCOUNT_DELETE_SQL, pg_text(id)));
	pg_commit(rq);
	if (is_deleted)
		account_log_deleted(id);
	return is_deleted;
}

static void change_all(struct request *rq)
{
	const struct work *work = rq->user;
	for (char **id = work->ids; *id; id++)
		printf("%s %s\n", *id, work->change(rq, *id) ? work->done : "unknown");
}

static int run(struct process *process, int argc, char **argv, struct work *work)
{
	struct uuid id;
	for (int i = 1; i < argc; i++) {
		if (!uuid_parse(argv[i], strlen(argv[i]), &id)) {
			fprintf(stderr, "%s: \"%s\" is no id\n", argv[0], argv[i]);
			return 2;
		}
	}
	return argc > 1 ? command_run(process, change_all, work) : COMMAND_USAGE;
}

int keys_revoke_command(struct process *process, int argc, char **argv)
{
	struct work work = {key_revoke_any, "revoked", argv + 1};
	return run(process, argc, argv, &work);
}

int accounts_delete_command(struct process *process, int argc, char **argv)
{
	struct work work = {delete_account, "deleted", argv + 1};
	return run(process, argc, argv, &work);
}
