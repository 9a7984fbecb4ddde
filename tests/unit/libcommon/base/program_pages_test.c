#include "base/program_pages.h"

#include "library_page.h"

#include <sys/mman.h>

static const volatile uint32_t *constant;
static uint32_t value;

static int setup(void **state)
{
	(void)state;
	constant = library_constant();
	value = *constant;
	return 0;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void test_constants_come_back(void **state)
{
	(void)state;
	assert_int_equal(*constant, value);
	assert_true(page_is_present(getpid(), constant));
	program_pages_release();
	assert_false(page_is_present(getpid(), constant));
	assert_int_equal(*constant, value);
}

static void test_other_files_stay(void **state)
{
	(void)state;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	const volatile char *data = mmap(NULL, page_bytes(), PROT_READ, MAP_PRIVATE, file, 0);
	assert_true(data != MAP_FAILED);
	assert_int_equal(data[1], 'E');
	program_pages_release();
	assert_true(page_is_present(getpid(), data));
	munmap((void *)data, page_bytes());
	close(file);
}

/* As a debugger writes its breakpoints. */
static void test_written_page_stays(void **state)
{
	(void)state;
	void *page = (void *)((uintptr_t)constant & ~(page_bytes() - 1));
	assert_int_equal(mprotect(page, page_bytes(), PROT_READ | PROT_WRITE), 0);
	*(volatile uint32_t *)constant = value + 1;
	assert_int_equal(mprotect(page, page_bytes(), PROT_READ), 0);
	program_pages_release();
	assert_int_equal(*constant, value + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constants_come_back), cmocka_unit_test(test_other_files_stay),
		cmocka_unit_test(test_written_page_stays), /* last: the page stays written */
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
