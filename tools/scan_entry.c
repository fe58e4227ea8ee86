/* SPDX-License-Identifier: MIT */
#include "scan_entry.h"

#include "known.h"
#include "names.h"
#include "scan_names.h"

#include <string.h>

/* Names that do not mean the newest ABI of CUSHIM_CUDA_VERSION's release; the headers tell. */
static const struct {
    const char *name, *symbol;
} plain[] = {
    {"cuCtxCreate", NAMES_VALUE(cuCtxCreate)},
    {"cuDeviceGetUuid", NAMES_VALUE(cuDeviceGetUuid)},
    {"cuGraphInstantiate", NAMES_VALUE(cuGraphInstantiate)},
};

size_t scan_entry_find(int level, struct scan_word word)
{
    char name[KNOWN_NAME_SIZE];
    size_t index;

    if (word.length >= sizeof name || word.length < 3 || memcmp(word.text, "cu", 2) != 0)
        return KNOWN_NONE;
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    if (word.length > 3 && strcmp(name + word.length - 3, "_v1") == 0) {
        name[word.length - 3] = '\0';
        return known_symbol(name);
    }
    for (size_t i = 0; level == CUSHIM_CUDA_VERSION && i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(name, plain[i].name) == 0)
            return known_symbol(plain[i].symbol);
    }
    index = known_newest(name, CUSHIM_STREAM_LEGACY, level);
    return index != KNOWN_NONE ? index : known_symbol(name);
}

/* The macro of this file or of a header that makes an entry's name. */
static bool find_paste(const struct scan_guards *guards, struct scan_word word,
                       struct scan_paste *paste)
{
    const struct scan_paste *own = scan_paste_find(&guards->pastes, word);
    const struct scan_name *other = own ? NULL : scan_names_seeded(guards, word, SCAN_PASTED);

    if (!own && !other)
        return false;
    *paste = own ? *own : (struct scan_paste){.macro = word, .prefix = {"cu", 2}};
    if (other && other->release > 0) {
        paste->parameter = (size_t)other->release;
    } else if (other) {
        const char *symbol = known_entry((size_t)-other->release).symbol;
        paste->prefix = (struct scan_word){symbol, strlen(symbol)};
    }
    return true;
}

size_t scan_entry_named(const struct scan_guards *guards, int level, struct scan_word word)
{
    struct scan_paste paste;
    const size_t index = scan_entry_find(level, word);

    return index == KNOWN_NONE && find_paste(guards, word, &paste) && paste.parameter == 0
               ? scan_entry_find(level, paste.prefix)
               : index;
}

size_t scan_entry_argument(const struct scan_guards *guards, int level, struct scan_word macro,
                           struct scan_word argument)
{
    char name[KNOWN_NAME_SIZE];
    struct scan_paste paste;
    const size_t index = scan_entry_find(level, argument);

    return index == KNOWN_NONE && find_paste(guards, macro, &paste) && paste.parameter > 0 &&
                   scan_paste_join(&paste, argument, name, sizeof name)
               ? scan_entry_find(level, (struct scan_word){name, strlen(name)})
               : index;
}

size_t scan_entry_pasted(const struct scan_guards *guards, int level, const struct scan_text *in,
                         struct scan_word macro, struct scan_word *argument)
{
    char name[KNOWN_NAME_SIZE];
    struct scan_paste paste;

    return find_paste(guards, macro, &paste) &&
                   scan_paste_name(&paste, in, name, sizeof name, argument)
               ? scan_entry_find(level, (struct scan_word){name, strlen(name)})
               : KNOWN_NONE;
}
