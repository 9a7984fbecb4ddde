/** `svc-integrations reseal`: seal everything that is stored with the first of SEAL_KEYS, so that the other keys can
 * be removed. */
#pragma once

#include "service/process.h"

/** The command. It works while the service runs, and can be stopped and repeated: rows that have the first key
 * already are skipped. Returns 0; 1 when a row does not open, which is printed. */
int reseal_command(struct process *process, int argc, char **argv);
