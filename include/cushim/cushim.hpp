// SPDX-License-Identifier: MIT
/**
 * @file
 * Owners for C++: a device in use, memory, modules, streams, events and graphs, released when they
 * go out of scope. C++11, header only, over the C helpers and the table.
 *
 *     cushim::device gpu(cushim_load(nullptr));
 *     cushim::module code(gpu, ptx, sizeof ptx);
 *     cushim::memory numbers(gpu, bytes);
 *     numbers.copy_from(host);
 *     cushim::launch(gpu, code.function("scale"), cushim_launch_1d(count, 256, nullptr),
 *                    numbers.address(), 2.0f);
 *     numbers.copy_to(host);
 *
 * Exceptions or codes, as the caller chooses. A constructor and a function that returns no CUresult
 * throw cushim::error. For each there is one that returns the CUresult and throws nothing (create,
 * enter, load, try_...); with exceptions turned off only those are declared. An output is written
 * on success only, and cushim_last_error() has the sentence.
 *
 * Every owner can be moved and not copied. One that is empty (default-made, moved from, released)
 * may be destroyed and assigned to. get() is the driver's plain handle, release() gives it up,
 * reset() destroys it now and returns the code, which a destructor ignores.
 *
 * Threads: one at a time for each object. Since: 0.1.
 */
#ifndef CUSHIM_CUSHIM_HPP
#define CUSHIM_CUSHIM_HPP

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <cushim/cushim.h>

/* The cushim.h of the two files holds all of these. */
#ifndef CUSHIM_DEVICE_H
#include <cushim/device.h>
#endif
#ifndef CUSHIM_ERROR_H
#include <cushim/error.h>
#endif
#ifndef CUSHIM_LAUNCH_H
#include <cushim/launch.h>
#endif
#ifndef CUSHIM_MEMORY_H
#include <cushim/memory.h>
#endif
#ifndef CUSHIM_MODULE_H
#include <cushim/module.h>
#endif
#ifndef CUSHIM_STREAM_H
#include <cushim/stream.h>
#endif

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
/** Whether the program has exceptions, and so what throws is declared. */
#define CUSHIM_EXCEPTIONS 1
#include <stdexcept>
#else
#define CUSHIM_EXCEPTIONS 0
#endif

namespace cushim
{

#if CUSHIM_EXCEPTIONS

/** A call that failed: its code, and the sentence as what(). */
class error : public std::runtime_error
{
  public:
    /** A failure with this code and this sentence. */
    error(CUresult code, const char *message) : std::runtime_error(message), code_(code)
    {
    }
    /** What the call returned. */
    CUresult code() const noexcept
    {
        return code_;
    }

  private:
    CUresult code_;
};

/** Throw cushim::error unless the code is CUDA_SUCCESS. `call` is its source. See CUSHIM_TRY. */
inline void check(CUresult code, const char *call)
{
    struct cushim_outcome outcome = {CUDA_SUCCESS, ""};
    if (!cushim_outcome_keep(&outcome, code, call))
        throw error(code, outcome.message);
}

/** Evaluate a call of the table or of a helper, and throw cushim::error if it fails. */
#define CUSHIM_TRY(call) (cushim_last_error_clear(), ::cushim::check((call), #call))

#endif

/**
 * A device in use: the driver is initialised, the device's primary context is retained and current
 * on this thread, until leave() or the destructor. See cushim_device_enter. Not to be destroyed on
 * another thread, nor before what was made in it.
 */
class device
{
  public:
    /** No device is in use. */
    device() noexcept
    {
        clear();
    }
#if CUSHIM_EXCEPTIONS
    /** Begin to use a device, or throw. */
    explicit device(const struct cushim_api *cu, CUdevice number = 0)
    {
        clear();
        if (enter(cu, number) != CUDA_SUCCESS)
            throw error(scope_.outcome.code, scope_.outcome.message);
    }
#endif
    /** Take over the use; the other one is empty then. */
    device(device &&other) noexcept : scope_(other.scope_)
    {
        other.scope_.cu = nullptr;
    }
    /** Leave the device in use, and take over the other use. */
    device &operator=(device &&other) noexcept
    {
        if (this != &other) {
            leave();
            scope_ = other.scope_;
            other.scope_.cu = nullptr;
        }
        return *this;
    }
    device(const device &) = delete;
    device &operator=(const device &) = delete;
    ~device()
    {
        leave();
    }

    /** Leave the device in use, if any, and begin to use another one (cushim_device_enter). */
    CUresult enter(const struct cushim_api *cu, CUdevice number = 0) noexcept
    {
        leave();
        clear();
        return cushim_device_enter(cu, number, &scope_);
    }
    /** The code of the first failure since enter(); message() is its sentence. */
    CUresult leave() noexcept
    {
        return cushim_device_leave(&scope_);
    }

    /** The table; NULL if no device is in use. */
    const struct cushim_api *table() const noexcept
    {
        return scope_.cu;
    }
    /** The primary context of the device. */
    CUcontext context() const noexcept
    {
        return scope_.context;
    }
    /** The device that is in use. */
    CUdevice number() const noexcept
    {
        return scope_.device;
    }
    /** The sentence of the first failure; empty if nothing failed. */
    const char *message() const noexcept
    {
        return scope_.outcome.message;
    }
    /** For CUSHIM_KEEP: the first failure of all. */
    struct cushim_outcome *outcome() noexcept
    {
        return &scope_.outcome;
    }
    /** Whether a device is in use. */
    explicit operator bool() const noexcept
    {
        return scope_.cu != nullptr;
    }

  private:
    void clear() noexcept
    {
        scope_ = cushim_device_scope();
        scope_.size = sizeof scope_;
    }
    struct cushim_device_scope scope_;
};

namespace detail
{

/* What all owners share. Traits::destroy(cu, handle) destroys a handle that is not 0. */
template <typename Traits> class owner
{
  public:
    typedef typename Traits::handle handle;

    owner() noexcept : cu_(nullptr), handle_()
    {
    }
    owner(owner &&other) noexcept : cu_(other.cu_), handle_(other.release())
    {
    }
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            reset();
            cu_ = other.cu_;
            handle_ = other.release();
        }
        return *this;
    }
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    ~owner()
    {
        reset();
    }

    handle get() const noexcept
    {
        return handle_;
    }
    const struct cushim_api *table() const noexcept
    {
        return cu_;
    }
    explicit operator bool() const noexcept
    {
        return handle_ != handle();
    }

    handle release() noexcept
    {
        handle given = handle_;
        handle_ = handle();
        return given;
    }
    CUresult reset() noexcept
    {
        handle given = release();
        return given == handle() ? CUDA_SUCCESS : Traits::destroy(cu_, given);
    }

  protected:
    /* Take a handle that was just made, in the place of the one before. */
    CUresult adopt(const struct cushim_api *cu, CUresult code, handle made) noexcept
    {
        if (code != CUDA_SUCCESS)
            return code;
        reset();
        cu_ = cu;
        handle_ = made;
        return code;
    }

  private:
    const struct cushim_api *cu_;
    handle handle_;
};

/* The helpers refuse a table of NULL. Before a call through the table this does. */
inline CUresult require(const struct cushim_api *cu) noexcept
{
    return cu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct memory_traits {
    typedef CUdeviceptr handle;
    static CUresult destroy(const struct cushim_api *cu, CUdeviceptr address) noexcept
    {
        return cushim_memory_free(cu, address);
    }
};
struct module_traits {
    typedef CUmodule handle;
    static CUresult destroy(const struct cushim_api *cu, CUmodule module) noexcept
    {
        return cushim_module_unload(cu, module);
    }
};
struct stream_traits {
    typedef CUstream handle;
    static CUresult destroy(const struct cushim_api *cu, CUstream stream) noexcept
    {
        return cu->cuStreamDestroy(stream);
    }
};
struct event_traits {
    typedef CUevent handle;
    static CUresult destroy(const struct cushim_api *cu, CUevent event) noexcept
    {
        return cu->cuEventDestroy(event);
    }
};
struct graph_traits {
    typedef CUgraphExec handle;
    static CUresult destroy(const struct cushim_api *cu, CUgraphExec exec) noexcept
    {
        return cu->cuGraphExecDestroy(exec);
    }
};

} // namespace detail

/** Device memory. Sizes are in bytes, but for vectors. */
class memory : public detail::owner<detail::memory_traits>
{
  public:
    /** No block. */
    memory() noexcept : bytes_(0)
    {
    }
    /** Take over the block; the other one is empty then. */
    memory(memory &&other) noexcept = default;
    /** Free the block, and take over the other one. */
    memory &operator=(memory &&other) noexcept = default;

    /** Allocate a block (cushim_memory_alloc), and free the one before. */
    CUresult create(const struct cushim_api *cu, std::size_t bytes) noexcept
    {
        CUdeviceptr made = 0;
        CUresult code = cushim_memory_alloc(cu, bytes, &made);
        if (code == CUDA_SUCCESS)
            bytes_ = bytes;
        return adopt(cu, code, made);
    }
    /** Address of the block; 0 if there is none. */
    CUdeviceptr address() const noexcept
    {
        return get();
    }
    /** Size of the block in bytes; 0 if there is none. */
    std::size_t bytes() const noexcept
    {
        return *this ? bytes_ : 0;
    }

    /** Copy from the host. More bytes than there are is CUDA_ERROR_INVALID_VALUE. */
    CUresult try_copy_from(const void *host, std::size_t bytes) noexcept
    {
        return fits(bytes) ? cushim_copy_to_device(table(), get(), host, bytes)
                           : CUDA_ERROR_INVALID_VALUE;
    }
    /** Copy to the host. More bytes than there are is CUDA_ERROR_INVALID_VALUE. */
    CUresult try_copy_to(void *host, std::size_t bytes) const noexcept
    {
        return fits(bytes) ? cushim_copy_to_host(table(), host, get(), bytes)
                           : CUDA_ERROR_INVALID_VALUE;
    }
#if CUSHIM_EXCEPTIONS
    /** Allocate a block, or throw. */
    memory(const struct cushim_api *cu, std::size_t bytes) : bytes_(0)
    {
        CUSHIM_TRY(create(cu, bytes));
    }
    /** Allocate a block, or throw. */
    memory(const device &gpu, std::size_t bytes) : memory(gpu.table(), bytes)
    {
    }
    /** Memory with a copy of the numbers. */
    template <typename Value>
    memory(const device &gpu, const std::vector<Value> &values)
        : memory(gpu.table(), values.size() * sizeof(Value))
    {
        copy_from(values);
    }
    /** Copy all numbers from the host, or throw. */
    template <typename Value> void copy_from(const std::vector<Value> &values)
    {
        CUSHIM_TRY(try_copy_from(values.data(), values.size() * sizeof(Value)));
    }
    /** Copy all numbers to the host, or throw. */
    template <typename Value> void copy_to(std::vector<Value> &values) const
    {
        CUSHIM_TRY(try_copy_to(values.data(), values.size() * sizeof(Value)));
    }
#endif

  private:
    bool fits(std::size_t bytes) const noexcept
    {
        return bytes <= this->bytes();
    }
    std::size_t bytes_;
};

/** A module of the current context: PTX, a cubin or a fatbin. */
class module : public detail::owner<detail::module_traits>
{
  public:
    /** No module. */
    module() noexcept
    {
    }
    /** Load an image (cushim_module_load), and unload the one before. */
    CUresult load(const struct cushim_api *cu, const void *data, std::size_t bytes,
                  const struct cushim_jit_options *options = nullptr,
                  struct cushim_jit_result *result = nullptr) noexcept
    {
        CUmodule made = nullptr;
        CUresult code = cushim_module_load(cu, data, bytes, options, result, &made);
        return adopt(cu, code, made);
    }
    /** Load a file (cushim_module_load_file), and unload the one before. */
    CUresult load_file(const struct cushim_api *cu, const char *path,
                       const struct cushim_jit_options *options = nullptr,
                       struct cushim_jit_result *result = nullptr) noexcept
    {
        CUmodule made = nullptr;
        CUresult code = cushim_module_load_file(cu, path, options, result, &made);
        return adopt(cu, code, made);
    }
    /** Find a kernel (cushim_module_function). */
    CUresult try_function(const char *name, CUfunction *function) const noexcept
    {
        return cushim_module_function(table(), get(), name, function);
    }
#if CUSHIM_EXCEPTIONS
    /** Load an image, or throw. */
    module(const device &gpu, const void *data, std::size_t bytes,
           const struct cushim_jit_options *options = nullptr)
    {
        CUSHIM_TRY(load(gpu.table(), data, bytes, options));
    }
    /** Load a file, or throw. */
    module(const device &gpu, const std::string &path,
           const struct cushim_jit_options *options = nullptr)
    {
        CUSHIM_TRY(load_file(gpu.table(), path.c_str(), options));
    }
    /** Find a kernel, or throw. */
    CUfunction function(const char *name) const
    {
        CUfunction found = nullptr;
        CUSHIM_TRY(try_function(name, &found));
        return found;
    }
#endif
};

/** A stream. */
class stream : public detail::owner<detail::stream_traits>
{
  public:
    /** No stream. */
    stream() noexcept
    {
    }
    /** Create a stream, and destroy the one before. */
    CUresult create(const struct cushim_api *cu, unsigned flags = CU_STREAM_NON_BLOCKING) noexcept
    {
        CUstream made = nullptr;
        CUresult code = detail::require(cu);
        if (code == CUDA_SUCCESS)
            code = cu->cuStreamCreate(&made, flags);
        return adopt(cu, code, made);
    }
    /** Wait for all work that is in it. */
    CUresult try_synchronize() const noexcept
    {
        CUresult code = detail::require(table());
        return code ? code : table()->cuStreamSynchronize(get());
    }
#if CUSHIM_EXCEPTIONS
    /** Create a stream, or throw. */
    explicit stream(const device &gpu, unsigned flags = CU_STREAM_NON_BLOCKING)
    {
        CUSHIM_TRY(create(gpu.table(), flags));
    }
    /** Wait for all work that is in it, or throw. */
    void synchronize() const
    {
        CUSHIM_TRY(try_synchronize());
    }
#endif
};

/** An event. The default flags give it timing. */
class event : public detail::owner<detail::event_traits>
{
  public:
    /** No event. */
    event() noexcept
    {
    }
    /** Create an event, and destroy the one before. */
    CUresult create(const struct cushim_api *cu, unsigned flags = CU_EVENT_DEFAULT) noexcept
    {
        CUevent made = nullptr;
        CUresult code = detail::require(cu);
        if (code == CUDA_SUCCESS)
            code = cu->cuEventCreate(&made, flags);
        return adopt(cu, code, made);
    }
    /** Record the event behind the work that is in the stream now. */
    CUresult try_record(CUstream stream) noexcept
    {
        CUresult code = detail::require(table());
        return code ? code : table()->cuEventRecord(get(), stream);
    }
    /** Wait for all work that is in it. */
    CUresult try_synchronize() const noexcept
    {
        CUresult code = detail::require(table());
        return code ? code : table()->cuEventSynchronize(get());
    }
    /** Milliseconds from `start` to this event; both are done. */
    CUresult try_since(const event &start, float *milliseconds) const noexcept
    {
        return cushim_event_elapsed(table(), start.get(), get(), milliseconds);
    }
#if CUSHIM_EXCEPTIONS
    /** Create an event, or throw. */
    explicit event(const device &gpu, unsigned flags = CU_EVENT_DEFAULT)
    {
        CUSHIM_TRY(create(gpu.table(), flags));
    }
    /** Record the event, or throw. */
    void record(CUstream stream)
    {
        CUSHIM_TRY(try_record(stream));
    }
    /** Wait for all work that is in it, or throw. */
    void synchronize() const
    {
        CUSHIM_TRY(try_synchronize());
    }
    /** Milliseconds from `start` to this event, or throw. */
    float since(const event &start) const
    {
        float milliseconds = 0;
        CUSHIM_TRY(try_since(start, &milliseconds));
        return milliseconds;
    }
#endif
};

/** A graph that is ready to launch, made of what a function does in a stream. */
class graph : public detail::owner<detail::graph_traits>
{
  public:
    /** No graph. */
    graph() noexcept
    {
    }
    /**
     * Capture the work and instantiate it. The stream works again afterwards, on failure too.
     *
     * @param work  called once; work() returns a CUresult, and does its work in the stream
     */
    template <typename Work>
    CUresult capture(const struct cushim_api *cu, CUstream stream, Work work)
    {
        CUgraph collected = nullptr;
        CUgraphExec made = nullptr;
        CUresult code = cushim_capture_begin(cu, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        if (code != CUDA_SUCCESS)
            return code;
        cancel guard = {cu, stream};
        code = work();
        if (code != CUDA_SUCCESS)
            return code;
        guard.cu = nullptr;
        code = cu->cuStreamEndCapture(stream, &collected);
        if (code != CUDA_SUCCESS)
            return code;
        code = cushim_graph_instantiate(cu, collected, 0, &made);
        cu->cuGraphDestroy(collected);
        return adopt(cu, code, made);
    }
    /** Launch the graph in a stream. */
    CUresult try_launch(CUstream stream) const noexcept
    {
        CUresult code = detail::require(table());
        return code ? code : table()->cuGraphLaunch(get(), stream);
    }
#if CUSHIM_EXCEPTIONS
    /** work() may throw too: the capture is cancelled. */
    template <typename Work> graph(const device &gpu, const cushim::stream &stream, Work work)
    {
        CUSHIM_TRY(capture(gpu.table(), stream.get(), work));
    }
    /** Launch the graph, or throw. */
    void launch(const cushim::stream &stream) const
    {
        CUSHIM_TRY(try_launch(stream.get()));
    }
#endif

  private:
    struct cancel {
        const struct cushim_api *cu;
        CUstream stream;
        ~cancel()
        {
            if (cu)
                cushim_capture_cancel(cu, stream);
        }
    };
};

#if CUSHIM_EXCEPTIONS
/** Launch a kernel with its arguments by value, each of the type that the kernel has. */
template <typename... Values>
inline void launch(const device &gpu, CUfunction function, const struct cushim_launch &how,
                   Values... values)
{
    CUSHIM_TRY(cushim_launch_values(gpu.table(), function, &how, values...));
}
#endif

} // namespace cushim

#endif
