/** The command `reseal` of services that seal what they store (vault/vault.h): seal all of it with
 * the first of SEAL_KEYS, so that the other keys can be removed. */
#pragma once

#include "service/process.h"

/** A column that the vault has sealed. */
struct sealed_column {
	const char *name;    /* for people; NULL ends a table */
	const char *context; /* the first word of the context */
	/** A page of the sealed texts that the first key has not sealed. Its parameters: `after`,
	 * the last row before the page, NULL for the first page; `prefix`, what a text of the
	 * first key begins with (vault_prefix_hex()); `limit`, rows of the page. Its columns: `id`
	 * of the row, `context`, the words behind the first, and `sealed`, the text. */
	const char *page_sql;
	/** Replace the text of a row, if it is still that one. Its parameters: the row, its text,
	 * the new text. */
	const char *update_sql;
};

/** Run the command. It works while the service runs, and can be stopped and repeated: rows that
 * have the first key already are skipped. Returns 0; 1 when a row does not open, which is printed;
 * COMMAND_USAGE when there are arguments. */
int reseal_run(struct process *process, const struct sealed_column *columns, int argc);
