#include "api.h"
#include "command.h"
#include "help.h"
#include "login.h"

const struct parameter COMMON_OPTIONS[] = {
	{"--output", 'o', "FORM", .help = "text, json or jsonl (an item of a list a line)"},
	{"--profile", 0, "NAME", .help = "the profile of expops login to use"},
	{"--help", 'h', .help = "tell about the command"},
	{"--version", 0, .help = "tell the version"},
	{0},
};

/* ---- access ---- */

static const struct parameter LOGIN[] = {
	{"--url", 'u', "URL",
         .help = "the address of the service; it is asked for where there is a terminal"},
	{"--ca-file", 0, "FILE", .flags = PARAMETER_FILE,
         .help = "certificates of the authorities to trust, PEM"},
	{0},
};

static const struct parameter PROFILE[] = {
	{"NAME", .flags = PARAMETER_REQUIRED, .help = "one that expops profiles lists"},
	{0},
};

/* ---- everything else ---- */

static const struct parameter API[] = {
	{"OPERATION", .help = "its id; without one, they are listed"},
	{"FIELD=VALUE", .flags = PARAMETER_REST,
         .help = "a parameter or a member of the body; FIELD=@FILE reads a file, FIELD:=JSON takes "
                 "any value"},
	{"--data", 'd', "FILE", .flags = PARAMETER_FILE, .help = "the body, - for standard input"},
	{0},
};

static const struct parameter HELP[] = {
	{"COMMAND", .flags = PARAMETER_REST, .help = "of this command"},
	{0},
};

const struct command COMMANDS[] = {
	{"Access", "login", "api_keys_list", LOGIN, "store an address and a key, after trying them",
         .run = login_run,
         .help = "Without a terminal the key is the first line of standard input. Several profiles "
                 "can be stored: "
                 "--profile NAME, or EXPOPS_PROFILE. EXPOPS_URL and EXPOPS_KEY win over all."},
	{NULL, "logout", NULL, NULL, "forget the profile", .run = logout_run},
	{NULL, "whoami", "api_keys_list", NULL, "the address, the key and its scopes", &WHOAMI_VIEW,
         whoami_run},
	{NULL, "profiles", NULL, NULL, "list the profiles", .run = profiles_run},
	{NULL, "profile", NULL, PROFILE, "make a profile the default one", .run = profile_run},
	{"Everything else", "api", NULL, API, "call any operation by its id", .run = api_run,
         .help = "Without an operation, they are listed; with one, --help tells its fields. Values "
                 "become JSON by "
                 "the type of the field; a list is given item by item, or as JSON."},
	{NULL, "help", NULL, HELP, "tell about a command", .run = help_run},
	{0},
};
