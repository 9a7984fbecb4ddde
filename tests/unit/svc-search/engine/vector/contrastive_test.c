#include "engine/vector/contrastive.h"

#include "corpus.h"
#include "engine/text/mem.h"
#include "engine/vector/checkpoint.h"
#include "engine/vector/lsa.h"
#include "engine/vector/vectors.h"
#include "trained.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Subjects of the generated papers, the words that only one subject uses, and those that all
 * use. */
#define SUBJECTS     10
#define WORDS        40
#define COMMON_WORDS 300

#define PAPERS 600

struct fixture {
	char folder[32];
	char path[64]; /* of a checkpoint */
	struct sample *sample;
	struct embedder *embedder; /* trained on the sample without interruption */
	uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES];
};

static const char *subject_text(struct arena *arena, struct random_source *noise, uint32_t subject,
                                int words)
{
	struct buf buf = {.arena = arena};
	for (int i = 0; i < words; i++) {
		uint32_t common = SUBJECTS * WORDS + random_below(noise, COMMON_WORDS);
		uint32_t own = subject * WORDS + random_below(noise, WORDS);
		buf_printf(&buf, "%s ", sample_word(arena, i % 3 == 0 ? own : common));
	}
	return buf.data;
}

/* Papers of one subject each, of which a third of the words are its own. */
static struct sample *subject_sample(void)
{
	struct arena *arena = arena_new();
	struct random_source noise = {17};
	struct builder *builder = builder_new(0);
	for (uint32_t i = 0; i < PAPERS; i++) {
		struct document document = {.id = arena_printf(arena, "p%03u", i)};
		document.title = subject_text(arena, &noise, i % SUBJECTS, 6);
		document.abstract = subject_text(arena, &noise, i % SUBJECTS, 48);
		add_document(builder, &document);
	}
	struct segment *segment = builder_finish(builder);
	struct sample *sample = sample_of_segment(segment);
	segment_free(segment);
	builder_free(builder);
	arena_free(arena);
	return sample;
}

static int set_up(void **state)
{
	static struct fixture fixture = {.folder = "/tmp/contrastive_test.XXXXXX"};
	assert_non_null(mkdtemp(fixture.folder));
	snprintf(fixture.path, sizeof(fixture.path), "%s/state", fixture.folder);
	fixture.sample = subject_sample();
	fixture.embedder = training_run(fixture.sample, NULL);
	training_fingerprint(fixture.sample, fixture.fingerprint);
	assert_non_null(fixture.embedder);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	embedder_free(fixture->embedder);
	sample_free(fixture->sample);
	unlink(fixture->path);
	return rmdir(fixture->folder); /* fails when a temporary file is left */
}

static void assert_equal(const struct embedder *a, const struct embedder *b)
{
	assert_string_equal(a->version, b->version);
	assert_int_equal(a->header->length, b->header->length);
	assert_memory_equal(a->header, b->header, a->header->length);
}

/* Train with a checkpoint; the caller frees the result. */
static struct embedder *train_from(const struct fixture *fixture)
{
	struct training_options options = {.checkpoint = fixture->path};
	struct embedder *embedder = training_run(fixture->sample, &options);
	assert_non_null(embedder);
	return embedder;
}

/* The state after some epochs. */
static struct contrastive_state train_epochs(const struct fixture *fixture, uint32_t epochs)
{
	struct term_vectors vectors;
	assert_true(lsa_train(fixture->sample, NULL, &vectors));
	struct contrastive_state state = contrastive_begin(vectors);
	struct parallel *parallel = parallel_new(1);
	while (state.epochs < epochs)
		assert_true(contrastive_epoch(&state, fixture->sample, parallel, NULL));
	parallel_free(parallel);
	return state;
}

/* How well cosines separate papers of the subject of a paper from others: the area under the ROC
 * curve. */
static double subject_auc(const struct fixture *fixture, const struct embedder *embedder)
{
	struct vectors *vectors = vectors_of_sample(embedder, fixture->sample, NULL);
	uint32_t count = fixture->sample->doc_count;
	struct arena *arena = arena_new();
	float vector[LSA_DIMENSION];
	float *cosines = arena_array(arena, count, sizeof(float));
	double right = 0;
	double pairs = 0;
	for (uint32_t paper = 0; paper < count; paper += 20) {
		vectors_get(vectors, paper, vector);
		struct vector_query query =
			vector_query_make(vector, embedder->header->dimension, arena);
		for (uint32_t i = 0; i < count; i++)
			cosines[i] = vectors_cosine(vectors, &query, i);
		for (uint32_t i = paper % SUBJECTS; i < count; i += SUBJECTS)
			for (uint32_t j = 0; j < count; j++) {
				if (i == paper || j % SUBJECTS == paper % SUBJECTS)
					continue;
				right += cosines[i] > cosines[j];
				pairs++;
			}
	}
	vectors_free(vectors);
	arena_free(arena);
	return right / pairs;
}

static void test_the_number_of_threads_does_not_matter(void **state)
{
	const struct fixture *fixture = *state;
	for (int threads = 2; threads <= 5; threads++) {
		struct training_options options = {.threads = threads};
		struct embedder *embedder = training_run(fixture->sample, &options);
		assert_equal(embedder, fixture->embedder);
		embedder_free(embedder);
	}
}

static void test_training_goes_on_from_a_checkpoint(void **state)
{
	const struct fixture *fixture = *state;
	struct contrastive_state half = train_epochs(fixture, 3);
	assert_true(checkpoint_save(fixture->path, fixture->fingerprint, &half));
	struct embedder *embedder = train_from(fixture);
	assert_equal(embedder, fixture->embedder);
	embedder_free(embedder);
	/* It really begins there: another state gives another result. */
	half.vectors.rows[0] += 1;
	assert_true(checkpoint_save(fixture->path, fixture->fingerprint, &half));
	embedder = train_from(fixture);
	assert_string_not_equal(embedder->version, fixture->embedder->version);
	embedder_free(embedder);
	contrastive_end(&half);
}

static void test_a_finished_training_leaves_its_state(void **state)
{
	const struct fixture *fixture = *state;
	struct contrastive_state last;
	unlink(fixture->path);
	embedder_free(train_from(fixture));
	assert_true(checkpoint_load(fixture->path, fixture->fingerprint,
	                            fixture->sample->term_count, &last));
	assert_int_equal(last.epochs, contrastive_epochs(fixture->sample));
	contrastive_end(&last);
}

static void test_another_or_damaged_checkpoint_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	uint32_t terms = fixture->sample->term_count;
	uint8_t other[SAMPLE_FINGERPRINT_BYTES] = {1};
	struct contrastive_state one = train_epochs(fixture, 0);
	struct contrastive_state read;
	struct stat status;
	assert_true(checkpoint_save(fixture->path, fixture->fingerprint, &one));
	assert_false(checkpoint_load(fixture->path, other, terms, &read));
	assert_false(checkpoint_load(fixture->path, fixture->fingerprint, terms + 1, &read));
	assert_int_equal(stat(fixture->path, &status), 0);
	int file = open(fixture->path, O_RDWR);
	assert_int_equal(pwrite(file, "damage", 6, status.st_size / 2), 6);
	assert_false(checkpoint_load(fixture->path, fixture->fingerprint, terms, &read));
	assert_int_equal(ftruncate(file, status.st_size - 1), 0);
	assert_false(checkpoint_load(fixture->path, fixture->fingerprint, terms, &read));
	assert_int_equal(ftruncate(file, 5), 0);
	struct embedder *embedder = train_from(fixture);
	assert_equal(embedder, fixture->embedder);
	embedder_free(embedder);
	close(file);
	contrastive_end(&one);
}

static void test_training_improves_on_the_analysis(void **state)
{
	const struct fixture *fixture = *state;
	struct contrastive_state analysis = train_epochs(fixture, 0);
	analysis.epochs = contrastive_epochs(fixture->sample); /* nothing is left to be trained */
	assert_true(checkpoint_save(fixture->path, fixture->fingerprint, &analysis));
	struct embedder *before = train_from(fixture);
	double auc_before = subject_auc(fixture, before);
	double auc_after = subject_auc(fixture, fixture->embedder);
	assert_true(1 - auc_after < (1 - auc_before) / 2);
	embedder_free(before);
	contrastive_end(&analysis);
}

static void test_training_can_be_cancelled(void **state)
{
	const struct fixture *fixture = *state;
	atomic_bool cancel = true;
	struct training_options options = {.cancel = &cancel};
	struct contrastive_state one = train_epochs(fixture, 0);
	struct parallel *parallel = parallel_new(2);
	assert_null(training_run(fixture->sample, &options));
	assert_false(contrastive_epoch(&one, fixture->sample, parallel, &cancel));
	parallel_free(parallel);
	contrastive_end(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_number_of_threads_does_not_matter),
		cmocka_unit_test(test_training_goes_on_from_a_checkpoint),
		cmocka_unit_test(test_a_finished_training_leaves_its_state),
		cmocka_unit_test(test_another_or_damaged_checkpoint_is_refused),
		cmocka_unit_test(test_training_improves_on_the_analysis),
		cmocka_unit_test(test_training_can_be_cancelled),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
