// SPDX-License-Identifier: MIT
// The owners of cushim.hpp: what they release, when they are moved, and what a failure throws or
// returns.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <cushim/cushim.hpp>

#include "fill_ptx.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s; %s\n", __FILE__, __LINE__, #condition,        \
                         cushim_last_error());                                                     \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

template <typename Owner> static void check_kind()
{
    static_assert(!std::is_copy_constructible<Owner>::value, "owners are not copied");
    static_assert(!std::is_copy_assignable<Owner>::value, "owners are not copied");
    static_assert(std::is_nothrow_move_constructible<Owner>::value, "owners are moved");
    static_assert(std::is_nothrow_move_assignable<Owner>::value, "owners are moved");
    Owner empty, other;
    CHECK(!empty);
    other = std::move(empty);
    CHECK(!other);
}

static std::size_t free_bytes(const struct cushim_api *cu)
{
    std::size_t now = 0, all = 0;
    CUSHIM_TRY(cu->cuMemGetInfo(&now, &all));
    return now;
}

static unsigned retained(const struct cushim_api *cu)
{
    struct cushim_primary primary = {};
    primary.size = sizeof primary;
    CUSHIM_TRY(cushim_primary_describe(cu, 0, &primary));
    return primary.retained;
}

static void devices(const struct cushim_api *cu)
{
    CUcontext now = nullptr;
    {
        cushim::device one(cu), two(std::move(one));
        CHECK(!one && two && two.table() == cu && retained(cu) == 1);
        CHECK(cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == two.context());
        one = std::move(two);
        CHECK(one && !two && retained(cu) == 1);
        CHECK(one.leave() == CUDA_SUCCESS && !one && retained(cu) == 0);
        CHECK(one.enter(cu) == CUDA_SUCCESS && one);
    }
    CHECK(retained(cu) == 0);
    CHECK(cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == nullptr);
    cushim::device none;
    CHECK(none.enter(cu, 99) == CUDA_ERROR_INVALID_DEVICE && !none);
    CHECK(std::strstr(none.message(), "device: 99"));
    try {
        cushim::device thrown(cu, 99);
        CHECK(false);
    } catch (const cushim::error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_DEVICE && std::strstr(error.what(), "99"));
    }
}

static void memories(const cushim::device &gpu)
{
    const std::size_t bytes = std::size_t(64) << 20, before = free_bytes(gpu.table());
    {
        cushim::memory one(gpu, bytes), two(std::move(one));
        CHECK(!one && one.bytes() == 0 && two.bytes() == bytes);
        CHECK(free_bytes(gpu.table()) < before);
        one = std::move(two);
        CHECK(one && !two);
        CHECK(one.create(gpu.table(), 4096) == CUDA_SUCCESS && one.bytes() == 4096);
        CHECK(one.try_copy_from(&before, 4097) == CUDA_ERROR_INVALID_VALUE);
        CHECK(one.reset() == CUDA_SUCCESS && !one && one.reset() == CUDA_SUCCESS);
        two = cushim::memory(gpu, 4096);
        CUdeviceptr given = two.release();
        CHECK(given && !two && cushim_memory_free(gpu.table(), given) == CUDA_SUCCESS);
    }
    CHECK(free_bytes(gpu.table()) >= before);
    std::vector<int> numbers(1000, 7), back(1000);
    cushim::memory(gpu, numbers).copy_to(back);
    CHECK(back == numbers);
    try {
        cushim::memory none(gpu, 0);
        CHECK(false);
    } catch (const cushim::error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_VALUE && std::strstr(error.what(), "bytes: 0"));
    }
    cushim::memory none;
    CHECK(none.create(nullptr, 4) == CUDA_ERROR_INVALID_VALUE && !none);
}

static void kernels(const cushim::device &gpu)
{
    const unsigned count = 1000;
    cushim::module code(gpu, fill_ptx, sizeof fill_ptx);
    cushim::memory numbers(gpu, count * sizeof(unsigned));
    std::vector<unsigned> back(count);
    cushim::launch(gpu, code.function("fill"), cushim_launch_1d(count, 128, nullptr),
                   numbers.address(), 5u, static_cast<unsigned long long>(count));
    numbers.copy_to(back);
    CHECK(back == std::vector<unsigned>(count, 5));
    try {
        code.function("flil");
        CHECK(false);
    } catch (const cushim::error &error) {
        CHECK(error.code() == CUDA_ERROR_NOT_FOUND && std::strstr(error.what(), "name: flil"));
    }
    cushim::module none;
    CHECK(none.load_file(gpu.table(), "/nowhere/a.ptx") == CUDA_ERROR_FILE_NOT_FOUND && !none);
    try {
        cushim::module thrown(gpu, "no PTX", 6);
        CHECK(false);
    } catch (const cushim::error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_IMAGE);
    }
    try { /* more threads than a block can have */
        cushim::launch(gpu, code.function("fill"), cushim_launch_1d(1 << 20, 1 << 20, nullptr),
                       numbers.address(), 5u, 1ull);
        CHECK(false);
    } catch (const cushim::error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_VALUE && std::strstr(error.what(), "block: "));
    }
}

struct stop {
};

static void graphs(const cushim::device &gpu)
{
    const struct cushim_api *cu = gpu.table();
    cushim::stream stream(gpu);
    cushim::event start(gpu), end(gpu);
    cushim::memory number(gpu, 4);
    unsigned value = 0;
    auto set = [&]() { return cushim_fill_32_async(cu, number.address(), 9, 1, stream.get()); };
    cushim::graph graph(gpu, stream, set);
    start.record(stream.get());
    graph.launch(stream);
    end.record(stream.get());
    end.synchronize();
    CHECK(end.since(start) >= 0);
    CHECK(number.try_copy_to(&value, 4) == CUDA_SUCCESS && value == 9);

    /* A capture that is given up, by a code or an exception: the stream works again. */
    auto fail = []() { return CUDA_ERROR_UNKNOWN; };
    CHECK(graph.capture(cu, stream.get(), fail) == CUDA_ERROR_UNKNOWN && graph);
    try {
        cushim::graph none(gpu, stream, []() -> CUresult { throw stop(); });
        CHECK(false);
    } catch (const stop &) {
    }
    stream.synchronize();
    CHECK(set() == CUDA_SUCCESS);
    stream.synchronize();
}

static void no_driver()
{
    struct cushim_options options = {};
    options.size = sizeof options;
    options.path = "/nowhere/libcuda.so.1";
    const struct cushim_api *cu = cushim_open(&options);
    CHECK(cu);
    try {
        cushim::device gpu(cu);
        CHECK(false);
    } catch (const cushim::error &error) {
        CHECK(error.code() == CUDA_ERROR_NO_DEVICE && std::strstr(error.what(), "/nowhere/"));
    }
    cushim::stream stream;
    cushim::event event;
    cushim::graph graph;
    CHECK(stream.create(cu) == CUDA_ERROR_NOT_INITIALIZED && !stream);
    CHECK(stream.create(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_synchronize() == CUDA_ERROR_INVALID_VALUE);
    CHECK(event.create(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(event.try_record(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(graph.try_launch(nullptr) == CUDA_ERROR_INVALID_VALUE);
    cushim_close(cu);
}

int main()
{
    check_kind<cushim::device>();
    check_kind<cushim::memory>();
    check_kind<cushim::module>();
    check_kind<cushim::stream>();
    check_kind<cushim::event>();
    check_kind<cushim::graph>();
    no_driver();
    const struct cushim_api *cu = cushim_load(nullptr);
    if (cushim_init(cu) != CUSHIM_OK) {
        std::printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    try {
        devices(cu);
        cushim::device gpu(cu);
        memories(gpu);
        kernels(gpu);
        graphs(gpu);
        CHECK(gpu.leave() == CUDA_SUCCESS);
    } catch (const cushim::error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
