/** `svc-X dead list|show|retry`, which every process has: prints what its service has given up, and
 * lets it be tried again (task/dead.h). Internal to this folder. */
#pragma once

struct process;

/** Runs the command. Returns the exit status. */
int dead_command(struct process *process, int argc, char **argv);
