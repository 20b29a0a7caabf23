/*
 * guesses.c - how many wrong tokens come from an address.
 *
 * Each address has one place, which it may share with others by chance: all who are there are
 * counted together. That costs them nothing but a 429 instead of a 401.
 */
#include "api/guesses.h"

#include <netinet/in.h>
#include <string.h>

#define UNIX_SOCKETS 1

static uint64_t bytes_of(const void *data, size_t length)
{
    uint64_t value = 0;

    memcpy(&value, data, length);
    return value;
}

/* Whoever has an IPv6 address has 2^64 of them: only the network counts. */
static uint64_t address_of(const struct sockaddr *peer)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)peer)->sin6_addr;

    if (peer->sa_family == AF_INET)
        return bytes_of(&((const struct sockaddr_in *)peer)->sin_addr, sizeof(struct in_addr));
    if (peer->sa_family != AF_INET6)
        return UNIX_SOCKETS;
    return IN6_IS_ADDR_V4MAPPED(six) ? bytes_of(six->s6_addr + 12, sizeof(struct in_addr))
                                     : bytes_of(six->s6_addr, sizeof(uint64_t));
}

/* Neighbours shall not meet: each bit of the address moves the highest ones of the product. */
static struct guess_place *place_of(struct guesses *guesses, uint64_t address)
{
    const uint64_t mixed = address * UINT64_C(0x9e3779b97f4a7c15);

    return &guesses->places[mixed >> (64 - GUESSES_BITS)];
}

bool guesses_add(struct guesses *guesses, const struct sockaddr *peer, usec_t now)
{
    struct guess_place *place = place_of(guesses, address_of(peer));

    if (place->count == 0 || now - place->since >= USEC_PER_SEC)
        *place = (struct guess_place){.since = now};
    if (place->count <= GUESSES_A_SECOND)
        place->count++;
    return place->count > GUESSES_A_SECOND;
}
