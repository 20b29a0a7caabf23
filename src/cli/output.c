/*
 * output.c - what thctl says: answers on stdout, remarks on stderr, both for people or programs.
 */
#include "cli/output.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/display.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MAX     10000
#define SENTENCE_MAX  8192 /* the last error of a job may be 4 KiB */
#define LINE_MAX      ((size_t)8 * SENTENCE_MAX)

static bool wants_colour(void)
{
    const char *refused = getenv("NO_COLOR");

    return (!refused || refused[0] == '\0') && output_obeys_escapes();
}

/* Of some terminals, as over a serial line, only the user knows the width. */
static size_t terminal_width(int fd)
{
    const char *said = getenv("COLUMNS");
    struct winsize size;
    int64_t columns;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return said && text_to_int(said, 1, WIDTH_MAX, &columns) ? (size_t)columns : WIDTH_DEFAULT;
}

static void remark(const char *prefix, const char *format, va_list arguments)
{
    char text[SENTENCE_MAX];
    struct buffer line = BUFFER(LINE_MAX);

    vsnprintf(text, sizeof text, format, arguments);
    buffer_text(&line, prefix);
    display_add_text(&line, text);
    buffer_char(&line, '\n');
    fputs(buffer_str(&line), stderr);
    buffer_done(&line);
}

bool output_obeys_escapes(void)
{
    const char *terminal = getenv("TERM");

    return !text_is_blank(terminal) && !text_equal(terminal, "dumb");
}

struct output output_to_stdout(void)
{
    bool terminal = isatty(STDOUT_FILENO) == 1;

    return (struct output){
        .file = stdout,
        .terminal = terminal,
        .coloured = terminal && wants_colour(),
        .width = terminal_width(STDOUT_FILENO),
    };
}

static void note_failure(struct output *out, int number)
{
    if (out->failure == 0)
        out->failure = number != 0 ? number : EIO;
}

void output_text(struct output *out, const char *text)
{
    if (out->failure == 0 && fputs(text, out->file) == EOF)
        note_failure(out, errno);
}

void output_printf(struct output *out, const char *format, ...)
{
    va_list arguments;

    if (out->failure != 0)
        return;
    va_start(arguments, format);
    if (vfprintf(out->file, format, arguments) < 0)
        note_failure(out, errno);
    va_end(arguments);
}

void output_bytes(struct output *out, struct bytes bytes)
{
    if (out->failure == 0 && bytes.length > 0 &&
        fwrite(bytes.data, 1, bytes.length, out->file) != bytes.length)
        note_failure(out, errno);
}

void output_line(struct output *out, const struct buffer *line)
{
    struct error err;

    if (!buffer_ok(line, &err)) {
        note_failure(out, err.code == TH_E_NO_MEMORY ? ENOMEM : EFBIG);
        return;
    }
    output_text(out, buffer_str(line));
    output_text(out, "\n");
}

/* Such characters can only be inside strings. Those below U+0020 are escaped already. */
static void add_harmless(struct buffer *harmless, struct bytes json)
{
    const unsigned char *copied = json.data;

    while (json.length > 0) {
        const bool is_plain = json.data[0] < 0x7F;
        const uint32_t code = is_plain ? json.data[0] : text_code_point(json);
        const size_t length =
            is_plain || code == TEXT_NO_CHARACTER ? 1 : text_character_length(json);

        if (!is_plain && (code == TEXT_NO_CHARACTER || text_is_deceptive(code))) {
            buffer_add(harmless, copied, (size_t)(json.data - copied));
            buffer_printf(harmless, "\\u%04x",
                          code == TEXT_NO_CHARACTER ? 0xFFFDU : (unsigned)code);
            copied = json.data + length;
        }
        json.data += length;
        json.length -= length;
    }
    buffer_add(harmless, copied, (size_t)(json.data - copied));
}

void output_json(struct output *out, const struct buffer *line)
{
    CLEANUP(buffer_done) struct buffer harmless = BUFFER(SIZE_MAX / 2);
    const struct bytes json = {(const unsigned char *)buffer_str(line), line->length};
    struct error err;

    if (!buffer_ok(line, &err)) {
        output_line(out, line);
        return;
    }
    add_harmless(&harmless, json);
    output_line(out, &harmless);
}

void output_colour(struct output *out, enum colour colour)
{
    static const char *const codes[] = {
        [COLOUR_NONE] = "\033[0m",  [COLOUR_BOLD] = "\033[1m",     [COLOUR_DIM] = "\033[2m",
        [COLOUR_RED] = "\033[31m",  [COLOUR_GREEN] = "\033[32m",   [COLOUR_YELLOW] = "\033[33m",
        [COLOUR_BLUE] = "\033[34m", [COLOUR_MAGENTA] = "\033[35m", [COLOUR_CYAN] = "\033[36m",
        [COLOUR_BAR] = "\033[7m",   [COLOUR_CHOSEN] = "\033[1;7m",
    };

    if (out->coloured)
        output_text(out, codes[colour]);
}

void output_flush(struct output *out)
{
    if (out->failure == 0 && fflush(out->file) != 0)
        note_failure(out, errno);
}

bool output_finish(struct output *out)
{
    output_flush(out);
    if (fclose(out->file) != 0)
        note_failure(out, errno);
    if (out->failure == 0 || out->failure == EPIPE)
        return true;
    output_complain("cannot write to stdout: %s", strerror(out->failure));
    return false;
}

void output_complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    remark("thctl: ", format, arguments);
    va_end(arguments);
}

void output_remark(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    remark("", format, arguments);
    va_end(arguments);
}

void output_remark_lines(const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        output_remark("%.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

const char *output_number(int64_t number, char text[OUTPUT_NUMBER_SIZE])
{
    char digits[OUTPUT_NUMBER_SIZE];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRId64, number);
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

const char *output_jobs(int64_t count)
{
    return count == 1 ? "job" : "jobs";
}
