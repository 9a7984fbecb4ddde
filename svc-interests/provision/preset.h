/** Coding agents that expops knows how to run: the files preset/NAME.json, each of the form of an
 * entry of AGENT_COMMANDS. Their versions are pinned, and their flags and outputs were seen with
 * that version; tests/api/system/provisioning/test_presets.py runs the commands. */
#pragma once

/** The text of a preset; NULL: there is none of that name. In static memory. */
const char *preset_text(const char *name);
