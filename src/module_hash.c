/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 with 128 bits of output, by Aumasson and Bernstein: quick, and well mixed. */
#include <string.h>

#include "module_internal.h"

struct module_sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t module_rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static void module_sip_rounds(struct module_sip *s, int rounds)
{
    while (rounds--) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = module_rotate(s->v1, 13) ^ s->v0;
        s->v3 = module_rotate(s->v3, 16) ^ s->v2;
        s->v0 = module_rotate(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = module_rotate(s->v1, 17) ^ s->v2;
        s->v3 = module_rotate(s->v3, 21) ^ s->v0;
        s->v2 = module_rotate(s->v2, 32);
    }
}

static uint64_t module_sip_word(const unsigned char *at, size_t bytes)
{
    uint64_t word = 0;
    while (bytes--)
        word = word << 8 | at[bytes];
    return word;
}

static void module_sip_take(struct module_sip *s, uint64_t word)
{
    s->v3 ^= word;
    module_sip_rounds(s, 2);
    s->v0 ^= word;
}

struct cushim_hash cushim_hash(const unsigned char key[16], const void *data, size_t bytes)
{
    const uint64_t k0 = module_sip_word(key, 8), k1 = module_sip_word(key + 8, 8);
    struct module_sip s = {UINT64_C(0x736f6d6570736575) ^ k0,
                           UINT64_C(0x646f72616e646f6d) ^ k1 ^ 0xee,
                           UINT64_C(0x6c7967656e657261) ^ k0, UINT64_C(0x7465646279746573) ^ k1};
    struct cushim_hash hash;
    const unsigned char *at = data;
    size_t left = bytes;
    for (; left >= 8; left -= 8, at += 8)
        module_sip_take(&s, module_sip_word(at, 8));
    module_sip_take(&s, module_sip_word(at, left) | (uint64_t)(bytes & 0xff) << 56);
    s.v2 ^= 0xee;
    module_sip_rounds(&s, 4);
    hash.low = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    s.v1 ^= 0xdd;
    module_sip_rounds(&s, 4);
    hash.high = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    return hash;
}
