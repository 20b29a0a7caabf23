/*
 * whoami.c - who is at work here, for others to ask: user@host.
 */
#include "thctl/whoami.h"

#include "base/text.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PART_SIZE  128
#define ENTRY_SIZE 4096

static void find_user(char name[PART_SIZE])
{
    struct passwd entry, *found = NULL;
    char room[ENTRY_SIZE];

    if (getpwuid_r(getuid(), &entry, room, sizeof room, &found) == 0 && found)
        snprintf(name, PART_SIZE, "%s", found->pw_name);
    else
        snprintf(name, PART_SIZE, "%u", (unsigned)getuid());
}

const char *whoami(char text[STORE_BY_SIZE])
{
    char user[PART_SIZE], host[PART_SIZE] = "";

    find_user(user);
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "unknown");
    snprintf(text, STORE_BY_SIZE, "%s@%s", user, host);
    if (!text_is_utf8((struct bytes){(const unsigned char *)text, strlen(text)}))
        snprintf(text, STORE_BY_SIZE, "unknown");
    return text;
}
