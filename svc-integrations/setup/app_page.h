/** `svc-integrations app-page`: making the app where there is no console. With a file it writes a
 * page whose form asks the code host for the app; with the state and the code that the browser came
 * back with, it takes the app. */
#pragma once

#include "service/process.h"

int app_page_command(struct process *process, int argc, char **argv);
