/*
 * test_task.c - jobs on their way to the workers: small and large, whole and broken.
 */
#include "base/arena.h"
#include "job/job.h"
#include "post.h"
#include "suites.h"

#include <stdlib.h>

#define LARGEST_INLINE ((size_t)16 * 1024)

static struct post post;
static struct arena arena;
static struct task got;
static unsigned char *bytes; /* JOB_PAYLOAD_MAX of them */

static void setup(void)
{
    post = post_open();
    bytes = malloc(JOB_PAYLOAD_MAX);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < JOB_PAYLOAD_MAX; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
}

static void teardown(void)
{
    free(bytes);
    arena_done(&arena);
    post_close(&post);
}

static struct task a_task(void)
{
    return (struct task){
        .hold = {4095, 4000000001u},
        .id = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
        .type = "email:send",
        .queue = "mail",
        .handler = 12,
        .attempt = 2,
        .max_attempts = 1000000,
        .execution = (int64_t)1 << 40,
        .timeout = JOB_TIMEOUT_MAX,
        .clock_offset = -USEC_PER_HOUR,
        .is_json = true,
        .payload = {(const unsigned char *)"{\"to\":1}", 8},
        .headers = "{\"a\":1}",
    };
}

static enum delivery receive(void)
{
    return task_receive(post.far, &arena, &got, &post.err);
}

static void pass(const struct task *task)
{
    ck_assert_msg(task_send(post.near, task, &post.err) == DELIVERY_DONE, "%s", post.err.text);
    ck_assert_msg(receive() == DELIVERY_DONE, "%s", post.err.text);
}

START_TEST(a_task_arrives_with_every_field)
{
    const struct task sent = a_task();

    pass(&sent);
    ck_assert_uint_eq(got.hold.entry, sent.hold.entry);
    ck_assert_uint_eq(got.hold.generation, sent.hold.generation);
    ck_assert_int_eq(uuid_compare(&got.id, &sent.id), 0);
    ck_assert_str_eq(got.type, sent.type);
    ck_assert_str_eq(got.queue, sent.queue);
    ck_assert_uint_eq(got.handler, sent.handler);
    ck_assert_int_eq(got.attempt, sent.attempt);
    ck_assert_int_eq(got.max_attempts, sent.max_attempts);
    ck_assert_int_eq(got.execution, sent.execution);
    ck_assert_int_eq(got.timeout, sent.timeout);
    ck_assert_int_eq(got.clock_offset, sent.clock_offset);
    ck_assert(got.is_json);
    ck_assert_uint_eq(got.payload.length, sent.payload.length);
    ck_assert_mem_eq(got.payload.data, sent.payload.data, sent.payload.length);
    ck_assert_str_eq(got.headers, sent.headers);
    ck_assert_int_eq(receive(), DELIVERY_NONE);
}
END_TEST

static const struct {
    const char *rule;
    size_t length;
} payloads[] = {
    {"an empty payload", 0},
    {"one byte", 1},
    {"the largest in the datagram", LARGEST_INLINE},
    {"the smallest in a file", LARGEST_INLINE + 1},
    {"the default limit", JOB_PAYLOAD_DEFAULT},
    {"the largest there is", JOB_PAYLOAD_MAX},
};

START_TEST(a_payload_of_any_length_arrives_and_leaves_no_descriptor)
{
    const int before = post_count_files();
    const struct bytes payload = {bytes, payloads[_i].length};
    struct task task = a_task();

    task.is_json = false;
    task.payload = payload;
    for (int round = 0; round < 2; round++) {
        pass(&task);
        ck_assert(!got.is_json);
        ck_assert_msg(got.payload.data && got.payload.length == payload.length, "%s: %zu bytes",
                      payloads[_i].rule, got.payload.length);
        ck_assert_msg(memcmp(got.payload.data, payload.data, payload.length) == 0, "%s",
                      payloads[_i].rule);
    }
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

START_TEST(no_payload_is_not_an_empty_one)
{
    struct task task = a_task();

    task.payload = (struct bytes){0};
    pass(&task);
    ck_assert_ptr_null(got.payload.data);
    ck_assert_uint_eq(got.payload.length, 0);
}
END_TEST

START_TEST(a_task_without_headers_has_none_and_is_no_larger)
{
    unsigned char with[1024], without[1024];
    struct task task = a_task();

    const size_t size = task_pack(&task, with, sizeof with);
    const size_t headers = strlen(task.headers);
    task.headers = NULL;
    ck_assert_uint_eq(task_pack(&task, without, sizeof without), size - headers);
    pass(&task);
    ck_assert_ptr_null(got.headers);
}
END_TEST

START_TEST(names_of_any_length_arrive)
{
    char name[JOB_NAME_MAX + 1] = "";
    struct task task = a_task();

    memset(name, 'n', JOB_NAME_MAX);
    task.type = name;
    task.queue = "q";
    pass(&task);
    ck_assert_str_eq(got.type, name);
    ck_assert_str_eq(got.queue, "q");
}
END_TEST

START_TEST(the_backlog_is_what_nobody_has_taken)
{
    const struct task task = a_task();

    ck_assert_uint_eq(task_backlog(post.near), 0);
    ck_assert_int_eq(task_send(post.near, &task, &post.err), DELIVERY_DONE);
    const size_t one = task_backlog(post.near);
    ck_assert_uint_gt(one, 0);
    ck_assert_int_eq(task_send(post.near, &task, &post.err), DELIVERY_DONE);
    ck_assert_uint_eq(task_backlog(post.near), 2 * one);
    ck_assert_int_eq(receive(), DELIVERY_DONE);
    ck_assert_uint_eq(task_backlog(post.near), one);
    ck_assert_int_eq(receive(), DELIVERY_DONE);
    ck_assert_uint_eq(task_backlog(post.near), 0);
    ck_assert_uint_eq(task_backlog(4000), 0);
}
END_TEST

START_TEST(a_full_socket_takes_no_task_and_keeps_no_descriptor)
{
    const int before = post_count_files();
    struct task task = a_task();
    int sent = 0;

    task.payload = (struct bytes){bytes, LARGEST_INLINE + 1};
    while (task_send(post.near, &task, &post.err) == DELIVERY_DONE)
        sent++;
    ck_assert_int_gt(sent, 100);
    ck_assert_int_eq(task_send(post.near, &task, &post.err), DELIVERY_NONE);
    ck_assert_int_eq(post_count_files(), before);
    ck_assert_int_eq(receive(), DELIVERY_DONE);
    ck_assert_int_eq(task_send(post.near, &task, &post.err), DELIVERY_DONE);
}
END_TEST

START_TEST(a_dispatcher_that_is_gone_is_seen_after_its_last_task)
{
    const struct task task = a_task();

    ck_assert_int_eq(task_send(post.near, &task, &post.err), DELIVERY_DONE);
    close(post.near);
    post.near = -1;
    ck_assert_int_eq(receive(), DELIVERY_DONE);
    ck_assert_int_eq(receive(), DELIVERY_CLOSED);
    ck_assert_int_eq(task_send(post.far, &task, &post.err), DELIVERY_CLOSED);
}
END_TEST

/* ---- what is refused ---- */

static void expect_refusal(const char *what)
{
    const enum delivery delivery = receive();

    ck_assert_msg(delivery == DELIVERY_FAILED, "%s: delivery %d", what, delivery);
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
    post.err = (struct error){0};
}

static struct datagram datagram;

static void catch_datagram(const struct task *task)
{
    ck_assert_int_eq(task_send(post.near, task, &post.err), DELIVERY_DONE);
    post_take_raw(post.far, &datagram);
}

START_TEST(a_task_of_another_length_is_refused)
{
    const struct task task = a_task();

    catch_datagram(&task);
    for (size_t length = 1; length <= datagram.length + 1; length++) {
        if (length == datagram.length)
            continue;
        post_send_raw(post.near, datagram.bytes, length);
        expect_refusal("length");
    }
}
END_TEST

START_TEST(a_task_without_its_file_is_refused)
{
    struct task task = a_task();

    task.payload = (struct bytes){bytes, LARGEST_INLINE + 1};
    catch_datagram(&task);
    post_send_raw(post.near, datagram.bytes, datagram.length);
    expect_refusal("no file");
}
END_TEST

START_TEST(files_that_do_not_belong_are_refused_and_closed)
{
    const int before = post_count_files();
    struct task task = a_task();

    catch_datagram(&task);
    post_send_files(post.near, &datagram, 1);
    expect_refusal("a file nobody needs");
    task.payload = (struct bytes){bytes, LARGEST_INLINE + 1};
    catch_datagram(&task);
    post_send_files(post.near, &datagram, 1);
    expect_refusal("a file of another length");
    post_send_files(post.near, &datagram, 2);
    expect_refusal("two files");
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

/* Whatever is broken, the answer is a task or a refusal: the sanitizers see the rest. */
START_TEST(a_task_with_any_byte_changed_does_no_harm)
{
    const struct task task = a_task();

    catch_datagram(&task);
    for (size_t i = 0; i < datagram.length; i++) {
        datagram.bytes[i] ^= 0xff;
        post_send_raw(post.near, datagram.bytes, datagram.length);
        datagram.bytes[i] ^= 0xff;
        const enum delivery delivery = receive();
        ck_assert(delivery == DELIVERY_DONE || delivery == DELIVERY_FAILED);
    }
    ck_assert_int_eq(receive(), DELIVERY_NONE);
}
END_TEST

Suite *task_suite(void)
{
    Suite *suite = suite_create("process/task");
    TCase *passing = tcase_create("passing");
    TCase *refusing = tcase_create("refusing");

    tcase_add_checked_fixture(passing, setup, teardown);
    tcase_add_test(passing, a_task_arrives_with_every_field);
    tcase_add_loop_test(passing, a_payload_of_any_length_arrives_and_leaves_no_descriptor, 0,
                        COUNT_OF(payloads));
    tcase_add_test(passing, no_payload_is_not_an_empty_one);
    tcase_add_test(passing, a_task_without_headers_has_none_and_is_no_larger);
    tcase_add_test(passing, names_of_any_length_arrive);
    tcase_add_test(passing, the_backlog_is_what_nobody_has_taken);
    tcase_add_test(passing, a_full_socket_takes_no_task_and_keeps_no_descriptor);
    tcase_add_test(passing, a_dispatcher_that_is_gone_is_seen_after_its_last_task);
    suite_add_tcase(suite, passing);

    tcase_add_checked_fixture(refusing, setup, teardown);
    tcase_add_test(refusing, a_task_of_another_length_is_refused);
    tcase_add_test(refusing, a_task_without_its_file_is_refused);
    tcase_add_test(refusing, files_that_do_not_belong_are_refused_and_closed);
    tcase_add_test(refusing, a_task_with_any_byte_changed_does_no_harm);
    suite_add_tcase(suite, refusing);
    return suite;
}
