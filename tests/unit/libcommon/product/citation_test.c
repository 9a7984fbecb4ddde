#include "product/citation.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <string.h>

static const char PAPERS[] =
	"[{\"arxiv_id\": \"hep-th/9901001\", \"title\": \"100% of $x_1$ & {\\\\bf R&D} #1~^ é <\","
	"  \"abstract\": \"Two\\nlines}\", \"authors\": [\"Tri Dao\", \"Laurens van der Maaten\","
	"  \"Edward J. Hu Jr.\", \"ATLAS Collaboration\", \"OpenAI\", \"Smith, J.\"],"
	"  \"categories\": [\"hep-th\", \"cs.LG\"], \"url\": "
	"\"https://arxiv.org/abs/hep-th/9901001\","
	"  \"published_at\": \"1999-01-04T00:00:00.000Z\", \"comments\": \"12 pages, 50% figures\","
	"  \"doi\": \"10.1000/a_b{c}\"},"
	" {\"arxiv_id\": \"hep-th/9901001\", \"title\": \"Again\", \"abstract\": \"\", "
	"\"authors\": [],"
	"  \"categories\": [], \"url\": \"\", \"published_at\": null},"
	" {\"arxiv_id\": \"biorxiv:10.1101/2026.11.20.1(2)\", \"title\": \"B\", \"abstract\": \"\","
	"  \"authors\": [], \"categories\": [], \"url\": \"https://doi.org/x\", \"published_at\": "
	"null}]";

static const char BIBTEX[] =
	"@misc{arXiv:hep-th/9901001,\n"
	"  title = {{100\\% of \\$x\\_1\\$ \\& \\textbraceleft{}\\textbackslash{}bf "
	"R\\&D\\textbraceright{} \\#1\\textasciitilde{}\\textasciicircum{} é \\textless{}}},\n"
	"  author = {Dao, Tri and van der Maaten, Laurens and Hu, Jr., Edward J. and "
	"{ATLAS Collaboration} and {OpenAI} and {Smith, J.}},\n"
	"  year = {1999},\n"
	"  month = jan,\n"
	"  eprint = {hep-th/9901001},\n"
	"  archiveprefix = {arXiv},\n"
	"  primaryclass = {hep-th},\n"
	"  doi = {10.1000/a_b%7Bc%7D},\n"
	"  url = {https://arxiv.org/abs/hep-th/9901001},\n"
	"  note = {12 pages, 50\\% figures},\n"
	"  abstract = {Two lines\\textbraceright{}},\n"
	"}\n"
	"\n"
	"@misc{bioRxiv:10.1101/2026.11.20.1_282_29,\n"
	"  title = {{B}},\n"
	"  eprint = {10.1101/2026.11.20.1(2)},\n"
	"  archiveprefix = {bioRxiv},\n"
	"  url = {https://doi.org/x},\n"
	"}\n";

static const char RIS[] = "TY  - UNPB\r\n"
			  "ID  - arXiv:hep-th/9901001\r\n"
			  "TI  - 100% of $x_1$ & {\\bf R&D} #1~^ é <\r\n"
			  "AU  - Dao, Tri\r\n"
			  "AU  - van der Maaten, Laurens\r\n"
			  "AU  - Hu, Edward J., Jr.\r\n"
			  "AU  - ATLAS Collaboration\r\n"
			  "AU  - OpenAI\r\n"
			  "AU  - Smith, J.\r\n"
			  "PY  - 1999\r\n"
			  "DA  - 1999/01/04\r\n"
			  "PB  - arXiv\r\n"
			  "DO  - 10.1000/a_b{c}\r\n"
			  "UR  - https://arxiv.org/abs/hep-th/9901001\r\n"
			  "KW  - hep-th\r\n"
			  "KW  - cs.LG\r\n"
			  "N1  - 12 pages, 50% figures\r\n"
			  "AB  - Two lines}\r\n"
			  "ER  - \r\n"
			  "TY  - UNPB\r\n"
			  "ID  - bioRxiv:10.1101/2026.11.20.1_282_29\r\n"
			  "TI  - B\r\n"
			  "PB  - bioRxiv\r\n"
			  "UR  - https://doi.org/x\r\n"
			  "ER  - \r\n";

static void papers_are_written_once_and_escaped(void **state attr_unused)
{
	yyjson_val *papers = json_parse_own(arena, PAPERS);
	size_t length;
	assert_string_equal(citation_list(arena, CITATION_BIBTEX, papers, NULL, &length), BIBTEX);
	assert_int_equal(length, strlen(BIBTEX));
	assert_string_equal(citation_list(arena, CITATION_RIS, papers, NULL, &length), RIS);
}

static void a_member_of_an_item_can_be_the_paper(void **state attr_unused)
{
	size_t length;
	yyjson_val *list = json_parse_own(
		arena, "[{\"resource\": {\"arxiv_id\": \"2401.00001\", \"title\": \"T\"}}, {}]");
	assert_string_equal(citation_list(arena, CITATION_RIS, list, "resource", &length),
	                    "TY  - UNPB\r\nID  - arXiv:2401.00001\r\nTI  - T\r\nPB  - arXiv\r\n"
	                    "ER  - \r\n");
	assert_string_equal(citation_list(arena, CITATION_RIS, json_parse_own(arena, "[]"), NULL,
	                                  &length),
	                    "");
	assert_int_equal(length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(papers_are_written_once_and_escaped),
		ARENA_TEST(a_member_of_an_item_can_be_the_paper),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
