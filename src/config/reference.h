/*
 * reference.h - every key with its default and its line of help, as a config.
 *
 * The result is itself a config that says nothing but the defaults: keys without a default, and
 * sections whose presence means something, are comments.
 */
#ifndef CONFIG_REFERENCE_H
#define CONFIG_REFERENCE_H

struct buffer;

/* `backend` NULL: the default one. */
void reference_add(struct buffer *out, const char *backend);

/* `text` as a value of a config: quoted if it must be, its dollars doubled. */
void reference_add_text(struct buffer *out, const char *text);

#endif
