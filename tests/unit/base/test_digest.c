#include "base/digest.h"
#include "suites.h"

#include <string.h>

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* FIPS 180-2, and RFC 4231 with its first key. */
START_TEST(digests_are_those_of_the_standards)
{
    struct digest digest, key = {{0}};
    char hex[DIGEST_HEX_SIZE];

    ck_assert(digest_of(bytes_of("abc"), &digest));
    ck_assert_str_eq(digest_hex(&digest, hex),
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    memset(key.bytes, 0x0b, 20); /* the rest of a key is zeros, as far as HMAC cares */
    ck_assert(digest_keyed(&key, bytes_of("Hi There"), &digest));
    ck_assert_str_eq(digest_hex(&digest, hex),
                     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}
END_TEST

START_TEST(digests_are_equal_only_if_every_byte_is)
{
    struct digest a, b;

    ck_assert(digest_of(bytes_of(""), &a));
    for (size_t i = 0; i < DIGEST_SIZE; i++) {
        b = a;
        ck_assert(digest_equal(&a, &b));
        b.bytes[i] ^= 1;
        ck_assert(!digest_equal(&a, &b));
    }
}
END_TEST

Suite *digest_suite(void)
{
    Suite *suite = suite_create("base/digest");
    TCase *tests = pure_case("digest");

    tcase_add_test(tests, digests_are_those_of_the_standards);
    tcase_add_test(tests, digests_are_equal_only_if_every_byte_is);
    suite_add_tcase(suite, tests);
    return suite;
}
