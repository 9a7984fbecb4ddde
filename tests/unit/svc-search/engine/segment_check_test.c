#include "engine/segment_check.h"

#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Enough that a document number takes two bytes, and that many are of one day. */
#define DOCUMENTS 1000

/* Bytes of a list of one posting whose document number takes two bytes: the bits of the number,
 * those of the frequency, and the number. */
enum { AT_GAP_BITS, AT_FREQUENCY_BITS, AT_GAP, AT_GAP_END = AT_GAP + 2 };

static void *writable(const void *data)
{
	return (void *)(uintptr_t)data;
}

static struct segment_doc *doc_at(const struct segment *segment, uint32_t doc)
{
	return writable(&segment->docs[doc]);
}

static struct segment_term *term_at(const struct segment *segment, uint32_t term)
{
	return writable(&segment->terms[term]);
}

/* A list of one posting, of the bytes above. */
static uint8_t *short_list(const struct segment *segment)
{
	uint32_t term = segment->term_count - 1;
	for (; segment->terms[term].df == 1; term--) {
		const uint8_t *list = segment->postings + segment->terms[term].data;
		if (list[AT_GAP_BITS] > 8 && list[AT_FREQUENCY_BITS] == 0)
			return writable(list);
	}
	fail();
	return NULL;
}

/* The first of two documents of one day. */
static uint32_t same_day(const struct segment *segment)
{
	uint32_t doc = 0;
	while (segment->docs[doc].published != segment->docs[doc + 1].published)
		doc++;
	return doc;
}

/* A document whose id says nothing about its place. */
static uint32_t alone_on_its_day(const struct segment *segment)
{
	const struct segment_doc *doc = segment->docs + 1;
	while (doc[-1].published == doc->published || doc->published == doc[1].published)
		doc++;
	return (uint32_t)(doc - segment->docs);
}

static uint32_t *slot_of_doc(const struct segment *segment, uint32_t doc)
{
	size_t at = 0;
	while (segment->doc_slots[at] != doc + 1)
		at++;
	return writable(&segment->doc_slots[at]);
}

static void give_a_posting_no_frequency(const struct segment *segment)
{
	uint8_t *list = short_list(segment);
	list[AT_GAP_BITS] = list[AT_FREQUENCY_BITS] = 8;
	list[AT_GAP + 1] = 0xFF; /* one less than the frequency, modulo 256 */
}

static void pass_the_last_document(const struct segment *segment)
{
	uint8_t *list = short_list(segment);
	list[AT_GAP_BITS] = 16;
	memset(list + AT_GAP, 0xFF, AT_GAP_END - AT_GAP);
}

static void pass_the_end_of_postings(const struct segment *segment)
{
	((struct posting_block *)writable(segment->blocks))->offset = UINT32_MAX;
}

static void move_a_day(const struct segment *segment)
{
	doc_at(segment, 1)->published = segment->docs[0].published + 1;
}

/* The hash table finds both. */
static void exchange_ids(const struct segment *segment)
{
	uint32_t doc = same_day(segment);
	uint32_t *slot = slot_of_doc(segment, doc);
	uint32_t *next = slot_of_doc(segment, doc + 1);
	uint32_t id = segment->docs[doc].id;
	doc_at(segment, doc)->id = segment->docs[doc + 1].id;
	doc_at(segment, doc + 1)->id = id;
	*slot = doc + 2;
	*next = doc + 1;
}

static void repeat_an_id(const struct segment *segment)
{
	doc_at(segment, alone_on_its_day(segment))->id = segment->docs[0].id;
}

static void lose_a_document(const struct segment *segment)
{
	*slot_of_doc(segment, 5) = 5;
}

static void repeat_a_term(const struct segment *segment)
{
	term_at(segment, segment->term_count - 1)->text = segment->terms[0].text;
}

static void fill_the_hash_table(const struct segment *segment)
{
	uint32_t *slots = writable(segment->term_slots);
	for (size_t i = 0; i < segment->term_slot_count; i++)
		slots[i] += slots[i] == 0;
}

static void move_a_block(const struct segment *segment)
{
	((struct posting_block *)writable(segment->blocks))->last_doc--;
}

/* The last block of a term that does not have the last document. */
static void extend_a_block(const struct segment *segment)
{
	const struct posting_block *end;
	uint32_t term = 0;
	do
		end = segment_blocks(segment, term) + segment_block_count(&segment->terms[term]);
	while (end[-1].last_doc == DOCUMENTS - 1 && ++term < segment->long_count);
	((struct posting_block *)writable(end))[-1].last_doc = DOCUMENTS - 1;
}

static void pass_the_last_block(const struct segment *segment)
{
	((uint32_t *)writable(segment->first_blocks))[1] = UINT32_MAX;
}

static void lengthen_a_short_list(const struct segment *segment)
{
	term_at(segment, segment->long_count)->df = POSTINGS_BLOCK + 1;
}

static void lengthen_the_last_record(const struct segment *segment)
{
	uint8_t *record = writable(segment->forward + segment->docs[DOCUMENTS - 1].forward);
	record[0]++;
}

static void leave_the_terms(const struct segment *segment)
{
	uint8_t *record = writable(segment->forward + segment->docs[0].forward);
	record[FORWARD_RUNS] = 0xFF;
	record[FORWARD_RUNS + 1] = 0x7F;
}

/* Each leaves everything else as it was, so that one check alone refuses it. */
static const struct damage {
	const char *name;
	void (*apply)(const struct segment *segment);
} damages[] = {
	{"a frequency of 0", give_a_posting_no_frequency},
	{"a document that is not there", pass_the_last_document},
	{"a list after the last byte", pass_the_end_of_postings},
	{"a newer document after an older one", move_a_day},
	{"ids of a day in the wrong order", exchange_ids},
	{"the same id twice", repeat_an_id},
	{"a document that its id does not find", lose_a_document},
	{"the same term twice", repeat_a_term},
	{"a hash table without a free slot", fill_the_hash_table},
	{"a block that ends before its last document", move_a_block},
	{"a block that ends after its last document", extend_a_block},
	{"a block that is not there", pass_the_last_block},
	{"a list of two blocks without headers", lengthen_a_short_list},
	{"a record of more terms than bytes", lengthen_the_last_record},
	{"a term number that is too great", leave_the_terms},
};

static bool is_accepted(void *blob, size_t length)
{
	struct segment *segment = segment_open(blob, length, false);
	bool is_valid = segment && segment_is_valid(segment);
	segment_free(segment);
	return is_valid;
}

static void a_damaged_segment_is_refused(void **state attr_unused)
{
	struct segment *made = sample_segment(12, DOCUMENTS, 400);
	size_t length = made->header->length;
	void *copy = malloc(length);
	assert_true(made->long_count > 1);
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		memcpy(copy, made->header, length);
		assert_true(is_accepted(copy, length));
		struct segment *segment = segment_open(copy, length, false);
		damages[i].apply(segment);
		segment_free(segment);
		if (is_accepted(copy, length))
			fail_msg("accepted: %s", damages[i].name);
	}
	free(copy);
	segment_free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_damaged_segment_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
