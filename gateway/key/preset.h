/** Named sets of scopes that a key can be given. */
#pragma once

#include <yyjson.h>

#include <stdint.h>

struct preset {
	const char *name;
	const char *description;
	uint64_t scopes;
};

/** The mask of a preset; 0 when there is none of that name. */
uint64_t preset_scopes(const char *name);

/** NULL-terminated names, for declared input. */
extern const char *const PRESET_NAMES[];

/** The array of presets, and that of all scopes, as the list of keys shows them. */
yyjson_mut_val *preset_catalog(yyjson_mut_doc *doc);
yyjson_mut_val *scope_catalog(yyjson_mut_doc *doc);

/** The names of a mask as an array. */
yyjson_mut_val *scope_names(yyjson_mut_doc *doc, uint64_t scopes);
