/*
 * print_file.c - what a plugin prints and logs, in a file in memory that outlives its worker.
 *
 * A head, then the text. All who print share one open file, so its offset is the end of the text.
 * After the end are zeroes: anything else there is news.
 *
 * Invariants:
 *   - START <= told <= PRINT_FILE_SIZE.
 *   - A dispatcher takes no number from the file without putting it within these bounds.
 */
#include "process/print_file.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)
#define START ((size_t)64)          /* of the text */
#define FULL  (PRINT_FILE_SIZE / 2) /* from here on room is made */
#define KEPT  (PRINT_FILE_SIZE / 4) /* of the end, then */
#define PEEK  ((size_t)8)           /* no text begins with this many NULs */

struct head {
    struct hold hold;
    uint64_t told; /* a copy, for the dispatcher */
};

_Static_assert(sizeof(struct head) <= START, "the head lies before the text");

/* ---- the master ---- */

static bool prepare(int fd, struct error *err)
{
    if (ftruncate(fd, (off_t)PRINT_FILE_SIZE) || fcntl(fd, F_ADD_SEALS, SEALS) ||
        lseek(fd, (off_t)START, SEEK_SET) < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "prepare the file for what plugins print");
    return true;
}

bool print_file_make(int ends_out[2], struct error *err)
{
    const int fd = memfd_create("printed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int other = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

    ends_out[0] = fd;
    ends_out[1] = other;
    if (other < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "open a file for what plugins print");
    return prepare(fd, err);
}

/* ---- a worker ---- */

static void set_told(struct print_file *file, size_t told)
{
    struct head *head = (void *)file->memory;

    file->told = told;
    head->told = told;
}

bool print_file_open(struct print_file *file, int fd, struct error *err)
{
    void *memory = mmap(NULL, PRINT_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return error_errno(err, TH_E_INTERNAL, errno, "map what plugins print");
    *file = (struct print_file){.fd = fd, .memory = memory};
    set_told(file, START);
    print_file_begin(file, HOLD_NONE);
    return true;
}

void print_file_close(struct print_file *file)
{
    if (file->memory)
        munmap(file->memory, PRINT_FILE_SIZE);
    *file = (struct print_file){0};
}

bool print_file_catch(const struct print_file *file, struct error *err)
{
    if (dup2(file->fd, STDOUT_FILENO) < 0 || dup2(file->fd, STDERR_FILENO) < 0 ||
        setvbuf(stdout, NULL, _IOLBF, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "catch what plugins print");
    return true;
}

static size_t within(off_t offset, size_t least)
{
    if (offset < (off_t)least)
        return least;
    return offset < (off_t)PRINT_FILE_SIZE ? (size_t)offset : PRINT_FILE_SIZE;
}

/* The text ends there, and zeroes follow. If this fails nothing worse happens than that lines are
 * reported twice, or not at all. */
static void end_text(struct print_file *file, size_t end)
{
    (void)fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)end,
                    (off_t)(PRINT_FILE_SIZE - end));
    (void)lseek(file->fd, (off_t)end, SEEK_SET);
    set_told(file, end);
}

static bool has_news(const struct print_file *file)
{
    static const unsigned char nothing[PEEK];
    const size_t left = PRINT_FILE_SIZE - file->told;

    return memcmp(file->memory + file->told, nothing, left < PEEK ? left : PEEK) != 0;
}

void print_file_begin(struct print_file *file, struct hold hold)
{
    struct head *head = (void *)file->memory;

    if (!file->memory)
        return;
    if (file->told > START || has_news(file) || !hold_equal(head->hold, file->hold))
        end_text(file, START);
    head->hold = file->hold = hold;
}

struct bytes print_file_news(struct print_file *file)
{
    if (!file->memory || !has_news(file))
        return (struct bytes){0};

    const size_t from = file->told;
    set_told(file, within(lseek(file->fd, 0, SEEK_CUR), from));
    return (struct bytes){file->memory + from, file->told - from};
}

void print_file_make_room(struct print_file *file)
{
    if (file->told < FULL)
        return;
    memmove(file->memory + START, file->memory + file->told - KEPT, KEPT);
    end_text(file, START + KEPT);
}

void print_file_add(struct print_file *file, struct bytes line)
{
    if (!file->memory)
        return;
    print_file_make_room(file);
    if (line.length >= PRINT_FILE_SIZE - file->told)
        return;
    memcpy(file->memory + file->told, line.data, line.length);
    file->memory[file->told + line.length] = '\n';
    set_told(file, file->told + line.length + 1);
    (void)lseek(file->fd, (off_t)file->told, SEEK_SET);
}

/* ---- the dispatcher ---- */

static bool read_at(int fd, size_t offset, void *out, size_t length, struct error *err)
{
    const ssize_t count = pread(fd, out, length, (off_t)offset);

    if (count < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "read what a plugin has printed");
    return (size_t)count == length ||
           error_set(err, TH_E_INTERNAL, "read what a plugin has printed: it is too short");
}

bool print_file_read(int fd, size_t most, struct arena *arena, struct print_record *record_out,
                     struct error *err)
{
    struct head head;

    if (!read_at(fd, 0, &head, sizeof head, err))
        return false;
    const size_t end = within(lseek(fd, 0, SEEK_CUR), START);
    const size_t start = end - START > most ? end - most : START;
    unsigned char *text = arena_alloc(arena, end - start);
    if (!text)
        return error_no_memory(err);
    *record_out = (struct print_record){
        .hold = head.hold,
        .output = {text, end - start},
        .told = head.told > start && head.told <= end ? (size_t)head.told - start : 0,
    };
    return read_at(fd, start, text, end - start, err);
}
