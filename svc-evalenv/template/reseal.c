#include "main/reseal.h"

#include "reseal.sql.h"
#include "template/template.h"

static const struct sealed_column COLUMNS[] = {
	{"template", "template", RESEAL_TEMPLATE_PAGE_SQL, RESEAL_TEMPLATE_UPDATE_SQL},
	{0},
};

int reseal_command(struct process *process, int argc, char **argv attr_unused)
{
	return reseal_run(process, COLUMNS, argc);
}
