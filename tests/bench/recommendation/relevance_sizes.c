/* How much the relevance of recommendations (svc-interests/ranking/calibration.h) depends on the
 * number of papers in the corpus: the mean of papers that are on the subject of an interest,
 * related to it, or neither, in samples of arxiv-cs of different sizes.
 *
 *     build/tests/bench/relevance_sizes [data folder]
 *
 * The interests and judgments are those of interests/ (interest_quality.py); papers without a
 * judgment are left out. Up to two thirds of a sample are judged papers, of one interest in the
 * smallest ones, and the others are random. In rows with "foreign", the embedder was trained on
 * lisa, whose subject is another. */
#include "engine/engine.h"
#include "engine/vector/sample.h"
#include "engine/vector/training.h"
#include "interest/interest_text.h"
#include "ranking/calibration.h"
#include "search/judged.h"

#include <yyjson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Papers of an interest. */
#define DEPTH 30

#define INTERESTS_MAX  64
#define JUDGMENTS_MAX  1024
#define LINE_MAX_BYTES 8192

enum grade { ON, RELATED, NO, GRADES };

static const struct scenario {
	size_t papers;  /* 0: all */
	size_t corpora; /* samples */
	/* of every so many interests, one has judged papers in a sample; 0: of all, only one */
	size_t interests;
	bool is_foreign;
} scenarios[] = {
	{15, 40, 0, false},  {60, 20, 0, false}, {300, 8, 4, false}, {1000, 4, 1, false},
	{4000, 2, 1, false}, {0, 1, 1, false},   {15, 40, 0, true},  {300, 8, 4, true},
};

static struct {
	const char *id;
	const char *text;
} interests[INTERESTS_MAX];
static size_t interest_count;

static struct {
	size_t interest;
	size_t paper;
	enum grade grade;
} judgments[JUDGMENTS_MAX];
static size_t judgment_count;

/* A sample of the papers. */
struct sampled {
	struct judged papers;
	bool *has; /* by number of the paper */
};

struct tally {
	double sum;
	size_t count;
};

static uint64_t noise = 88172645463325252u;

/* Xorshift (Marsaglia, 2003). */
static size_t random_below(size_t limit)
{
	noise ^= noise << 13;
	noise ^= noise >> 7;
	noise ^= noise << 17;
	return noise % limit;
}

static FILE *open_lines(struct arena *arena, const char *name)
{
	const char *root = getenv("SOURCE_ROOT");
	const char *path = arena_printf(arena, "%s/tests/bench/recommendation/interests/%s",
	                                root ? root : ".", name);
	FILE *file = fopen(path, "r");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

/* The text is that which the pool is searched with (svc-interests/pool/pool.c). */
static void load_interests(struct arena *arena)
{
	char line[LINE_MAX_BYTES];
	FILE *file = open_lines(arena, "interests.jsonl");
	while (fgets(line, sizeof(line), file) && interest_count < INTERESTS_MAX) {
		yyjson_doc *json = yyjson_read(line, strlen(line), 0);
		yyjson_val *root = yyjson_doc_get_root(json);
		const char *name = yyjson_get_str(yyjson_obj_get(root, "name"));
		const char *context = yyjson_get_str(yyjson_obj_get(root, "context"));
		const char *id = yyjson_get_str(yyjson_obj_get(root, "interest"));
		require(name && context && id);
		interests[interest_count].id = arena_strdup(arena, id);
		interests[interest_count++].text =
			arena_printf(arena, "%s\n%s\n%s", name, name, context);
		yyjson_doc_free(json);
	}
	fclose(file);
}

static size_t find_interest(const char *id)
{
	size_t i = 0;
	while (i < interest_count && strcmp(interests[i].id, id) != 0)
		i++;
	return i;
}

static size_t find_paper(const struct judged *all, const char *id)
{
	size_t i = 0;
	while (i < all->document_count && strcmp(all->documents[i].id, id) != 0)
		i++;
	return i;
}

static enum grade grade_of(const char *name)
{
	static const char *const names[] = {"on", "related", "no"};
	size_t i = 0;
	while (i < GRADES && strcmp(names[i], name) != 0)
		i++;
	return (enum grade)i;
}

static void load_judgments(struct arena *arena, const struct judged *all)
{
	char line[LINE_MAX_BYTES];
	FILE *file = open_lines(arena, "judgments.tsv");
	while (fgets(line, sizeof(line), file) && judgment_count < JUDGMENTS_MAX) {
		char interest[64], paper[64], grade[16];
		require(sscanf(line, "%63s %63s %15s", interest, paper, grade) == 3);
		judgments[judgment_count].interest = find_interest(interest);
		judgments[judgment_count].paper = find_paper(all, paper);
		judgments[judgment_count].grade = grade_of(grade);
		require(judgments[judgment_count].interest < interest_count &&
		        judgments[judgment_count].paper < all->document_count &&
		        judgments[judgment_count].grade < GRADES);
		judgment_count++;
	}
	fclose(file);
}

/* Whether sample number `number` has judged papers of the interest. */
static bool is_asked(const struct scenario *scenario, size_t number, size_t interest)
{
	if (scenario->interests == 0)
		return interest == number % interest_count;
	return interest % scenario->interests == number % scenario->interests;
}

static void add_paper(struct sampled *sampled, const struct judged *all, size_t number)
{
	if (sampled->has[number])
		return;
	sampled->has[number] = true;
	sampled->papers.documents[sampled->papers.document_count++] = all->documents[number];
}

static struct judged draw(struct arena *arena, const struct judged *all,
                          const struct scenario *scenario, size_t number)
{
	size_t size = scenario->papers;
	struct sampled sampled = {0};
	if (size == 0)
		return *all;
	sampled.papers.documents = arena_array(arena, size, sizeof(*all->documents));
	sampled.has = arena_array(arena, all->document_count, sizeof(bool));
	for (size_t i = 0; i < judgment_count; i++)
		if (is_asked(scenario, number, judgments[i].interest) &&
		    sampled.papers.document_count < size * 2 / 3 &&
		    (scenario->interests > 0 || random_below(2) == 0))
			add_paper(&sampled, all, judgments[i].paper);
	while (sampled.papers.document_count < size)
		add_paper(&sampled, all, random_below(all->document_count));
	return sampled.papers;
}

static struct embedder *train_on(const struct judged *papers)
{
	struct engine *engine = judged_index(papers);
	struct engine_view *view = engine_view_get(engine);
	struct sample *sample = engine_sample(view);
	struct embedder *embedder = training_run(sample, NULL);
	sample_free(sample);
	engine_view_put(view);
	engine_free(engine);
	require(embedder);
	return embedder;
}

/* Replace the embedder of `engine` by a copy. */
static void adopt_copy(struct engine *engine, const struct embedder *embedder)
{
	size_t length = embedder->header->length;
	void *blob = malloc(length);
	require(blob);
	memcpy(blob, embedder->header, length);
	struct engine_adoption *adoption =
		engine_adoption_new(engine, embedder_open(blob, length, true));
	engine_adoption_run(adoption, NULL);
	engine_adoption_commit(engine, adoption);
}

static void tally_interest(const struct engine_view *view, const struct judged *all,
                           size_t interest, struct tally *tallies)
{
	struct arena *arena = arena_new();
	const char *text = interest_text_clean(arena, interests[interest].text);
	struct engine_query query = {.text = text,
	                             .length = strlen(text),
	                             .limit = DEPTH,
	                             .is_topic = true};
	struct engine_result found = engine_search(view, &query, arena);
	for (size_t hit = 0; hit < found.count; hit++)
		for (size_t i = 0; i < judgment_count; i++) {
			if (judgments[i].interest != interest ||
			    strcmp(all->documents[judgments[i].paper].id, found.hits[hit].id) != 0)
				continue;
			struct relevance_signals signals = {
				.retrieval = (double)found.hits[hit].relevance};
			tallies[judgments[i].grade].sum += relevance_calibrate(&signals);
			tallies[judgments[i].grade].count++;
		}
	arena_free(arena);
}

static void run_scenario(const struct judged *all, const struct scenario *scenario,
                         const struct embedder *foreign)
{
	struct tally tallies[GRADES] = {0};
	for (size_t number = 0; number < scenario->corpora; number++) {
		struct arena *arena = arena_new();
		struct judged papers = draw(arena, all, scenario, number);
		struct engine *engine = judged_index(&papers);
		if (scenario->is_foreign)
			adopt_copy(engine, foreign);
		struct engine_view *view = engine_view_get(engine);
		for (size_t i = 0; i < interest_count; i++)
			if (is_asked(scenario, number, i))
				tally_interest(view, all, i, tallies);
		engine_view_put(view);
		engine_free(engine);
		arena_free(arena);
	}
	printf("%6zu %-8s", scenario->papers ? scenario->papers : all->document_count,
	       scenario->is_foreign ? "foreign" : "");
	for (int grade = 0; grade < GRADES; grade++)
		printf("  %8.2f %6zu",
		       tallies[grade].count ? tallies[grade].sum / (double)tallies[grade].count : 0,
		       tallies[grade].count);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	const char *folder = judged_folder(arena, argc, argv);
	struct judged *all = judged_load_papers(arena, arena_printf(arena, "%s/arxiv-cs", folder));
	struct judged *other = judged_load_papers(arena, arena_printf(arena, "%s/lisa", folder));
	if (all && other) {
		struct embedder *foreign = train_on(other);
		load_interests(arena);
		load_judgments(arena, all);
		printf("papers                 on papers   related papers        no papers\n");
		for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
			run_scenario(all, &scenarios[i], foreign);
		embedder_free(foreign);
	} else {
		printf("arxiv-cs or lisa is missing in %s\n", folder);
	}
	arena_free(arena);
	return 0;
}
