/*
 * finding.c - one thing that --check has to say.
 */
#include "precheck/finding.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/config.h"

#include <stdarg.h>
#include <stdio.h>

#define SENTENCE_MAX 2048

/* "handlers.x.cwd: sentence" */
static void add(const struct precheck *precheck, const char *const *keys, bool is_warning,
                const char *sentence)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER((size_t)2 * SENTENCE_MAX);
    struct diagnostics *diagnostics = precheck->diagnostics;

    for (const char *const *key = keys; *key; key++)
        buffer_printf(&text, "%s%s", key == keys ? "" : ".", *key);
    buffer_printf(&text, "%s%s", *keys ? ": " : "", sentence);
    diagnostics_add_text(diagnostics, config_place(diagnostics, keys), is_warning,
                         buffer_str(&text));
}

void finding_error(const struct precheck *precheck, const char *const *keys, const char *format,
                   ...)
{
    char sentence[SENTENCE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    add(precheck, keys, false, sentence);
}

void finding_warning(const struct precheck *precheck, const char *const *keys, const char *format,
                     ...)
{
    char sentence[SENTENCE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    add(precheck, keys, !precheck->strict, sentence);
}
