/** svc-integrations/retention/: the tables of the schema `integrations`. Deliveries of the code
 * host go by days (webhook/delivery.h), messages with their deliveries and attempts, too. */
#pragma once

#include "service/retained_table.h"

extern const struct retained_table INTEGRATIONS_TABLES[];
