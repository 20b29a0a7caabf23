/*
 * reply.c - replies to values.
 */
#include "store/redis/net/reply.h"

#include "base/text.h"

int64_t redis_reply_int(const redisReply *reply)
{
    int64_t number = 0;

    if (reply->type == REDIS_REPLY_INTEGER)
        return reply->integer;
    return reply->type == REDIS_REPLY_STRING &&
                   text_to_int(reply->str, INT64_MIN, INT64_MAX, &number)
               ? number
               : 0;
}

struct bytes redis_reply_bytes(const redisReply *reply, struct arena *arena)
{
    return arena_bytes(arena, (struct bytes){(const unsigned char *)reply->str, reply->len});
}

bool redis_reply_uuid(const redisReply *reply, struct uuid *id_out)
{
    return reply->type == REDIS_REPLY_STRING && uuid_parse(reply->str, id_out);
}

void redis_reply_free(redisReply **reply)
{
    if (*reply)
        freeReplyObject(*reply);
    *reply = NULL;
}
