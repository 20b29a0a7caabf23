/*
 * replay.c - feeds files to a fuzz target, without libFuzzer: fuzz-json FILE...
 */
#include "base/cleanup.h"
#include "fuzz.h"

#include <stdio.h>

#define FILE_MAX ((size_t)1 << 20)

static bool replay(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    AUTO_FREE uint8_t *room = malloc(FILE_MAX);
    const size_t size = room ? fread(room, 1, FILE_MAX, file) : 0;
    const bool is_read = room && feof(file);
    fclose(file);
    if (!is_read)
        return false;

    /* Memory of exactly that size, so that the sanitizer sees a byte too far. */
    AUTO_FREE uint8_t *data = malloc(size > 0 ? size : 1);
    if (!data)
        return false;
    memcpy(data, room, size);
    LLVMFuzzerTestOneInput(data, size);
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!replay(argv[i])) {
            perror(argv[i]);
            return 1;
        }
    }
    printf("%d files\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
