#include "store/defect.h"

#include "suites.h"

#include <string.h>

START_TEST(a_job_without_an_id_or_a_name_for_its_type_has_a_defect)
{
    struct job job = job_defaults();

    job.type = "work";
    ck_assert_ptr_nonnull(strstr(defect_of(&job), "id is not a UUID"));
    job.id.bytes[0] = 1;
    ck_assert_ptr_null(defect_of(&job));
    job.type = "not a name!";
    ck_assert_ptr_nonnull(strstr(defect_of(&job), "type is not a name"));
    job.type = NULL;
    ck_assert_ptr_nonnull(strstr(defect_of(&job), "type is not a name"));
}
END_TEST

START_TEST(a_job_with_headers_that_are_none_has_a_defect)
{
    struct job job = job_defaults();

    job.type = "work";
    job.id.bytes[0] = 1;
    job.headers = "{\"a\":1}";
    ck_assert_ptr_null(defect_of(&job));
    job.headers = "{\"a\":";
    ck_assert_ptr_nonnull(strstr(defect_of(&job), "headers are not a JSON object"));
}
END_TEST

Suite *defect_suite(void)
{
    Suite *suite = suite_create("store/defect");
    TCase *all = pure_case("defect");

    tcase_add_test(all, a_job_without_an_id_or_a_name_for_its_type_has_a_defect);
    tcase_add_test(all, a_job_with_headers_that_are_none_has_a_defect);
    suite_add_tcase(suite, all);
    return suite;
}
