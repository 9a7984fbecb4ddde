/** `PROCESS --ready`: asks whether the process with these settings is ready. It is the health check
 * of containers, whose image has no HTTP client. */
#pragma once

/** Ask /readyz of the admin listener `listen` (ADMIN_LISTEN: valid), and print its answer on
 * standard output. Waits for at most 3 s. Returns the exit status: 0 if the process is ready, else
 * 1. */
int ready_check(const char *listen);
