/*
 * snapshot.c - the whole record of a job as text, to see that a refused call changed nothing.
 *
 * The job as people see it, and after it what they do not see.
 */
#include "base/buffer.h"
#include "job/job_json.h"
#include "scene.h"

#include <string.h>

#define SNAPSHOT_MAX ((size_t)64 << 20)

static void add_job(struct buffer *text, const struct job *job)
{
    char token[LEASE_TOKEN_TEXT_SIZE];

    job_json_add(text, job);
    buffer_printf(
        text, "\ntoken %s expires_at %" PRId64 " due %" PRId64 " timeout %" PRId64 " update %d\n",
        lease_token_format(&job->token, token), job->expires_at, job->due, job->timeout,
        keyed_flags_pack(job->update));
}

static char *copy_of(const struct buffer *text)
{
    struct error err = {0};

    MUST(buffer_ok(text, &err));
    char *copy = strdup(buffer_str(text));
    ck_assert_ptr_nonnull(copy);
    return copy;
}

char *scene_snapshot(struct scene *scene, const struct uuid *id)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(SNAPSHOT_MAX);
    CLEANUP(job_list_done) struct job_list list = {0};

    if (scene_has(scene, id))
        add_job(&text, scene_get(scene, id, &list));
    else
        buffer_text(&text, "gone");
    return copy_of(&text);
}

char *scene_snapshot_queue(struct scene *scene)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(SNAPSHOT_MAX);
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter all = {
        .queue = scene->queue, .oldest_first = true, .limit = JOB_PAGE_MAX};
    struct error err = {0};
    struct job_cursor next;

    MUST(store_list(scene->store, &all, &list, &next, &err));
    ck_assert_msg(!next.is_set, "the scene has more than a page of jobs");
    for (size_t i = 0; i < list.count; i++)
        add_job(&text, &list.items[i]);
    return copy_of(&text);
}

void assert_unchanged(struct scene *scene, const struct uuid *id, const char *before)
{
    AUTO_FREE char *after = scene_snapshot(scene, id);

    ck_assert_str_eq(after, before);
}

void assert_queue_unchanged(struct scene *scene, const char *before)
{
    AUTO_FREE char *after = scene_snapshot_queue(scene);

    ck_assert_str_eq(after, before);
}

void assert_same_record(const struct job *a, const struct job *b)
{
    CLEANUP(buffer_done) struct buffer text_a = BUFFER(SNAPSHOT_MAX);
    CLEANUP(buffer_done) struct buffer text_b = BUFFER(SNAPSHOT_MAX);

    add_job(&text_a, a);
    add_job(&text_b, b);
    ck_assert_str_eq(buffer_str(&text_a), buffer_str(&text_b));
}
