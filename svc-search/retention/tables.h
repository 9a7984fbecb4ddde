/** svc-search/retention/: the tables of the schema `search`: papers, which stay, and what is
 * computed from them. */
#pragma once

#include "service/retained_table.h"

extern const struct retained_table SEARCH_TABLES[];
