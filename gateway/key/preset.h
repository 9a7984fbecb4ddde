/** Presets: named sets of scopes for new keys. */
#pragma once

#include <yyjson.h>

#include <stdint.h>

struct preset {
	const char *name;
	const char *description;
	uint64_t scopes;
};

/** The scopes of a preset; 0: no such preset. */
uint64_t preset_scopes(const char *name);

/** The names of all presets, ended by NULL, for the input rows. */
extern const char *const PRESET_NAMES[];

/** The JSON arrays of all presets and of all scopes, as GET /account/api-keys shows them. */
yyjson_mut_val *preset_catalog(yyjson_mut_doc *doc);
yyjson_mut_val *scope_catalog(yyjson_mut_doc *doc);

/** The JSON array of the names of `scopes`. */
yyjson_mut_val *scope_names(yyjson_mut_doc *doc, uint64_t scopes);
