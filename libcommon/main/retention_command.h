/** `svc-X retention --show`, which every process has: prints each table of its schema with rows,
 * bytes, the oldest row, the setting, and what ends its rows (service/retained_table.h). Internal
 * to this folder. */
#pragma once

struct process;

/** Runs the command. Returns the exit status; 1: a table is not declared, or a declared one or its
 * setting does not exist. */
int retention_command(struct process *process, int argc, char **argv);
