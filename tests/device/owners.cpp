// SPDX-License-Identifier: MIT
// The owners of cushim.hpp: what they release, when they are moved, and what a failure throws or
// returns.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
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

/* How the sentence of the last failure begins. */
static bool said(const char *words)
{
    return std::strncmp(cushim_last_error(), words, std::strlen(words)) == 0;
}

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
        cushim::unique_device one(cu), two(std::move(one));
        CHECK(!one && two && two.table() == cu && retained(cu) == 1);
        CHECK(cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == two.context());
        one = std::move(two);
        CHECK(one && !two && retained(cu) == 1);
        CHECK(one.leave() == CUDA_SUCCESS && !one && retained(cu) == 0);
        CHECK(one.enter(cu) == CUDA_SUCCESS && one);
    }
    CHECK(retained(cu) == 0);
    CHECK(cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == nullptr);
    cushim::unique_device none;
    CHECK(none.enter(cu, 99) == CUDA_ERROR_INVALID_DEVICE && !none);
    CHECK(std::strstr(none.message(), "device is 99"));
    try {
        cushim::unique_device thrown(cu, 99);
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_DEVICE && std::strstr(error.what(), "99"));
    }
}

static void memories(const cushim::unique_device &gpu)
{
    const std::size_t bytes = std::size_t(64) << 20, before = free_bytes(gpu.table());
    {
        cushim::unique_memory<char> one(gpu, bytes), two(std::move(one));
        CHECK(!one && one.size() == 0 && two.size() == bytes);
        CHECK(free_bytes(gpu.table()) < before);
        one = std::move(two);
        CHECK(one && !two);
        CHECK(one.create(gpu.table(), 4096) == CUDA_SUCCESS && one.size() == 4096);
        CHECK(one.reset() == CUDA_SUCCESS && !one && one.reset() == CUDA_SUCCESS);
        two = cushim::unique_memory<char>(gpu, 4096);
        CUdeviceptr given = two.release();
        CHECK(given && !two && cushim_memory_free(gpu.table(), given) == CUDA_SUCCESS);
    }
    CHECK(free_bytes(gpu.table()) >= before);
    std::vector<int> numbers(1000, 7), back(1000);
    gpu.copy(back, cushim::unique_memory<int>(gpu, numbers));
    CHECK(back == numbers);
    const int few[] = {1, 2, 3};
    int again[3] = {};
    cushim::unique_memory<int> three(gpu, 3);
    gpu.copy(three, few);
    gpu.copy(again, three);
    CHECK(std::memcmp(few, again, sizeof few) == 0);
    try {
        cushim::unique_memory<int> none(gpu, 0);
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_VALUE &&
              std::strstr(error.what(), "bytes is 0; ask for at least 1"));
    }
    cushim::unique_memory<int> none;
    CHECK(none.create(nullptr, 4) == CUDA_ERROR_INVALID_VALUE && !none);
    CHECK(none.create(cushim::unique_device(), 4) == CUDA_ERROR_INVALID_VALUE && !none);
    CHECK(none.create(gpu, 4) == CUDA_SUCCESS && none.size() == 4);
}

/* A __constant__ variable, which the host fills, and what is said of one that is not there. */
static void variables(const cushim::unique_device &gpu)
{
    static const char ptx[] = ".version 3.2\n.target sm_20\n.address_size 64\n"
                              ".visible .const .align 4 .b8 weights[12];\n";
    cushim::unique_module code(gpu, ptx, sizeof ptx);
    cushim::unique_stream stream(gpu);
    const std::vector<float> numbers{1, 2, 3};
    std::vector<float> back(3);
    cushim::device_span<float> weights = code.global<float>("weights");
    CHECK(weights.address() && weights.size() == 3);
    stream.copy(weights, numbers);
    stream.copy(back, weights);
    stream.synchronize();
    CHECK(back == numbers);
    cushim::device_span<double> doubles;
    CHECK(code.try_global("weights", &doubles) == CUDA_ERROR_INVALID_VALUE && !doubles.size());
    try {
        code.global<float>("wieghts");
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_NOT_FOUND && std::strstr(error.what(), "wieghts: "));
    }
    CHECK(cushim::unique_module().try_global("weights", &weights) == CUDA_ERROR_INVALID_VALUE);
}

static void kernels(const cushim::unique_device &gpu)
{
    const unsigned count = 1000;
    cushim::unique_module code(gpu, fill_ptx, sizeof fill_ptx);
    cushim::unique_memory<unsigned> numbers(gpu, count);
    cushim::unique_stream stream(gpu);
    std::vector<unsigned> back(count);
    stream.launch(code.function("fill"), cushim_launch_1d(count, 128, nullptr), numbers, 5u,
                  static_cast<unsigned long long>(count));
    stream.copy(back, numbers);
    stream.synchronize();
    CHECK(back == std::vector<unsigned>(count, 5));
    try {
        code.function("flil");
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_NOT_FOUND && std::strstr(error.what(), "name: flil"));
    }
    try { /* what was moved from has nothing to copy */
        cushim::unique_memory<unsigned> moved(gpu, count), kept(std::move(moved));
        stream.copy(back, moved);
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_VALUE && std::strstr(error.what(), "empty"));
    }
    cushim::unique_module none;
    CHECK(none.load_file(gpu.table(), "/nowhere/a.ptx") == CUDA_ERROR_FILE_NOT_FOUND && !none);
    try {
        cushim::unique_module thrown(gpu, "no PTX", 6);
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_IMAGE);
    }
    try { /* more threads than a block can have */
        stream.launch(code.function("fill"), cushim_launch_1d(1 << 20, 1 << 20, nullptr), numbers,
                      5u, 1ull);
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_VALUE && std::strstr(error.what(), "block: "));
    }
}

struct stop {
};

static void graphs(const cushim::unique_device &gpu)
{
    const struct cushim_api *cu = gpu.table();
    cushim::unique_stream stream(gpu);
    cushim::unique_event start(gpu), end(gpu);
    cushim::unique_memory<unsigned> number(gpu, 1);
    unsigned value = 0;
    auto set = [&]() { return cushim_fill_32_async(cu, number.address(), 9, 1, stream.get()); };
    cushim::unique_graph graph(stream, set);
    stream.record(start);
    graph.launch(stream);
    end.record(stream.get());
    end.synchronize();
    CHECK(end.since(start) >= 0);
    gpu.copy(cushim::host_span<unsigned>(&value, 1), number);
    CHECK(value == 9);
    cushim::unique_graph again;
    CHECK(again.capture(cu, stream.get(), set) == CUDA_SUCCESS && !*cushim_last_error());

    /* A capture that is given up, by a code or an exception: the stream works again. */
    auto fail = []() { return CUDA_ERROR_UNKNOWN; };
    CHECK(graph.capture(cu, stream.get(), fail) == CUDA_ERROR_UNKNOWN && graph);
    try {
        cushim::unique_graph none(stream, []() -> CUresult { throw stop(); });
        CHECK(false);
    } catch (const stop &) {
    }
    stream.synchronize();
    CHECK(set() == CUDA_SUCCESS);
    stream.synchronize();

    /* Another stream has joined the capture, and is not waited for when the work fails. */
    cushim::unique_stream other(gpu);
    cushim::unique_event fork(gpu, CU_EVENT_DISABLE_TIMING);
    auto fail_in_other = [&](CUresult code) {
        stream.record(fork);
        other.wait(fork);
        other.fill(number, 3);
        return code;
    };
    CHECK(graph.capture(cu, stream.get(), [&]() { return fail_in_other(CUDA_ERROR_UNKNOWN); }) ==
          CUDA_ERROR_UNKNOWN);
    CHECK(said("graph: captured work: CUDA_ERROR_UNKNOWN (999)"));
    try {
        cushim::unique_graph none(stream, [&]() {
            fail_in_other(CUDA_SUCCESS);
            other.copy(number.part(1, 1), number);
        });
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_INVALID_VALUE &&
              std::strstr(error.what(), "stream: copy: a part") == error.what());
    }
    CHECK(graph.capture(cu, stream.get(), [&]() { fail_in_other(CUDA_SUCCESS); }) ==
          CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK(said("graph: cuStreamEndCapture: "));
    other.synchronize();
    stream.synchronize();
}

/* Copies, fills and waits in streams, of whole owners and of parts. */
static void copies(const cushim::unique_device &gpu)
{
    const std::size_t count = 1000;
    cushim::unique_stream stream(gpu), other(gpu, CU_STREAM_NON_BLOCKING, -1);
    cushim::unique_event filled(gpu, CU_EVENT_DISABLE_TIMING);
    cushim::unique_memory<short> one(gpu, count), two(gpu, count);
    cushim::unique_pinned<short> host(gpu, count);
    cushim::unique_memory<double> wide(gpu, std::vector<double>(3, 0.5));
    std::vector<double> three(3);
    for (short &number : host)
        number = 3;
    stream.copy(one, host);
    stream.fill(one.part(10, 5), static_cast<short>(7));
    stream.record(filled);
    other.wait(filled);
    other.copy(two, one);
    other.copy(host.part(0, 20), two.part(0, 20));
    other.copy(three, wide);
    other.synchronize();
    CHECK(host[9] == 3 && host[10] == 7 && host[14] == 7 && host[15] == 3 && three[2] == 0.5);
    CHECK(host.size() == count && host.end() == host.data() + count);

    /* What does not fit. */
    CHECK(stream.try_copy(one.part(0, 4), host.part(0, 5)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: copy of 5 elements to 4: "));
    CHECK(stream.try_copy(one.part(count, 1), host.part(0, 1)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_copy(one, host.part(count, 1)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_copy(one, two.part(1, static_cast<std::size_t>(-1))) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_copy(one, two.part(count, 1)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_fill(one.part(count, 1), short(0)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_copy(one.part(count, 0), host.part(count, 0)) == CUDA_SUCCESS);
    CHECK(one.create(gpu.table(), static_cast<std::size_t>(-1) / 2 + 1) ==
              CUDA_ERROR_INVALID_VALUE &&
          one.size() == count);
    CHECK(host.create(gpu.table(), static_cast<std::size_t>(-1)) == CUDA_ERROR_INVALID_VALUE);
}

/* The same elements for host, kernels and copies; freed after the work that uses them. */
static void managed(const cushim::unique_device &gpu)
{
    const std::size_t count = 1000;
    cushim::unique_stream stream(gpu);
    cushim::unique_module code(gpu, fill_ptx, sizeof fill_ptx);
    cushim::unique_managed<unsigned> numbers(gpu, count);
    std::vector<unsigned> copy(count);
    struct cushim_pointer facts = {};
    facts.size = sizeof facts;
    for (unsigned &number : numbers)
        number = 5;
    CHECK(numbers.size() == count && numbers.end() == numbers.data() + count);
    CHECK(cushim_pointer_describe(gpu.table(), numbers.address(), &facts) == CUDA_SUCCESS);
    CHECK(facts.managed);
    struct cushim_device_properties properties = {};
    properties.size = sizeof properties;
    CUSHIM_TRY(cushim_device_describe(gpu.table(), gpu.number(), &properties));
    if (properties.concurrent_managed_access == 1)
        numbers.prefetch(stream, gpu.number());
    stream.copy(copy, numbers);
    stream.fill(numbers.part(10, 5), 7u);
    stream.synchronize();
    CHECK(copy[0] == 5 && copy[999] == 5 && numbers[9] == 5 && numbers[10] == 7 &&
          numbers[14] == 7 && numbers[15] == 5);
    stream.launch(code.function("fill"), cushim_launch_1d(count, 256, nullptr), numbers, 3u,
                  static_cast<unsigned long long>(count));
    if (properties.concurrent_managed_access == 1)
        numbers.prefetch(stream, CU_DEVICE_CPU);
    stream.synchronize();
    CHECK(numbers[0] == 3 && numbers[999] == 3);

    cushim::unique_managed<unsigned> other(std::move(numbers));
    CHECK(!numbers && other && other.reset() == CUDA_SUCCESS && !other && !other.data());
    CHECK(other.try_prefetch(stream.get(), 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("managed: used while it is empty: "));
    CHECK(other.create(gpu.table(), static_cast<std::size_t>(-1)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(other.create(nullptr, 1) == CUDA_ERROR_INVALID_VALUE && said("managed: there is no"));
}

/* An empty owner is refused with its name; the default stream is not taken for it. */
static void empty_owners()
{
    cushim::unique_stream stream;
    cushim::unique_event event;
    cushim::unique_graph graph;
    cushim::unique_pool pool;
    cushim::unique_stream_memory<int> memory;
    CHECK(stream.try_synchronize() == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: used while it is empty: "));
    CHECK(stream.try_wait(event) == CUDA_ERROR_INVALID_VALUE);
    CHECK(event.try_synchronize() == CUDA_ERROR_INVALID_VALUE && said("event: used"));
    CHECK(graph.try_launch(nullptr) == CUDA_ERROR_INVALID_VALUE && said("graph: used"));
    CHECK(pool.try_trim() == CUDA_ERROR_INVALID_VALUE && said("pool: used"));
    CHECK(memory.create(stream, 4) == CUDA_ERROR_INVALID_VALUE && said("stream memory: an empty"));
}

/* What was moved from is refused by all that take it, and a NULL that is meant is not. */
static void moved_from(const cushim::unique_device &gpu)
{
    const std::size_t count = 100;
    const struct cushim_launch how = cushim_launch_1d(count, 128, nullptr);
    const unsigned long long none = 0;
    cushim::unique_module code(gpu, fill_ptx, sizeof fill_ptx);
    cushim::unique_stream stream(gpu);
    CUfunction fill = code.function("fill");
    cushim::unique_memory<unsigned> left(gpu, count), memory(std::move(left));
    cushim::unique_pinned<unsigned> host_left(gpu, count), host(std::move(host_left));
    CHECK(stream.try_launch(fill, how, left, 5u, none) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: launch: argument number 1 is empty memory; pass CUdeviceptr() for NULL: "));
    CHECK(stream.try_launch(fill, how, memory.part(count, 1), 5u, none) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_launch(fill, how, CUdeviceptr(), 5u, none) == CUDA_SUCCESS);
    CHECK(stream.try_fill(left, 1u) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: fill: an owner that is empty: "));
    CHECK(stream.try_fill(memory.part(1, 0), 1u) == CUDA_SUCCESS);
    CHECK(stream.try_copy(memory, left) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: copy: from an owner that is empty: "));
    CHECK(stream.try_copy(memory, host_left) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: copy: from an owner that is empty: "));
    CHECK(gpu.try_copy(memory, host_left) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("device: copy: from an owner that is empty: "));
    CHECK(stream.try_copy(left, host) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: copy: to an owner that is empty: "));
    CHECK(stream.try_copy(host_left, memory) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("stream: copy: to an owner that is empty: "));
    CHECK(stream.try_copy(left, host_left) == CUDA_SUCCESS); /* nothing to nothing */
    stream.synchronize();

    cushim::unique_stream stream_left(gpu), kept(std::move(stream_left));
    cushim::unique_event event_left(gpu), event(std::move(event_left));
    float milliseconds = 0;
    CHECK(event.try_since(event_left, &milliseconds) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("event: since: the start is empty: "));
    CHECK(event_left.try_since(event, &milliseconds) == CUDA_ERROR_INVALID_VALUE);
    CHECK(said("event: used while it is empty: "));
    CHECK(stream.try_record(event_left) == CUDA_ERROR_INVALID_VALUE && said("event: used"));
    CHECK(stream_left.try_launch(fill, how, memory, 5u, none) == CUDA_ERROR_INVALID_VALUE);
    auto refused = [](const std::function<void()> &work, const char *words) {
        try {
            work();
        } catch (const cushim::call_error &error) {
            return error.code() == CUDA_ERROR_INVALID_VALUE && std::strstr(error.what(), words);
        }
        return false;
    };
    CHECK(refused([&] { cushim::unique_graph(stream_left, [] {}); }, "graph: an empty stream: "));
    CHECK(refused([&] { cushim::unique_stream_memory<int>(stream_left, 1); },
                  "stream memory: an empty stream: "));
    cushim::unique_pool pool;
    CHECK(refused([&] { cushim::unique_stream_memory<int>(stream, 1, pool); },
                  "stream memory: an empty pool: "));
    cushim::unique_managed<int> managed;
    CHECK(
        refused([&] { managed.prefetch(stream_left, 0); }, "managed: prefetch: an empty stream: "));
    if (cushim_has(gpu.table(), "cuGraphLaunch") && cushim_has(gpu.table(), "cuGraphDestroy")) {
        cushim::unique_graph graph(stream, [&] { stream.fill(memory, 7u); });
        CHECK(refused([&] { graph.launch(stream_left); }, "graph: launch: an empty stream: "));
    }
}

/* A table whose functions that destroy tell whether the queued work is done when they return. */
static const struct cushim_api *real;
static struct cushim_api watched;
static std::atomic<bool> done;
static bool early;

template <typename Call, typename... Arguments>
static CUresult watch(Call call, Arguments... arguments)
{
    const CUresult code = call(arguments...);
    early = early || !done;
    return code;
}

static void watch_all(const struct cushim_api *cu)
{
    real = cu;
    watched = *cu;
    watched.cuMemFree_v2 = [](CUdeviceptr memory) { return watch(real->cuMemFree_v2, memory); };
    watched.cuMemFreeHost = [](void *memory) { return watch(real->cuMemFreeHost, memory); };
    watched.cuModuleUnload = [](CUmodule code) { return watch(real->cuModuleUnload, code); };
    watched.cuGraphExecDestroy = [](CUgraphExec exec) {
        return watch(real->cuGraphExecDestroy, exec);
    };
    if (cushim_has(cu, "cuMemFreeAsync"))
        watched.cuMemFreeAsync = [](CUdeviceptr memory, CUstream stream) {
            return watch(real->cuMemFreeAsync, memory, stream);
        };
}

static void take_a_while(void *)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    done = true;
}

/* Each owner is destroyed while work that uses it is queued behind a function of the host that
 * takes a while. The driver waits, keeps it, or frees it in the order of its stream. */
static void queued(const cushim::unique_device &gpu)
{
    const struct cushim_api *cu = gpu.table();
    watch_all(cu);
    cushim::unique_stream stream, other;
    CUSHIM_TRY(stream.create(&watched));
    CUSHIM_TRY(other.create(&watched));
    auto busy = [&]() {
        done = early = false;
        CUSHIM_TRY(cushim_stream_callback(cu, stream.get(), take_a_while, nullptr));
    };
    cushim::unique_memory<unsigned> target(gpu, 100);
    {
        cushim::unique_memory<unsigned> source;
        CUSHIM_TRY(source.create(&watched, 100));
        busy();
        stream.copy(target, source);
    }
    CHECK(done && !early);
    {
        cushim::unique_pinned<unsigned> source;
        CUSHIM_TRY(source.create(&watched, 100));
        busy();
        stream.copy(target, source);
    }
    CHECK(done && !early);
    {
        cushim::unique_module code;
        CUSHIM_TRY(code.load(&watched, fill_ptx, sizeof fill_ptx));
        busy();
        stream.launch(code.function("fill"), cushim_launch_1d(100, 100, nullptr), target, 5u,
                      100ull);
    }
    CHECK(done && !early);
    {
        cushim::unique_graph graph(stream, [&]() { stream.fill(target, 6); });
        busy();
        graph.launch(stream);
    }
    std::vector<unsigned> back(100);
    stream.copy(back, target);
    stream.synchronize();
    CHECK(done && back == std::vector<unsigned>(100, 6));
    int pools = 0;
    if (cushim_driver_version(cu) >= 11020)
        CUSHIM_TRY(cu->cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                            gpu.number()));
    {
        cushim::unique_stream_memory<unsigned> own(stream, 100);
        busy();
        stream.fill(own, 8);
        stream.copy(target, own);
    }
    CHECK(early == (pools != 0)); /* it was freed without a wait, after the copy */
    stream.synchronize();
    {
        cushim::unique_stream_memory<unsigned> elsewhere(other, 100);
        other.synchronize();
        busy();
        stream.fill(elsewhere.part(0, 100), 9);
        stream.copy(target, elsewhere.part(0, 100));
    }
    CHECK(done && !early); /* its own stream does not know of that work */
    gpu.copy(back, target);
    CHECK(back == std::vector<unsigned>(100, 9));
    if (!pools) {
        cushim::unique_pool none;
        CHECK(none.create(cu) != CUDA_SUCCESS && said("pool: cuMemPoolCreate"));
        return;
    }
    cushim::unique_pool pool(gpu);
    pool.keep(1 << 20);
    {
        cushim::unique_stream_memory<unsigned> part(stream, 100, pool), moved(std::move(part));
        struct cushim_pointer pointer = {};
        pointer.size = sizeof pointer;
        CUSHIM_TRY(cushim_pointer_describe(cu, moved.get(), &pointer));
        CHECK(!part && part.size() == 0 && moved.size() == 100);
        CHECK(!pointer.pool || pointer.pool == pool.get());
        stream.fill(moved, 1);
    }
    stream.synchronize();
    pool.trim();
}

/* During a capture owners are destroyed, by its thread and by another, and it goes on. Drivers
 * before CUDA 10.1 do not allow that: the owner keeps what it has. */
static void captured(const cushim::unique_device &gpu)
{
    const struct cushim_api *cu = gpu.table();
    const bool safe = CUSHIM_HAS(cu, cuThreadExchangeStreamCaptureMode);
    cushim::unique_stream stream(gpu);
    cushim::unique_memory<unsigned> memory(gpu, 4), mine(gpu, 4), other(gpu, 4);
    cushim::unique_pinned<unsigned> pinned(gpu, 4);
    cushim::unique_module code(gpu, fill_ptx, sizeof fill_ptx);
    cushim::unique_graph graph, before(stream, [&]() { stream.fill(memory, 1); });
    CUresult codes[5] = {CUDA_SUCCESS};

    const CUresult done = graph.capture(stream, [&]() {
        stream.fill(memory, 7);
        codes[0] = mine.reset();
        std::thread([&]() {
            codes[1] = other.reset();
            codes[2] = pinned.reset();
            codes[3] = code.reset();
            codes[4] = before.reset();
        }).join();
        return stream.try_fill(memory, 8);
    });
    for (const CUresult each : codes)
        CHECK(!safe || each == CUDA_SUCCESS);
    CHECK((codes[0] == CUDA_SUCCESS) == !mine && (codes[1] == CUDA_SUCCESS) == !other);
    CHECK(!safe || done == CUDA_SUCCESS);
    if (graph) {
        unsigned numbers[4] = {0};
        graph.launch(stream);
        stream.copy(numbers, memory);
        stream.synchronize();
        CHECK(numbers[3] == 8);
    }
    CHECK(graph.capture(
              stream, []() {}, CU_STREAM_CAPTURE_MODE_RELAXED) ==
          (safe ? CUDA_SUCCESS : CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER));
    CHECK(mine.reset() == CUDA_SUCCESS && other.reset() == CUDA_SUCCESS);
}

/* Owners may move to another thread and be destroyed there, where no context is current. */
static void threads(const cushim::unique_device &gpu)
{
    const struct cushim_api *cu = gpu.table();
    cushim::unique_stream stream(gpu);
    cushim::unique_event event(gpu);
    cushim::unique_memory<unsigned> memory(gpu, 100);
    cushim::unique_pinned<unsigned> pinned(gpu, 100);
    cushim::unique_stream_memory<unsigned> part(stream, 100);
    cushim::unique_module code(gpu, fill_ptx, sizeof fill_ptx);
    cushim::unique_graph graph(stream, [&]() { stream.fill(memory, 6); });
    std::thread([&]() {
        CUcontext now = nullptr;
        CHECK(cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && !now);
        {
            cushim::unique_device mine(cu, gpu.number());
            CHECK(mine.context() == gpu.context());
            graph.launch(stream);
            stream.copy(pinned, memory);
            mine.synchronize();
            CHECK(pinned[99] == 6);
        }
        CHECK(graph.reset() == CUDA_SUCCESS && code.reset() == CUDA_SUCCESS);
        CHECK(part.reset() == CUDA_SUCCESS && pinned.reset() == CUDA_SUCCESS);
        CHECK(memory.reset() == CUDA_SUCCESS && event.reset() == CUDA_SUCCESS);
        cushim::unique_stream moved(std::move(stream));
        CHECK(moved.reset() == CUDA_SUCCESS);
        CHECK(cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && !now);
    }).join();
    CHECK(!stream && !memory);
}

/* The driver does not tell in which context memory was made: it is freed in the current one. */
static void unknown_context(const cushim::unique_device &gpu)
{
    const std::size_t bytes = std::size_t(64) << 20, before = free_bytes(gpu.table());
    watched = *gpu.table();
    watched.cuCtxGetCurrent = [](CUcontext *) { return CUDA_ERROR_UNKNOWN; };
    cushim::unique_memory<char> memory;
    CHECK(memory.create(&watched, bytes) == CUDA_SUCCESS);
    CHECK(free_bytes(gpu.table()) < before);
    memory.reset();
    CHECK(!memory && free_bytes(gpu.table()) >= before);
}

/* What is destroyed after its device was left went with the context. */
static void too_late(const struct cushim_api *cu)
{
    cushim::unique_device gpu(cu);
    cushim::unique_memory<int> memory(gpu, 10);
    CHECK(gpu.leave() == CUDA_SUCCESS);
    CHECK(memory.reset() == CUDA_SUCCESS && !memory);
}

static void no_driver()
{
    struct cushim_options options = {};
    options.size = sizeof options;
    options.path = "/nowhere/libcuda.so.1";
    const struct cushim_api *cu = cushim_open(&options);
    CHECK(cu);
    try {
        cushim::unique_device gpu(cu);
        CHECK(false);
    } catch (const cushim::call_error &error) {
        CHECK(error.code() == CUDA_ERROR_NO_DEVICE && std::strstr(error.what(), "/nowhere/"));
    }
    cushim::unique_stream stream;
    cushim::unique_event event;
    cushim::unique_graph graph;
    CHECK(stream.create(cu) == CUDA_ERROR_NOT_INITIALIZED && !stream);
    CHECK(said("stream: cuStreamCreateWithPriority is not available"));
    CHECK(stream.create(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(stream.try_synchronize() == CUDA_ERROR_INVALID_VALUE);
    CHECK(event.create(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(event.try_record(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(graph.try_launch(nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(graph.capture(stream, []() {}) == CUDA_ERROR_INVALID_VALUE && said("graph: an empty"));
    cushim_close(cu);
}

/* With an argument: all but what is left to the end of a context. */
int main(int argc, char **)
{
    check_kind<cushim::unique_device>();
    check_kind<cushim::unique_memory<int>>();
    check_kind<cushim::unique_stream_memory<int>>();
    check_kind<cushim::unique_pinned<int>>();
    check_kind<cushim::unique_managed<int>>();
    check_kind<cushim::unique_pool>();
    check_kind<cushim::unique_module>();
    check_kind<cushim::unique_stream>();
    check_kind<cushim::unique_event>();
    check_kind<cushim::unique_graph>();
    no_driver();
    const struct cushim_api *cu = cushim_load(nullptr);
    if (cushim_init(cu) != CUSHIM_OK) {
        std::printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    try {
        devices(cu);
        cushim::unique_device gpu(cu);
        memories(gpu);
        variables(gpu);
        kernels(gpu);
        copies(gpu);
        managed(gpu);
        empty_owners();
        moved_from(gpu);
        unknown_context(gpu);
        if (cushim_driver_version(cu) >= 10000) { /* there are graphs */
            graphs(gpu);
            queued(gpu);
            captured(gpu);
            threads(gpu);
        } else {
            cushim::unique_stream stream(gpu);
            cushim::unique_graph none;
            CHECK(none.capture(cu, stream.get(), []() {}) == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
            CHECK(!none && said("cushim_capture_begin: cuStreamBeginCapture"));
        }
        CHECK(gpu.leave() == CUDA_SUCCESS);
        if (argc == 1)
            too_late(cu);
    } catch (const cushim::call_error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
