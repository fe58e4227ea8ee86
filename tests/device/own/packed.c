/* SPDX-License-Identifier: MIT */
/* On a device: the functions of packed.h, of edges and of random words, against plain C. */
#include <math.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "../device.h"
#include "packed.h"
#include "packed_ptx.h"

enum { U, S };
enum { CUT, LIMIT, SUM };
enum { PAIRS = 2048 };

static const unsigned edges[] = {0,          0xffffffff, 0x80808080, 0x7f7f7f7f,
                                 0x80008000, 0x7fff7fff, 0x01010101, 0x00010001,
                                 0x807f01ff, 0xff017f80, 0x8000ffff, 0x00017fff};
enum { EDGES = sizeof edges / sizeof *edges };

static unsigned a[PAIRS], b[PAIRS];

static unsigned random_word(void)
{
    static unsigned state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static int number_in(unsigned word, int index, int bits, int sign)
{
    int range = 1 << bits, number = (int)(word >> index * bits) & (range - 1);
    return sign == S && number >= range / 2 ? number - range : number;
}

static int kept(int number, int bits, int sign, int kind)
{
    int least = sign == S ? -(1 << bits) / 2 : 0, most = least + (1 << bits) - 1;
    if (kind == LIMIT)
        return number < least ? least : number > most ? most : number;
    return number;
}

/* What plain C computes: each in a function of its own. */
#define PART(name, width, sign, kind, expression)                                                  \
    static unsigned name##_of(unsigned first, unsigned second)                                     \
    {                                                                                              \
        unsigned all = 0;                                                                          \
        for (int i = 0; i < 32 / width; i++) {                                                     \
            int x = number_in(first, i, width, sign), y = number_in(second, i, width, sign);       \
            unsigned part = (unsigned)kept(expression, width, sign, kind);                         \
            (void)y;                                                                               \
            if (kind == SUM)                                                                       \
                all += part;                                                                       \
            else                                                                                   \
                all |= (part & ((1u << width) - 1)) << i * width;                                  \
        }                                                                                          \
        return all;                                                                                \
    }
#define P(name, sign, kind, expression)                                                            \
    PART(name##2, 16, sign, kind, expression)                                                      \
    PART(name##4, 8, sign, kind, expression)
PACKED_PAIRS(P)
PACKED_ONES(P)
#undef P

static unsigned dot(unsigned first, unsigned second, int bits, int begin, int sign)
{
    unsigned sum = first ^ second;
    for (int i = 0; i < 32 / bits; i++)
        sum += (unsigned)number_in(first, i, bits, sign) *
               (unsigned)number_in(second, begin + i, 8, sign);
    return sum;
}

static const struct {
    const char *name;
    unsigned (*of)(unsigned first, unsigned second);
    int bits, begin, sign;
} functions[] = {
#define P(name, sign, kind, expression)                                                            \
    {#name "2", name##2_of, 0, 0, 0}, {#name "4", name##4_of, 0, 0, 0},
    PACKED_PAIRS(P) PACKED_ONES(P)
#define D(name, type, one, other, bits, begin)                                                     \
    {#name " of " #one, NULL, bits, begin, (type)-1 < (type)1 ? S : U},
        PACKED_DOTS(D)};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static int wrong_words(const struct cushim_api *cu, CUmodule module)
{
    static unsigned got[FUNCTIONS][PAIRS];
    struct cushim_launch launch = cushim_launch_1d(PAIRS, 256, NULL);
    CUfunction function = NULL;
    CUdeviceptr first = 0, second = 0, result = 0;
    int wrong = 0;
    for (int i = 0; i < PAIRS; i++) {
        a[i] = i < EDGES * EDGES ? edges[i / EDGES] : random_word();
        b[i] = i < EDGES * EDGES ? edges[i % EDGES] : random_word();
    }
    OK(cushim_module_function(cu, module, "packed", &function));
    OK(cushim_memory_alloc(cu, sizeof a, &first));
    OK(cushim_memory_alloc(cu, sizeof b, &second));
    OK(cushim_memory_alloc(cu, sizeof got, &result));
    OK(cushim_copy_to_device(cu, first, a, sizeof a));
    OK(cushim_copy_to_device(cu, second, b, sizeof b));
    OK(CUSHIM_LAUNCH(cu, function, &launch, first, second, result, (unsigned)PAIRS));
    OK(cushim_copy_to_host(cu, got, result, sizeof got));
    for (int k = 0; k < FUNCTIONS; k++) {
        for (int i = 0; i < PAIRS; i++) {
            unsigned wanted = functions[k].of ? functions[k].of(a[i], b[i])
                                              : dot(a[i], b[i], functions[k].bits,
                                                    functions[k].begin, functions[k].sign);
            if (got[k][i] == wanted)
                continue;
            printf("%s of %08x and %08x: %08x, not %08x\n", functions[k].name, a[i], b[i],
                   got[k][i], wanted);
            wrong++;
            break;
        }
    }
    OK(cushim_memory_free(cu, first));
    OK(cushim_memory_free(cu, second));
    OK(cushim_memory_free(cu, result));
    return wrong;
}

static int wrong_loads(const struct cushim_api *cu, CUmodule module)
{
    static const char *const names[] = {
#define T(type) #type,
        CACHED_TYPES(T)};
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 16, 16, 16, 16};
    enum { TYPES = sizeof names / sizeof *names };
    static unsigned char from[TYPES][LOADED], to[TYPES][LOADED], wanted[TYPES][LOADED];
    struct cushim_launch launch = cushim_launch_1d(1, 1, NULL);
    CUfunction function = NULL;
    CUdeviceptr x = 0, y = 0;
    int wrong = 0;
    CHECK(sizeof sizes / sizeof *sizes == TYPES);
    for (int i = 0; i < TYPES; i++) {
        for (int k = 0; k < LOADED; k++)
            from[i][k] = (unsigned char)random_word();
        memcpy(wanted[i], from[i], LOADS * sizes[i]);
    }
    OK(cushim_module_function(cu, module, "cached", &function));
    OK(cushim_memory_alloc(cu, sizeof from, &x));
    OK(cushim_memory_alloc(cu, sizeof to, &y));
    OK(cushim_copy_to_device(cu, x, from, sizeof from));
    OK(cushim_copy_to_device(cu, y, to, sizeof to));
    OK(CUSHIM_LAUNCH(cu, function, &launch, x, y));
    OK(cushim_copy_to_host(cu, to, y, sizeof to));
    for (int i = 0; i < TYPES; i++) {
        if (memcmp(to[i], wanted[i], LOADED) == 0)
            continue;
        printf("%s is not what was loaded\n", names[i]);
        wrong++;
    }
    OK(cushim_memory_free(cu, x));
    OK(cushim_memory_free(cu, y));
    return wrong;
}

int main(void)
{
    struct cushim_device_scope gpu;
    const struct cushim_api *cu = device_or_skip();
    CUmodule module = NULL;
    int major = 0, minor = 0;
    OK(cushim_device_enter(cu, 0, &gpu));
    CALL(cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    CALL(cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    if (major * 10 + minor < 61) {
        printf("skipped: the device is older than sm_61\n");
        OK(cushim_device_leave(&gpu));
        return 77;
    }
    OK(cushim_module_load(cu, packed_ptx, sizeof packed_ptx, NULL, NULL, &module));
    CHECK(wrong_words(cu, module) + wrong_loads(cu, module) == 0);
    OK(cushim_module_unload(cu, module));
    OK(cushim_device_leave(&gpu));
    printf("%d functions, every one right\n", FUNCTIONS);
    return 0;
}
