/*
 * error_shape.c - what errors of one kind have in common, whatever they are about.
 */
#include "job/error_shape.h"

#include "base/text.h"

#include <string.h>

#define LINE_LOOKED_AT 1024
#define HEX_MIN        7 /* shorter ones may be words: "dead", "facade" */
#define UUID_LENGTH    36
#define ELLIPSIS       "\xe2\x80\xa6"
#define CUT            "..."

/* ---- which line ---- */

/* Lines that runtimes add to every error. */
static const char *const noise[] = {
    "at ",       "Traceback (",  "Stack trace:", "#0 ",         "#1 ",         "Node.js v",
    "goroutine", "exit status ", "note: run",    "During hand", "The above e",
};

/* What wins over all that comes after it. */
static const char decisive[] = "panic: ";

static bool starts_with(struct bytes bytes, const char *prefix)
{
    const size_t length = strlen(prefix);

    return bytes.length >= length && memcmp(bytes.data, prefix, length) == 0;
}

static bool is_letter(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80;
}

static bool is_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_space(unsigned char byte)
{
    return byte <= ' ';
}

static bool says_something(struct bytes line)
{
    for (size_t i = 0; i < line.length; i++)
        if (is_letter(line.data[i]))
            return true;
    return false;
}

static bool is_useful(struct bytes line)
{
    if (is_space(line.data[0]) || !says_something(line))
        return false;
    for (size_t i = 0; i < COUNT_OF(noise); i++)
        if (starts_with(line, noise[i]))
            return false;
    return true;
}

static struct bytes take_line(struct bytes *rest)
{
    const unsigned char *end = memchr(rest->data, '\n', rest->length);
    const size_t length = end ? (size_t)(end - rest->data) : rest->length;
    const struct bytes line = {rest->data, length};
    const size_t taken = end ? length + 1 : length;

    *rest = (struct bytes){rest->data + taken, rest->length - taken};
    return line;
}

static struct bytes shortened(struct bytes line)
{
    while (line.length > 0 && is_space(line.data[0]))
        line = (struct bytes){line.data + 1, line.length - 1};
    if (line.length > LINE_LOOKED_AT)
        line.length = LINE_LOOKED_AT;
    while (line.length > 0 && is_space(line.data[line.length - 1]))
        line.length--;
    return line;
}

/* Without a useful one, the last that is not blank. */
static struct bytes choose_line(struct bytes rest)
{
    struct bytes useful = {0}, any = {0};

    while (rest.length > 0) {
        const struct bytes line = take_line(&rest);
        if (shortened(line).length == 0)
            continue;
        any = line;
        if (is_useful(line))
            useful = line;
        if (starts_with(line, decisive))
            break;
    }
    return shortened(useful.data ? useful : any);
}

/* ---- its shape ---- */

struct shaper {
    struct bytes line;
    size_t at;
    char *out;
    size_t length;
    bool is_full;
};

static unsigned char byte_at(const struct shaper *shaper, size_t at)
{
    return at < shaper->line.length ? shaper->line.data[at] : ' ';
}

static bool is_wordly(unsigned char byte)
{
    return is_letter(byte) || is_digit(byte) || byte == '_';
}

static bool begins_word(const struct shaper *shaper)
{
    return shaper->at == 0 || !is_wordly(shaper->line.data[shaper->at - 1]);
}

/* All of it or, where there is no room, what says that it was cut. */
static void put(struct shaper *shaper, const void *text, size_t length)
{
    if (shaper->is_full)
        return;
    if (shaper->length + length > ERROR_SHAPE_SIZE - sizeof CUT) {
        shaper->is_full = true;
        text = CUT;
        length = sizeof CUT - 1;
    }
    memcpy(shaper->out + shaper->length, text, length);
    shaper->length += length;
}

static void put_text(struct shaper *shaper, const char *text)
{
    put(shaper, text, strlen(text));
}

/* `this' is quoted as well. */
static bool closes(unsigned char opened, unsigned char byte)
{
    return byte == opened || (opened == '`' && byte == '\'');
}

/* An apostrophe is within a word, or has no partner. */
static bool put_quoted(struct shaper *shaper)
{
    const unsigned char opened = byte_at(shaper, shaper->at);

    if ((opened != '\'' && opened != '"' && opened != '`') || !begins_word(shaper))
        return false;
    for (size_t end = shaper->at + 1; end < shaper->line.length; end++) {
        const unsigned char byte = shaper->line.data[end];
        if (!closes(opened, byte) || is_wordly(byte_at(shaper, end + 1)))
            continue;
        put(shaper, &opened, 1);
        put_text(shaper, ELLIPSIS);
        put(shaper, &byte, 1);
        shaper->at = end + 1;
        return true;
    }
    return false;
}

static size_t word_end(const struct shaper *shaper)
{
    size_t end = shaper->at;

    while (end < shaper->line.length && !is_space(shaper->line.data[end]) &&
           !strchr("\"'`()[]{}<>,;=|", shaper->line.data[end]))
        end++;
    while (end > shaper->at && strchr(":.!?", shaper->line.data[end - 1]))
        end--;
    return end;
}

/* "and/or" and "I/O" are words; "/tmp", "src/main.c:3", "C:\x" and "http://x" are places. */
static bool is_place(struct bytes word)
{
    size_t slashes = 0;
    bool dotted = false;

    for (size_t i = 0; i < word.length; i++) {
        slashes += word.data[i] == '/' || word.data[i] == '\\';
        dotted = dotted || (word.data[i] == '.' && slashes > 0);
    }
    return slashes > 1 ||
           (slashes == 1 && (dotted || starts_with(word, "/") || starts_with(word, ".") ||
                             starts_with(word, "~") || (word.length > 2 && word.data[1] == ':')));
}

static bool put_place(struct shaper *shaper)
{
    if (!begins_word(shaper))
        return false;
    const size_t end = word_end(shaper);
    if (!is_place((struct bytes){shaper->line.data + shaper->at, end - shaper->at}))
        return false;
    put_text(shaper, "/" ELLIPSIS);
    shaper->at = end;
    return true;
}

static bool is_hex(unsigned char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static bool is_uuid_here(const struct shaper *shaper)
{
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        const unsigned char byte = byte_at(shaper, shaper->at + i);
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? byte != '-' : !is_hex(byte))
            return false;
    }
    return !is_wordly(byte_at(shaper, shaper->at + UUID_LENGTH));
}

/* 0x1f, or a digest: the length of it, or 0. */
static size_t hex_length(const struct shaper *shaper)
{
    const bool marked =
        byte_at(shaper, shaper->at) == '0' && byte_at(shaper, shaper->at + 1) == 'x';
    const size_t start = shaper->at + (marked ? 2 : 0);
    size_t length = 0, digits = 0;

    while (is_hex(byte_at(shaper, start + length)))
        digits += is_digit(byte_at(shaper, start + length++));
    if (is_wordly(byte_at(shaper, start + length)))
        return 0;
    if (marked)
        return length > 0 ? length + 2 : 0;
    return length >= HEX_MIN && digits > 0 ? length : 0;
}

/* 12, 1.5, 10.0.0.1: the length of it, or 0. */
static size_t number_length(const struct shaper *shaper)
{
    size_t length = 0;

    while (is_digit(byte_at(shaper, shaper->at + length)) ||
           (length > 0 && byte_at(shaper, shaper->at + length) == '.' &&
            is_digit(byte_at(shaper, shaper->at + length + 1))))
        length++;
    return length;
}

static bool put_number(struct shaper *shaper)
{
    size_t length = 0;

    if (begins_word(shaper))
        length = is_uuid_here(shaper) ? UUID_LENGTH : hex_length(shaper);
    if (length == 0)
        length = number_length(shaper);
    if (length == 0)
        return false;
    put_text(shaper, "#");
    shaper->at += length;
    return true;
}

static bool put_space(struct shaper *shaper)
{
    if (!is_space(byte_at(shaper, shaper->at)))
        return false;
    while (shaper->at < shaper->line.length && is_space(shaper->line.data[shaper->at]))
        shaper->at++;
    put_text(shaper, " ");
    return true;
}

static void put_character(struct shaper *shaper)
{
    const struct bytes rest = {shaper->line.data + shaper->at, shaper->line.length - shaper->at};
    const size_t length = text_character_length(rest);

    if (length == 0 || text_is_deceptive(text_code_point(rest)))
        put_text(shaper, "?");
    else
        put(shaper, rest.data, length);
    shaper->at += length > 0 ? length : 1;
}

void error_shape(struct bytes error, char shape_out[ERROR_SHAPE_SIZE])
{
    struct shaper shaper = {.line = choose_line(error), .out = shape_out};

    while (shaper.at < shaper.line.length && !shaper.is_full)
        if (!put_space(&shaper) && !put_quoted(&shaper) && !put_place(&shaper) &&
            !put_number(&shaper))
            put_character(&shaper);
    shape_out[shaper.length] = '\0';
}
