#include "tls/trust.h"

#include "capture.h"
#include "certificate.h"

#include <sys/stat.h>

static char folder[SCRATCH_PATH_MAX];
static struct certificate_files files;

static void assert_string_prefix(const char *text, const char *prefix)
{
	assert_non_null(text);
	assert_int_equal(strncmp(text, prefix, strlen(prefix)), 0);
}

static enum err_code trust_new(const char *file, struct tls_trust **ret_trust)
{
	struct arena *arena = arena_new();
	const char *reason = NULL;
	const struct tls_trust_files named = {.setting = "CA_FILE", .file = file};
	enum err_code code = tls_trust_new(&named, arena, ret_trust, &reason);
	if (code)
		assert_string_prefix(reason, "CA_FILE: ");
	arena_free(arena);
	return code;
}

/* The serial numbers of certificates are random. */
static bool is_same(const struct tls_authorities *a, const struct tls_authorities *b)
{
	return a->chain.serial.len == b->chain.serial.len &&
	       memcmp(a->chain.serial.p, b->chain.serial.p, a->chain.serial.len) == 0;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void a_changed_file_is_read_again(void **state)
{
	(void)state;
	struct tls_trust *trust;
	assert_int_equal(trust_new(files.certificate, &trust), ERR_NONE);
	struct tls_authorities *first = tls_trust_take(trust), *again = tls_trust_take(trust);
	assert_ptr_equal(first, again);
	files = certificate_make(folder);
	struct tls_authorities *second = tls_trust_take(trust);
	assert_false(is_same(first, second));
	write_text(files.certificate, "nothing");
	struct tls_authorities *third = tls_trust_take(trust);
	assert_ptr_equal(third, second);
	struct tls_authorities *taken[] = {first, again, second, third};
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		tls_authorities_release(taken[i]);
	tls_trust_free(trust);
	files = certificate_make(folder);
}

static void a_file_without_certificates_is_refused(void **state)
{
	(void)state;
	struct tls_trust *trust;
	assert_int_equal(trust_new("/nonexistent", &trust), ERR_INVALID);
	assert_int_equal(trust_new("/dev/null", &trust), ERR_INVALID);
	assert_int_equal(trust_new(files.key, &trust), ERR_INVALID);
}

/* Why files with the client's own certificate are refused; NULL: they are not. */
static const char *refusal_of(const char *certificate, const char *key, struct arena *arena)
{
	const struct tls_trust_files named = {
		.setting = "CA_FILE",
		.file = files.certificate,
		.own = {"CERT_FILE", "KEY_FILE", certificate, key},
	};
	struct tls_trust *trust = NULL;
	const char *reason = NULL;
	if (tls_trust_new(&named, arena, &trust, &reason) == ERR_NONE) {
		struct tls_authorities *taken = tls_trust_take(trust);
		assert_non_null(taken->own.certificate);
		tls_authorities_release(taken);
		tls_trust_free(trust);
	}
	return reason;
}

static void the_clients_certificate_fits_its_key(void **state)
{
	(void)state;
	char other_folder[SCRATCH_PATH_MAX];
	scratch_new(other_folder, "tls");
	const struct certificate_files other = certificate_make(other_folder);
	struct arena *arena = arena_new();
	assert_null(refusal_of(other.certificate, other.key, arena));
	assert_string_prefix(refusal_of(other.certificate, files.key, arena), "KEY_FILE: ");
	assert_string_prefix(refusal_of("/dev/null", files.key, arena), "CERT_FILE: ");
	assert_int_equal(chmod(other.key, 0644), 0);
	assert_string_prefix(refusal_of(other.certificate, other.key, arena), "KEY_FILE: ");
	arena_free(arena);
	assert_int_equal(remove(other.certificate) || remove(other.key) || remove(other_folder), 0);
}

static int start(void **state)
{
	(void)state;
	scratch_new(folder, "tls");
	files = certificate_make(folder);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	return remove(files.certificate) || remove(files.key) || remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_file_is_read_again),
		cmocka_unit_test(a_file_without_certificates_is_refused),
		cmocka_unit_test(the_clients_certificate_fits_its_key),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
