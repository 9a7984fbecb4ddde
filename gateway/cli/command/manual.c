#include "command/manual.h"

#include <stdio.h>
#include <string.h>

static const char HEAD[] =
	".TH EXPOPS 1 \"\" \"expops " EXPOPS_VERSION "\" \"User Commands\"\n"
	".SH NAME\n"
	"expops \\- the command line of the experiment service\n"
	".SH SYNOPSIS\n"
	".B expops\n"
	".I COMMAND\n"
	"[\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]\n"
	".SH DESCRIPTION\n"
	"expops watches new papers for a team, recommends what to try, keeps "
	"the record of experiments and lets coding agents\n"
	"implement them. This program is a client of its public interface.\n"
	".PP\n"
	"Where an id is wanted, the name of the object will do, or the "
	"beginning of its name or id, or its number in the last\n"
	"list that was shown; what removes, revokes or cancels takes no "
	"beginning, and asks first on a terminal. Answers are tables on a terminal; \\fB\\-o "
	"json\\fR prints what the service answered, and\n"
	"\\fB\\-o jsonl\\fR an item of a list a line.\n"
	".PP\n"
	"With \\fB\\-w\\fR a command follows the work that it started, through "
	"restarts of the service. Ctrl\\-C ends the\n"
	"following, not the work.\n";

static const char TAIL[] =
	".SH EXIT STATUS\n"
	".TP\n0\nsuccess\n"
	".TP\n1\nit failed, or the work that was followed did\n"
	".TP\n2\nwrong arguments, or the service refused a value\n"
	".TP\n3\nthere is no such object, name or operation\n"
	".TP\n4\nno key, a wrong one, or one without the scope\n"
	".TP\n5\n\\fBrun \\-w\\fR: the run was started, and cannot be followed; to run it again "
	"is a second run\n"
	".SH ENVIRONMENT\n"
	".TP\nEXPOPS_URL, EXPOPS_KEY\nthe address and the key; they win over the profile\n"
	".TP\nEXPOPS_PROFILE\nthe profile to use\n"
	".TP\nEXPOPS_CA_FILE\ncertificates of the authorities to trust, PEM\n"
	".TP\nCOLUMNS\nhow wide tables are; without it, as the terminal, and in a pipe without "
	"limit\n"
	".TP\nNO_COLOR\nif it is set, there are no colours\n"
	".SH FILES\n"
	".TP\n~/.config/expops/config.json\nthe profiles, for their user alone\n"
	".TP\n~/.local/state/expops/last-SESSION.json\nthe last list of each session of a terminal "
	"or a job, for its numbers\n"
	".SH EXAMPLES\n"
	".nf\n"
	"expops login\n"
	"expops interest add \"Efficient attention\" \\-\\-context notes.md \\-\\-repo .\n"
	"expops refresh \\-w && expops digest\n"
	"expops like 2; expops why 1\n"
	"expops run . \\-\\-paper 1 \\-w\n"
	"expops context \"Sparse attention\" | coding\\-agent\n"
	"expops experiments \\-o jsonl | jq \\-r .name\n"
	"eval \"$(expops completion bash)\"\n"
	".fi\n"
	".SH SEE ALSO\n"
	"curl(1), jq(1)\n";

/* Text of a line: nothing in it is a request or an escape of roff. */
static void print_text(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++)
		if (*text == '-' || *text == '\\')
			printf("\\%s", *text == '-' ? "-" : "e");
		else
			putchar(*text);
	putchar('\n');
}

static void print_item(const char *name, const char *text)
{
	fputs(".TP\n.B ", stdout);
	print_text(name);
	print_text(text);
}

static void print_options(struct cli *cli, const struct parameter *rows)
{
	for (const struct parameter *row = rows; row && row->name; row++)
		print_item(command_option_text(cli, row), row->help);
}

static void print_command(struct cli *cli, const struct command *command)
{
	if (!command->summary)
		return;
	if (command->group)
		printf(".SS %s\n", command->group);
	print_item(command_usage(cli, command), command->summary);
	if (command->help) {
		puts(".IP");
		print_text(command->help);
	}
	if (command->parameters && command->parameters->name) {
		puts(".RS");
		print_options(cli, command->parameters);
		puts(".RE");
	}
}

void manual_run(struct cli *cli, const struct arguments *arguments attr_unused)
{
	fputs(HEAD, stdout);
	puts(".SH OPTIONS OF EVERY COMMAND");
	print_options(cli, COMMON_OPTIONS);
	puts(".SH COMMANDS");
	for (const struct command *command = COMMANDS; command->name; command++)
		print_command(cli, command);
	fputs(TAIL, stdout);
}
