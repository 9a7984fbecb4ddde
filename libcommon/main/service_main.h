/** libcommon/main/: the program around a service: start-up, workers, the admin listener, background
 * work, commands, shutdown. Entry point: service_main(). */
#pragma once

#include "service/service.h"

/** The whole of main(). Reads the settings. Runs the command that argv[1] names, or, without one,
 * serves in its roles (roles.h): starts the workers, the public listener and the admin listener
 * (`/healthz`, `/readyz`, `/metrics`), migrates the schema in the background until that succeeds,
 * and drains on SIGTERM.
 *
 * Returns the exit status. It is 2, after one line on standard error for each fault, when a setting
 * is wrong, when an operation of the service in internal.def, or in api.def and not marked GONE,
 * has no route, or when a route's operation belongs to another service. */
int service_main(const struct service *service, int argc, char **argv);
