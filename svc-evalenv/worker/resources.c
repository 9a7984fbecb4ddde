#include "worker/resources.h"

#include "json/json.h"

#define CPU_PERIOD_US 100000 /* the kernel's default (admin-guide/cgroup-v2, cpu.max) */
#define MIB           ((double)(1 << 20))

static double cpus, cpus_max;
static int64_t memory_bytes, memory_max_bytes, pids, pids_max;

const struct setting RESOURCE_SETTINGS[] = {
	SETTING_FLOAT(&cpus, "RUN_CPUS", "1", 0.01, 1024,
                      "Processors of a run whose template does not ask for any."),
	SETTING_BYTES(&memory_bytes, "RUN_MEMORY", "2GiB", 16 << 20, INT64_C(1) << 50,
                      "Memory of a run whose template does not ask for any."),
	SETTING_INT(&pids, "RUN_PIDS", "512", 1, 4194304,
                    "Processes and threads of a run whose template does not ask for any."),
	SETTING_FLOAT(&cpus_max, "RUN_CPUS_MAX", "8", 0.01, 1024,
                      "Processors that a template may ask for."),
	SETTING_BYTES(&memory_max_bytes, "RUN_MEMORY_MAX", "16GiB", 16 << 20, INT64_C(1) << 50,
                      "Memory that a template may ask for."),
	SETTING_INT(&pids_max, "RUN_PIDS_MAX", "16384", 1, 4194304,
                    "Processes and threads that a template may ask for."),
	SETTING_END,
};

const char *resource_variables(struct request *rq, const struct job *job,
                               char *ret_variables[RESOURCE_VARIABLES])
{
	yyjson_val *spec = json_get(json_get(job->context, "template"), "spec");
	yyjson_val *asked = json_get(spec, "resources");
	double run_cpus = json_get_float(asked, "cpus", cpus);
	double run_mb = json_get_float(asked, "memory_mb", (double)memory_bytes / MIB);
	double run_pids = json_get_float(asked, "pids", (double)pids);
	bool has_network = json_get_bool(asked, "network", false);
	if (run_cpus > cpus_max && run_cpus > cpus)
		return "The template asks for more processors than this worker gives.";
	if (run_mb > (double)memory_max_bytes / MIB && run_mb > (double)memory_bytes / MIB)
		return "The template asks for more memory than this worker gives.";
	if (run_pids > (double)pids_max && run_pids > (double)pids)
		return "The template asks for more processes than this worker gives.";
	char *const variables[RESOURCE_VARIABLES] = {
		arena_printf(rq->arena, "CPUS=%g", run_cpus),
		arena_printf(rq->arena, "CPU_QUOTA_US=%.0f", run_cpus * CPU_PERIOD_US),
		arena_printf(rq->arena, "MEMORY_MB=%.0f", run_mb),
		arena_printf(rq->arena, "PIDS=%.0f", run_pids),
		has_network ? "NETWORK=on" : "NETWORK=off",
	};
	for (size_t i = 0; i < RESOURCE_VARIABLES; i++)
		ret_variables[i] = variables[i];
	return NULL;
}
