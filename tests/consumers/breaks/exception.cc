// SPDX-License-Identifier: MIT
// An exception out of a callback ends that load and nothing else. Options as a temporary (C++20).
#include <cstdio>
#include <stdexcept>

#include "cushim.h"

static void log_throws(void *, enum cushim_log_level, const char *)
{
    throw std::runtime_error("log");
}

static void *resolver_throws(void *, const char *)
{
    throw std::runtime_error("resolver");
}

template <typename Function> static int caught(Function function)
{
    try {
        function();
    } catch (const std::runtime_error &) {
        return 1;
    }
    return 0;
}

int main()
{
    int count = 0;
    struct cushim_options log = {};
    log.size = sizeof log;
    log.log = log_throws;
    struct cushim_options resolver = {};
    resolver.size = sizeof resolver;
    resolver.resolver = resolver_throws;
    for (int i = 0; i < 20; i++) { // more often than loads may be within each other
        count += caught([&] { cushim_load(&log); });
        count += caught([&] { cushim_open(&log); });
        count += caught([&] { cushim_open(&resolver); });
    }
#if __cplusplus >= 202002L
    const cushim_options options{.size = sizeof(cushim_options), .path = "/nonexistent"};
    const struct cushim_api *cu = cushim_open(&options);
#else
    const struct cushim_api *cu = cushim_open(nullptr);
#endif
    std::printf("caught %d\nopened %s\n", count, cu ? "yes" : "no");
    cushim_close(cu);
    std::printf("loaded %s\n", cushim_status_name(cushim_status(cushim_load(nullptr))));
    return 0;
}
