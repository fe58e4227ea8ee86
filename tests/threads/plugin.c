/* SPDX-License-Identifier: MIT */
/* A plugin with a copy of cushim of its own: it loads as it is constructed, and when called. */
#include <stdatomic.h>

#include <cushim/cushim.h>

__attribute__((visibility("default"))) const struct cushim_api *plugin_use(const char *path);

/* Atomic for ThreadSanitizer, which does not see that the constructor comes first. */
static _Atomic(const struct cushim_api *) loaded;

__attribute__((constructor)) static void construct(void)
{
    loaded = cushim_load(NULL);
}

const struct cushim_api *plugin_use(const char *path)
{
    struct cushim_options options = {.size = sizeof options, .path = path};
    const struct cushim_api *own = cushim_open(&options);
    bool good = own && *cushim_message(own) && cushim_init(loaded) == cushim_status(loaded) &&
                cushim_load(NULL) == loaded;
    cushim_close_unload(own); /* of a driver that nobody else has, this is the last reference */
    return good ? loaded : NULL;
}
