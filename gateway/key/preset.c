#include "key/preset.h"

#include "base/base.h"
#include "key/role.h"

#include <string.h>

#define BIT   SCOPE_BIT_OF
#define READS (ROLE_READS | BIT(WEBHOOKS_READ) | BIT(AUDIT_READ))

static const struct preset PRESETS[] = {
	{"full_access", "Everything that a user may do.", SCOPE_ALL & ~SCOPE_OPERATOR},
	{"read_only", "Read everything, change nothing.", READS},
	{"agent", "For a coding agent: read everything, write experiments, report.",
         READS | BIT(EXPERIMENTS_WRITE) | BIT(IMPLEMENT_WRITE) | BIT(FLEET_REPORT) |
                 BIT(EVAL_REPORT)},
	{"automation", "For a repository's own automation.",
         BIT(FLEET_REPORT) | BIT(RECOMMENDATIONS_READ) | BIT(RECOMMENDATIONS_WRITE) |
                 BIT(INTERESTS_READ) | BIT(SEARCH_READ) | BIT(CODE_HOST_WRITE) |
                 BIT(EXPERIMENTS_READ) | BIT(IMPLEMENT_READ) | BIT(IMPLEMENT_WRITE) |
                 BIT(EVAL_REPORT)},
};

const char *const PRESET_NAMES[] = {"full_access", "read_only", "agent", "automation", NULL};

uint64_t preset_scopes(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(PRESETS); i++)
		if (strcmp(PRESETS[i].name, name) == 0)
			return PRESETS[i].scopes;
	return SCOPE_NONE;
}

yyjson_mut_val *scope_names(yyjson_mut_doc *doc, uint64_t scopes)
{
	yyjson_mut_val *names = yyjson_mut_arr(doc);
	for (int bit = 0; bit < SCOPE_COUNT; bit++)
		if (scopes & UINT64_C(1) << bit)
			yyjson_mut_arr_add_str(doc, names, scope_info(bit)->name);
	return names;
}

yyjson_mut_val *preset_catalog(yyjson_mut_doc *doc)
{
	yyjson_mut_val *catalog = yyjson_mut_arr(doc);
	for (size_t i = 0; i < ARRAY_LEN(PRESETS); i++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, catalog);
		yyjson_mut_obj_add_str(doc, row, "name", PRESETS[i].name);
		yyjson_mut_obj_add_str(doc, row, "description", PRESETS[i].description);
		yyjson_mut_obj_add_val(doc, row, "scopes", scope_names(doc, PRESETS[i].scopes));
	}
	return catalog;
}

yyjson_mut_val *scope_catalog(yyjson_mut_doc *doc)
{
	yyjson_mut_val *catalog = yyjson_mut_arr(doc);
	for (int bit = 0; bit < SCOPE_COUNT; bit++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, catalog);
		yyjson_mut_obj_add_str(doc, row, "name", scope_info(bit)->name);
		yyjson_mut_obj_add_str(doc, row, "description", scope_info(bit)->description);
	}
	return catalog;
}
