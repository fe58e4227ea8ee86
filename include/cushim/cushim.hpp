// SPDX-License-Identifier: MIT
/**
 * @file
 * Owners for C++: a device in use, memory (pinned, managed, in stream order, of a pool), modules,
 * streams, events and graphs, released when they go out of scope. C++11, header only, over the C
 * helpers and the table.
 *
 *     cushim::unique_device gpu(cushim_load(nullptr));
 *     cushim::unique_module code(gpu, ptx, sizeof ptx);
 *     cushim::unique_stream stream(gpu);
 *     cushim::unique_pinned<float> host(gpu, count);
 *     cushim::unique_memory<float> numbers(gpu, count);
 *     stream.copy(numbers, host);
 *     stream.launch(code.function("scale"), cushim_launch_1d(count, 256, nullptr), numbers, 2.0f);
 *     stream.copy(host, numbers);
 *     stream.synchronize();
 *
 * Exceptions or codes, as the caller chooses. A constructor and a function that returns no CUresult
 * throw cushim::call_error. For each there is one that returns the CUresult and throws nothing
 * (create, enter, load, capture, try_...); with exceptions turned off only those are declared. An
 * output is written on success only. After a failure cushim_last_error() has the sentence, which
 * begins with the helper that failed, or with the object and the driver's call:
 * "stream: cuStreamCreateWithPriority: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory".
 *
 * Every owner can be moved and not copied. One that is empty (default-made, moved from, released)
 * may be destroyed and assigned to; every other use is CUDA_ERROR_INVALID_VALUE, also as an
 * argument of a kernel. get() is the driver's plain handle, release() gives it up, reset() destroys
 * it now and returns the code, which a destructor ignores.
 *
 * Work that is queued: nothing is destroyed that such work still uses.
 * - The driver waits for all work of the context before it frees what unique_memory, unique_pinned,
 *   unique_managed or unique_module has (measured: driver 580, H200). It keeps a graph, a stream,
 *   an event or a pool until the work with it is done (manual of cuGraphExecDestroy).
 * - unique_stream_memory is freed in the order of its stream, without a wait. If other streams used
 *   it (on(), or an operation of another unique_stream), all work of the context is waited for.
 *   While a stream of the context is captured that is not possible, and spoils the capture: reset()
 *   then returns the code and keeps the object, and a destructor leaves it to the context. The
 *   stream is destroyed after its memory.
 * - Streams of another context, such as another device's, are not waited for: let one of the
 *   owner's context wait for an event of theirs.
 *
 * Captures: from CUDA 10.1 on, nothing else that an owner destroys spoils one, of any thread.
 * Before, allocating and destroying during a capture fails, and spoils it.
 *
 * Threads: one at a time for each object. All but unique_device may be moved to another thread and
 * destroyed there, whatever context is current. A thread that calls them has a unique_device of its
 * own with the same number: it is the same context. The device is left last.
 *
 * The names are made so that `using namespace cushim` hides none of the program's. Since: 0.1.
 */
#ifndef CUSHIM_CUSHIM_HPP
#define CUSHIM_CUSHIM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

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

/* Call through the table; a failure's sentence is "OBJECT: CALL: ...". */
#define CUSHIM_SAY_(object, cu, call, ...)                                                         \
    (cushim_last_error_clear(), cushim_error_explain((cu)->call(__VA_ARGS__), object, #call))

namespace cushim
{

#if CUSHIM_EXCEPTIONS

/** A call that failed: its code, and the sentence as what(). */
class call_error : public std::runtime_error
{
  public:
    /** A failure with this code and this sentence. */
    call_error(CUresult code, const char *message) : std::runtime_error(message), code_(code)
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

namespace detail
{

/* Throw unless it is CUDA_SUCCESS. The call left its sentence. */
inline void must(CUresult code)
{
    if (code != CUDA_SUCCESS)
        throw call_error(code, cushim_last_error());
}

inline void check(CUresult code, const char *call)
{
    struct cushim_outcome outcome = {CUDA_SUCCESS, ""};
    if (!cushim_outcome_keep(&outcome, code, call))
        throw call_error(code, outcome.message);
}

} // namespace detail

/** Evaluate a call of the table or of a helper, and throw cushim::call_error if it fails. */
#define CUSHIM_TRY(call) (cushim_last_error_clear(), ::cushim::detail::check((call), #call))

#endif

/** Elements in device memory: an address and a count. It owns nothing. */
template <typename Value> class device_span
{
  public:
    /** Marks what is in device memory. */
    typedef Value device_element;
    /** No elements. */
    device_span() noexcept : address_(0), size_(0)
    {
    }
    /** `size` elements from an address. */
    device_span(CUdeviceptr address, std::size_t size) noexcept : address_(address), size_(size)
    {
    }
    /** The same elements, to be read only. */
    operator device_span<const Value>() const noexcept
    {
        return device_span<const Value>(address_, size_);
    }
    /** Address of the first one, for kernels. */
    CUdeviceptr address() const noexcept
    {
        return address_;
    }
    /** How many. */
    std::size_t size() const noexcept
    {
        return size_;
    }
    /** `size` of them from number `first` on. What is not within has the address 0, which every
     * copy and fill refuses. */
    device_span part(std::size_t first, std::size_t size) const noexcept
    {
        const bool within = first <= size_ && size <= size_ - first;
        return device_span(within ? address_ + first * sizeof(Value) : 0, size);
    }
    /** The same, for work in any stream. */
    device_span on(CUstream) const noexcept
    {
        return *this;
    }

  private:
    CUdeviceptr address_;
    std::size_t size_;
};

/** Elements in host memory: a pointer and a count. It owns nothing. */
template <typename Value> class host_span
{
  public:
    /** No elements. */
    host_span() noexcept : data_(nullptr), size_(0)
    {
    }
    /** `size` elements from a pointer. */
    host_span(Value *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    /** The first one. */
    Value *data() const noexcept
    {
        return data_;
    }
    /** How many. */
    std::size_t size() const noexcept
    {
        return size_;
    }
    /** `size` of them from number `first` on. What is not within has the address NULL, which every
     * copy refuses. */
    host_span part(std::size_t first, std::size_t size) const noexcept
    {
        const bool within = first <= size_ && size <= size_ - first;
        return host_span(within ? data_ + first : nullptr, size);
    }

  private:
    Value *data_;
    std::size_t size_;
};

namespace detail
{

/* ---- failures */

inline CUresult refuse(const char *object, const char *reason) noexcept
{
    return cushim_error_explain(CUDA_ERROR_INVALID_VALUE, object, reason);
}

inline CUresult require(const struct cushim_api *cu, const char *object) noexcept
{
    return cu ? CUDA_SUCCESS : refuse(object, "there is no table");
}

/* Elements as bytes; false if there is no such number. */
template <typename Value> bool in_bytes(std::size_t count, std::size_t *bytes) noexcept
{
    static_assert(std::is_trivially_copyable<Value>::value, "memory has plain data only");
    *bytes = count * sizeof(Value);
    return count <= static_cast<std::size_t>(-1) / sizeof(Value);
}

/* ---- owners */

/* Makes a context current, if it is known and not current already. */
class in_context
{
  public:
    in_context(const struct cushim_api *cu, CUcontext context) noexcept
        : scope_(), code_(CUDA_SUCCESS)
    {
        CUcontext now = nullptr;
        if (context && (cu->cuCtxGetCurrent(&now) != CUDA_SUCCESS || now != context))
            code_ = cushim_scope_enter(cu, context, &scope_);
    }
    in_context(const in_context &) = delete;
    in_context &operator=(const in_context &) = delete;
    ~in_context()
    {
        cushim_scope_leave(&scope_, CUDA_ERROR_UNKNOWN); /* an error: its sentence stays */
    }
    CUresult code() const noexcept
    {
        return code_;
    }
    /* What was in the context went with it. */
    bool gone() const noexcept
    {
        return code_ == CUDA_ERROR_INVALID_CONTEXT || code_ == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
               code_ == CUDA_ERROR_DEINITIALIZED;
    }

  private:
    struct cushim_scope scope_;
    CUresult code_;
};

/* From CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED to _WRONG_THREAD, which old headers lack. */
inline bool is_captured(CUresult code) noexcept
{
    return static_cast<int>(code) >= 900 && static_cast<int>(code) <= 908;
}

/* What the thread does meanwhile spoils no capture. Drivers from CUDA 10.1 on. */
class in_no_capture
{
  public:
    explicit in_no_capture(const struct cushim_api *cu) noexcept
        : cu_(CUSHIM_HAS(cu, cuThreadExchangeStreamCaptureMode) ? cu : nullptr),
          mode_(CU_STREAM_CAPTURE_MODE_RELAXED)
    {
        exchange();
    }
    in_no_capture(const in_no_capture &) = delete;
    in_no_capture &operator=(const in_no_capture &) = delete;
    ~in_no_capture()
    {
        exchange();
    }

  private:
    void exchange() noexcept
    {
        if (cu_)
            cu_->cuThreadExchangeStreamCaptureMode(&mode_);
    }

    const struct cushim_api *cu_;
    CUstreamCaptureMode mode_;
};

/*
 * What all owners share. Of Traits: handle, whose default is none; destroy(cu, handle), not before
 * queued work is done with it.
 */
template <typename Traits> class owner
{
  public:
    typedef typename Traits::handle handle;

    owner() noexcept : cu_(nullptr), context_(nullptr), handle_()
    {
    }
    owner(owner &&other) noexcept
        : cu_(other.cu_), context_(other.context_), handle_(other.release())
    {
    }
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            reset();
            cu_ = other.cu_;
            context_ = other.context_;
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
        if (!*this)
            return CUDA_SUCCESS;
        in_context scope(cu_, context_);
        if (scope.code() != CUDA_SUCCESS) {
            release();
            return scope.gone() ? CUDA_SUCCESS : scope.code();
        }
        in_no_capture safe(cu_);
        const CUresult code = Traits::destroy(cu_, handle_);
        if (is_captured(code))
            return code;
        release();
        return code == CUDA_ERROR_DEINITIALIZED ? CUDA_SUCCESS : code;
    }

  protected:
    /* Take a handle that was just made in the current context, in the place of the one before. */
    CUresult adopt(const struct cushim_api *cu, CUresult code, handle made) noexcept
    {
        if (code != CUDA_SUCCESS)
            return code;
        reset();
        cu_ = cu;
        handle_ = made;
        context_ = nullptr;
        cu->cuCtxGetCurrent(&context_);
        return code;
    }
    const handle &held() const noexcept
    {
        return handle_;
    }
    CUresult ready(const char *object) const noexcept
    {
        return *this ? CUDA_SUCCESS : refuse(object, "used while it is empty");
    }

  private:
    const struct cushim_api *cu_;
    CUcontext context_;
    handle handle_;
};

template <typename Traits>
CUresult require(const owner<Traits> &given, const char *object, const char *reason) noexcept
{
    return given ? CUDA_SUCCESS : refuse(object, reason);
}

struct memory_traits {
    typedef CUdeviceptr handle;
    static CUresult destroy(const struct cushim_api *cu, CUdeviceptr address) noexcept
    {
        return cushim_memory_free(cu, address);
    }
};
struct stream_block {
    CUdeviceptr address;
    CUstream stream;
    mutable bool elsewhere; /* other streams used it */
    bool operator!=(const stream_block &other) const noexcept
    {
        return address != other.address;
    }
};
struct stream_memory_traits {
    typedef stream_block handle;
    static CUresult destroy(const struct cushim_api *cu, const stream_block &block) noexcept
    {
        const CUresult waited =
            block.elsewhere ? cushim_context_synchronize(cu, nullptr) : CUDA_SUCCESS;
        if (is_captured(waited))
            return waited;
        const CUresult code = cushim_memory_free_async(cu, block.address, block.stream);
        return waited == CUDA_SUCCESS || waited == CUDA_ERROR_DEINITIALIZED ? code : waited;
    }
};
struct pinned_traits {
    typedef void *handle;
    static CUresult destroy(const struct cushim_api *cu, void *data) noexcept
    {
        return CUSHIM_SAY_("pinned", cu, cuMemFreeHost, data);
    }
};
struct module_traits {
    typedef CUmodule handle;
    static CUresult destroy(const struct cushim_api *cu, CUmodule code) noexcept
    {
        return cushim_module_unload(cu, code);
    }
};
struct stream_traits {
    typedef CUstream handle;
    static CUresult destroy(const struct cushim_api *cu, CUstream stream) noexcept
    {
        return CUSHIM_SAY_("stream", cu, cuStreamDestroy_v2, stream);
    }
};
struct event_traits {
    typedef CUevent handle;
    static CUresult destroy(const struct cushim_api *cu, CUevent event) noexcept
    {
        return CUSHIM_SAY_("event", cu, cuEventDestroy_v2, event);
    }
};
struct graph_traits {
    typedef CUgraphExec handle;
    static CUresult destroy(const struct cushim_api *cu, CUgraphExec exec) noexcept
    {
        return CUSHIM_SAY_("graph", cu, cuGraphExecDestroy, exec);
    }
};

/* ---- copies and launches */

template <typename> struct always {
    typedef void type;
};
template <typename Type, typename = void> struct is_device : std::false_type {
};
template <typename Type>
struct is_device<Type, typename always<typename Type::device_element>::type> : std::true_type {
};

template <typename Type>
device_span<typename Type::device_element> view(Type &memory, CUstream stream,
                                                std::true_type) noexcept
{
    return memory.on(stream);
}
template <typename Type>
auto view(Type &memory, CUstream, std::false_type)
    -> host_span<typename std::remove_pointer<decltype(memory.data())>::type>
{
    return host_span<typename std::remove_pointer<decltype(memory.data())>::type>(memory.data(),
                                                                                  memory.size());
}
template <typename Value, std::size_t Size>
host_span<Value> view(Value (&array)[Size], CUstream, std::false_type) noexcept
{
    return host_span<Value>(array, Size);
}

/* Where a copy is done: in a stream, or before it returns. */
struct place {
    const struct cushim_api *cu;
    const char *object;
    bool queued;
    CUstream stream;
};

template <typename To, typename From>
CUresult transfer(const place &at, device_span<To> to, host_span<From> from) noexcept
{
    const std::size_t bytes = from.size() * sizeof(From);
    return at.queued
               ? cushim_copy_to_device_async(at.cu, to.address(), from.data(), bytes, at.stream)
               : cushim_copy_to_device(at.cu, to.address(), from.data(), bytes);
}
template <typename To, typename From>
CUresult transfer(const place &at, host_span<To> to, device_span<From> from) noexcept
{
    const std::size_t bytes = from.size() * sizeof(From);
    return at.queued ? cushim_copy_to_host_async(at.cu, to.data(), from.address(), bytes, at.stream)
                     : cushim_copy_to_host(at.cu, to.data(), from.address(), bytes);
}
template <typename To, typename From>
CUresult transfer(const place &at, device_span<To> to, device_span<From> from) noexcept
{
    const std::size_t bytes = from.size() * sizeof(From);
    if (!bytes)
        return CUDA_SUCCESS;
    if (!to.address() || !from.address())
        return refuse(at.object, "copy: a part that is not within its memory");
    return at.queued ? CUSHIM_SAY_(at.object, at.cu, cuMemcpyDtoDAsync_v2, to.address(),
                                   from.address(), bytes, at.stream)
                     : CUSHIM_SAY_(at.object, at.cu, cuMemcpyDtoD_v2, to.address(), from.address(),
                                   bytes);
}

template <typename Element> struct element;
template <typename Value> struct element<device_span<Value>> {
    typedef Value type;
};
template <typename Value> struct element<host_span<Value>> {
    typedef Value type;
};

/* Whether it is of no memory, as of an owner that was moved from. */
template <typename Value> bool is_nothing(device_span<Value> part, const volatile void *) noexcept
{
    return !part.address() && !part.size();
}
template <typename Value, typename Traits>
bool is_nothing(host_span<Value>, const owner<Traits> *pinned) noexcept
{
    return !*pinned;
}
template <typename Value> bool is_nothing(host_span<Value>, const volatile void *) noexcept
{
    return false; /* an empty vector may have no address */
}

template <typename To, typename From>
CUresult copy(const place &at, To &target_memory, From &source_memory)
{
    const auto to = view(target_memory, at.stream, is_device<To>());
    const auto from = view(source_memory, at.stream, is_device<From>());
    typedef typename element<typename std::remove_const<decltype(to)>::type>::type target;
    typedef typename element<typename std::remove_const<decltype(from)>::type>::type source;
    static_assert(!std::is_const<target>::value, "the target of a copy is not const");
    static_assert(std::is_same<typename std::remove_const<target>::type,
                               typename std::remove_const<source>::type>::value,
                  "a copy is between elements of one type");
    static_assert(std::is_trivially_copyable<target>::value, "memory has plain data only");
    char reason[80];
    if (is_nothing(from, std::addressof(source_memory)) && to.size())
        return refuse(at.object, "copy: from an owner that is empty");
    if (is_nothing(to, std::addressof(target_memory)) && from.size())
        return refuse(at.object, "copy: to an owner that is empty");
    if (from.size() <= to.size())
        return transfer(at, to, from);
    std::snprintf(reason, sizeof reason, "copy of %zu elements to %zu", from.size(), to.size());
    return refuse(at.object, reason);
}

template <typename Bits, typename Value> Bits bits_of(const Value &value) noexcept
{
    Bits bits;
    static_assert(sizeof bits == sizeof value, "all of them");
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
template <typename Value>
CUresult set(const place &at, device_span<Value> to, const Value &value,
             std::integral_constant<std::size_t, 1>) noexcept
{
    return CUSHIM_SAY_(at.object, at.cu, cuMemsetD8Async, to.address(),
                       bits_of<unsigned char>(value), to.size(), at.stream);
}
template <typename Value>
CUresult set(const place &at, device_span<Value> to, const Value &value,
             std::integral_constant<std::size_t, 2>) noexcept
{
    return CUSHIM_SAY_(at.object, at.cu, cuMemsetD16Async, to.address(),
                       bits_of<unsigned short>(value), to.size(), at.stream);
}
template <typename Value>
CUresult set(const place &at, device_span<Value> to, const Value &value,
             std::integral_constant<std::size_t, 4>) noexcept
{
    return CUSHIM_SAY_(at.object, at.cu, cuMemsetD32Async, to.address(), bits_of<unsigned>(value),
                       to.size(), at.stream);
}
template <typename Value>
CUresult fill(const place &at, device_span<Value> to, const Value &value) noexcept
{
    static_assert(std::is_trivially_copyable<Value>::value, "memory has plain data only");
    static_assert(sizeof(Value) == 1 || sizeof(Value) == 2 || sizeof(Value) == 4,
                  "an element of 1, 2 or 4 bytes");
    if (!to.address())
        return refuse(at.object, to.size() ? "fill: a part that is not within its memory"
                                           : "fill: an owner that is empty");
    if (!to.size())
        return CUDA_SUCCESS;
    return set(at, to, value, std::integral_constant<std::size_t, sizeof(Value)>());
}

/* A temporary would be gone before the copy, unless it owns nothing. */
template <typename Type> struct stays {
    static const bool value =
        std::is_lvalue_reference<Type>::value || std::is_trivially_copyable<Type>::value;
};

/* An argument of a kernel: the address of what is in device memory, all else as it is. */
template <typename Type>
typename std::enable_if<is_device<Type>::value, CUdeviceptr>::type argument(CUstream stream,
                                                                            Type &memory) noexcept
{
    return memory.on(stream).address();
}
template <typename Type>
typename std::enable_if<!is_device<Type>::value, typename std::decay<Type>::type>::type
argument(CUstream, Type &value) noexcept
{
    return value;
}
template <typename Type>
typename std::enable_if<is_device<Type>::value, bool>::type has_address(CUstream stream,
                                                                        Type &memory) noexcept
{
    return memory.on(stream).address() != 0;
}
template <typename Type>
typename std::enable_if<!is_device<Type>::value, bool>::type has_address(CUstream, Type &) noexcept
{
    return true;
}

/* An owner that is empty, or a part that is not within its memory, is no argument. */
template <typename... Types> CUresult check_arguments(CUstream stream, Types &...values) noexcept
{
    const bool there[] = {has_address(stream, values)..., true};
    char reason[120];
    std::size_t i = 0;
    while (i < sizeof...(Types) && there[i])
        i++;
    if (i == sizeof...(Types))
        return CUDA_SUCCESS;
    std::snprintf(reason, sizeof reason,
                  "launch: argument number %zu is empty memory; pass CUdeviceptr() for NULL",
                  i + 1);
    return refuse("stream", reason);
}

template <typename... Values>
CUresult launch(const struct cushim_api *cu, CUfunction function, const struct cushim_launch &how,
                Values... values) noexcept
{
    void *pointers[] = {cushim_detail::value<Values>::address(values)..., nullptr};
    const std::size_t sizes[] = {sizeof(Values)..., 0};
#ifdef CUSHIM_CHECK_LAUNCHES
    const CUresult code = cushim_launch_check(cu, function, &how, sizes, sizeof...(Values));
    if (code != CUDA_SUCCESS)
        return code;
#endif
    return cushim_launch_kernel(cu, function, &how, pointers, sizes, sizeof...(Values));
}

} // namespace detail

/**
 * A device in use: the driver is initialised, the device's primary context is retained and current
 * on this thread, until leave() or the destructor. See cushim_device_enter. It stays on its thread,
 * and is destroyed after what was made in it.
 */
class unique_device
{
  public:
    /** No device is in use. */
    unique_device() noexcept
    {
    }
    /** Take over the use; the other one is empty then. */
    unique_device(unique_device &&other) noexcept : scope_(other.scope_)
    {
        other.scope_.cu = nullptr;
    }
    /** Leave the device in use, and take over the other use. */
    unique_device &operator=(unique_device &&other) noexcept
    {
        if (this != &other) {
            leave();
            scope_ = other.scope_;
            other.scope_.cu = nullptr;
        }
        return *this;
    }
    unique_device(const unique_device &) = delete;
    unique_device &operator=(const unique_device &) = delete;
    ~unique_device()
    {
        leave();
    }

    /** Leave the device in use, if any, and begin to use another one (cushim_device_enter). */
    CUresult enter(const struct cushim_api *cu, CUdevice number = 0) noexcept
    {
        leave();
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

    /** Wait for all work of the device's context. */
    CUresult try_synchronize() const noexcept
    {
        const CUresult code = detail::require(table(), "device");
        return code ? code : cushim_context_synchronize(table(), context());
    }
    /** Copy all of `from` to the beginning of `to`, in order with the default stream. One is in
     * device memory; the other too, or an array, or anything with data() and size(). */
    template <typename To, typename From>
    CUresult try_copy(To &&to, const From &from) const noexcept
    {
        const CUresult code = detail::require(table(), "device");
        const detail::place at = {table(), "device", false, nullptr};
        return code ? code : detail::copy(at, to, from);
    }
#if CUSHIM_EXCEPTIONS
    /** Begin to use a device, or throw. */
    explicit unique_device(const struct cushim_api *cu, CUdevice number = 0)
    {
        if (enter(cu, number) != CUDA_SUCCESS)
            throw call_error(scope_.outcome.code, scope_.outcome.message);
    }
    /** Wait for all work of the device's context, or throw. */
    void synchronize() const
    {
        detail::must(try_synchronize());
    }
    /** Copy as try_copy() does, or throw. */
    template <typename To, typename From> void copy(To &&to, const From &from) const
    {
        detail::must(try_copy(std::forward<To>(to), from));
    }
#endif

  private:
    struct cushim_device_scope scope_ = cushim_device_scope();
};

/** An event. The default flags give it timing. */
class unique_event : public detail::owner<detail::event_traits>
{
  public:
    /** No event. */
    unique_event() noexcept
    {
    }
    /** Create an event, and destroy the one before. */
    CUresult create(const struct cushim_api *cu, unsigned flags = CU_EVENT_DEFAULT) noexcept
    {
        CUevent made = nullptr;
        CUresult code = detail::require(cu, "event");
        if (code == CUDA_SUCCESS)
            code = CUSHIM_SAY_("event", cu, cuEventCreate, &made, flags);
        return adopt(cu, code, made);
    }
    /** The same with the device's owner. */
    CUresult create(const unique_device &gpu, unsigned flags = CU_EVENT_DEFAULT) noexcept
    {
        return create(gpu.table(), flags);
    }
    /** Record the event behind the work that is in a stream now, of any kind. */
    CUresult try_record(CUstream stream) noexcept
    {
        const CUresult code = ready("event");
        return code ? code : CUSHIM_SAY_("event", table(), cuEventRecord, get(), stream);
    }
    /** Wait for the work that it was recorded behind. */
    CUresult try_synchronize() const noexcept
    {
        const CUresult code = ready("event");
        return code ? code : CUSHIM_SAY_("event", table(), cuEventSynchronize, get());
    }
    /** Milliseconds from `start` to this event; both are done. */
    CUresult try_since(const unique_event &start, float *milliseconds) const noexcept
    {
        CUresult code = ready("event");
        if (code == CUDA_SUCCESS)
            code = detail::require(start, "event", "since: the start is empty");
        return code ? code : cushim_event_elapsed(table(), start.get(), get(), milliseconds);
    }
#if CUSHIM_EXCEPTIONS
    /** Create an event, or throw. */
    explicit unique_event(const unique_device &gpu, unsigned flags = CU_EVENT_DEFAULT)
    {
        detail::must(create(gpu, flags));
    }
    /** Record the event, or throw. */
    void record(CUstream stream)
    {
        detail::must(try_record(stream));
    }
    /** Wait for the work that it was recorded behind, or throw. */
    void synchronize() const
    {
        detail::must(try_synchronize());
    }
    /** Milliseconds from `start` to this event, or throw. */
    float since(const unique_event &start) const
    {
        float milliseconds = 0;
        detail::must(try_since(start, &milliseconds));
        return milliseconds;
    }
#endif
};

/** A stream, and what is queued in it. */
class unique_stream : public detail::owner<detail::stream_traits>
{
  public:
    /** No stream. */
    unique_stream() noexcept
    {
    }
    /** Create a stream, and destroy the one before. Lower numbers have priority. */
    CUresult create(const struct cushim_api *cu, unsigned flags = CU_STREAM_NON_BLOCKING,
                    int priority = 0) noexcept
    {
        CUstream made = nullptr;
        CUresult code = detail::require(cu, "stream");
        if (code == CUDA_SUCCESS)
            code = CUSHIM_SAY_("stream", cu, cuStreamCreateWithPriority, &made, flags, priority);
        return adopt(cu, code, made);
    }
    /** The same with the device's owner. */
    CUresult create(const unique_device &gpu, unsigned flags = CU_STREAM_NON_BLOCKING,
                    int priority = 0) noexcept
    {
        return create(gpu.table(), flags, priority);
    }
    /** Wait for all work that is in it. */
    CUresult try_synchronize() const noexcept
    {
        const CUresult code = ready("stream");
        return code ? code : CUSHIM_SAY_("stream", table(), cuStreamSynchronize, get());
    }
    /** Record an event behind the work that is in it now. */
    CUresult try_record(unique_event &event) const noexcept
    {
        const CUresult code = ready("stream");
        return code ? code : event.try_record(get());
    }
    /** Later work waits for an event, as it was recorded last. */
    CUresult try_wait(const unique_event &event) const noexcept
    {
        CUresult code = ready("stream");
        if (code == CUDA_SUCCESS)
            code = detail::require(event, "stream", "wait: the event is empty");
        return code ? code
                    : CUSHIM_SAY_("stream", table(), cuStreamWaitEvent, get(), event.get(), 0);
    }
    /**
     * Queue a copy of all of `from` to the beginning of `to`. One is in device memory; the other
     * too, or an array, or anything with data() and size(), which must stay until the copy is done.
     * Only pinned memory is copied while the caller goes on.
     */
    template <typename To, typename From> CUresult try_copy(To &&to, From &&from) const noexcept
    {
        static_assert(detail::stays<To>::value && detail::stays<From>::value,
                      "memory that is gone before the copy");
        const CUresult code = ready("stream");
        const detail::place at = {table(), "stream", true, get()};
        return code ? code : detail::copy(at, to, from);
    }
    /** Queue that every element of device memory gets a value. An element has 1, 2 or 4 bytes. */
    template <typename Memory>
    CUresult try_fill(const Memory &memory, typename Memory::device_element value) const noexcept
    {
        const CUresult code = ready("stream");
        const detail::place at = {table(), "stream", true, get()};
        return code ? code : detail::fill(at, memory.on(get()), value);
    }
    /**
     * Launch a kernel with its arguments by value, each of the type that the kernel has. Device
     * memory is passed as its address, and refused if it is empty: NULL is CUdeviceptr().
     * how.stream is not used.
     */
    template <typename... Values>
    CUresult try_launch(CUfunction function, struct cushim_launch how,
                        Values &&...values) const noexcept
    {
        CUresult code = ready("stream");
        how.stream = get();
        if (code == CUDA_SUCCESS)
            code = detail::check_arguments(get(), values...);
        return code ? code
                    : detail::launch(table(), function, how, detail::argument(get(), values)...);
    }
#if CUSHIM_EXCEPTIONS
    /** Create a stream, or throw. */
    explicit unique_stream(const unique_device &gpu, unsigned flags = CU_STREAM_NON_BLOCKING,
                           int priority = 0)
    {
        detail::must(create(gpu, flags, priority));
    }
    /** Wait for all work that is in it, or throw. */
    void synchronize() const
    {
        detail::must(try_synchronize());
    }
    /** Record an event behind the work that is in it now, or throw. */
    void record(unique_event &event) const
    {
        detail::must(try_record(event));
    }
    /** Later work waits for an event, or throw. */
    void wait(const unique_event &event) const
    {
        detail::must(try_wait(event));
    }
    /** Queue a copy as try_copy() does, or throw. */
    template <typename To, typename From> void copy(To &&to, From &&from) const
    {
        detail::must(try_copy(std::forward<To>(to), std::forward<From>(from)));
    }
    /** Queue that every element gets a value, or throw. */
    template <typename Memory>
    void fill(const Memory &memory, typename Memory::device_element value) const
    {
        detail::must(try_fill(memory, value));
    }
    /** Launch a kernel as try_launch() does, or throw. */
    template <typename... Values>
    void launch(CUfunction function, const struct cushim_launch &how, Values &&...values) const
    {
        detail::must(try_launch(function, how, std::forward<Values>(values)...));
    }
#endif
};

/** Device memory for a number of elements. */
template <typename Value> class unique_memory : public detail::owner<detail::memory_traits>
{
  public:
    /** Marks what is in device memory. */
    typedef Value device_element;
    /** No memory. */
    unique_memory() noexcept : size_(0)
    {
    }
    /** Allocate memory (cushim_memory_alloc), and free the one before. */
    CUresult create(const struct cushim_api *cu, std::size_t size) noexcept
    {
        CUdeviceptr made = 0;
        std::size_t bytes = 0;
        if (!detail::in_bytes<Value>(size, &bytes))
            return detail::refuse("memory", "more elements than there are addresses");
        CUresult code = cushim_memory_alloc(cu, bytes, &made);
        code = adopt(cu, code, made);
        if (code == CUDA_SUCCESS)
            size_ = size;
        return code;
    }
    /** The same with the device's owner. */
    CUresult create(const unique_device &gpu, std::size_t size) noexcept
    {
        return create(gpu.table(), size);
    }
    /** Address of the first element; 0 if there is none. */
    CUdeviceptr address() const noexcept
    {
        return get();
    }
    /** How many elements. */
    std::size_t size() const noexcept
    {
        return *this ? size_ : 0;
    }
    /** The elements, for work in any stream. */
    device_span<Value> on(CUstream) const noexcept
    {
        return device_span<Value>(get(), size());
    }
    /** `size` elements from number `first` on: see device_span. */
    device_span<Value> part(std::size_t first, std::size_t size) const noexcept
    {
        return on(nullptr).part(first, size);
    }
#if CUSHIM_EXCEPTIONS
    /** Allocate memory, or throw. */
    unique_memory(const unique_device &gpu, std::size_t size) : size_(0)
    {
        detail::must(create(gpu, size));
    }
    /** Memory with a copy of what is in the host's, which has data() and size(); or throw. */
    template <typename Host, typename = decltype(std::declval<const Host &>().data())>
    unique_memory(const unique_device &gpu, const Host &values) : unique_memory(gpu, values.size())
    {
        gpu.copy(*this, values);
    }
#endif

  private:
    std::size_t size_;
};

/** Pinned memory of the host: the driver copies it while the caller goes on. It begins as it is. */
template <typename Value> class unique_pinned : public detail::owner<detail::pinned_traits>
{
  public:
    /** No memory. */
    unique_pinned() noexcept : size_(0)
    {
    }
    /** Allocate memory (cuMemHostAlloc with CU_MEMHOSTALLOC_*), and free the one before. */
    CUresult create(const struct cushim_api *cu, std::size_t size, unsigned flags = 0) noexcept
    {
        void *made = nullptr;
        std::size_t bytes = 0;
        if (!detail::in_bytes<Value>(size, &bytes))
            return detail::refuse("pinned", "more elements than there are addresses");
        CUresult code = detail::require(cu, "pinned");
        if (code == CUDA_SUCCESS)
            code = CUSHIM_SAY_("pinned", cu, cuMemHostAlloc, &made, bytes, flags);
        code = adopt(cu, code, made);
        if (code == CUDA_SUCCESS)
            size_ = size;
        return code;
    }
    /** The same with the device's owner. */
    CUresult create(const unique_device &gpu, std::size_t size, unsigned flags = 0) noexcept
    {
        return create(gpu.table(), size, flags);
    }
    /** The first element; NULL if there is none. */
    Value *data() const noexcept
    {
        return static_cast<Value *>(get());
    }
    /** How many elements. */
    std::size_t size() const noexcept
    {
        return *this ? size_ : 0;
    }
    /** The first element, for loops. */
    Value *begin() const noexcept
    {
        return data();
    }
    /** Behind the last element. */
    Value *end() const noexcept
    {
        return data() + size();
    }
    /** An element; the number is not checked. */
    Value &operator[](std::size_t number) const noexcept
    {
        return data()[number];
    }
    /** `size` elements from number `first` on: see host_span. */
    host_span<Value> part(std::size_t first, std::size_t size) const noexcept
    {
        return host_span<Value>(data(), this->size()).part(first, size);
    }
#if CUSHIM_EXCEPTIONS
    /** Allocate memory, or throw. */
    unique_pinned(const unique_device &gpu, std::size_t size, unsigned flags = 0) : size_(0)
    {
        detail::must(create(gpu, size, flags));
    }
#endif

  private:
    std::size_t size_;
};

/**
 * Managed memory: host and device use the same addresses. The host may use it while no work that
 * uses it is queued; with cushim_device_properties.concurrent_managed_access other elements at any
 * time.
 */
template <typename Value> class unique_managed : public detail::owner<detail::memory_traits>
{
  public:
    /** Marks what is in device memory: work in streams takes it as such. */
    typedef Value device_element;
    /** No memory. */
    unique_managed() noexcept : size_(0)
    {
    }
    /** Allocate memory (cuMemAllocManaged with CU_MEM_ATTACH_*), and free the one before. */
    CUresult create(const struct cushim_api *cu, std::size_t size,
                    unsigned flags = CU_MEM_ATTACH_GLOBAL) noexcept
    {
        CUdeviceptr made = 0;
        std::size_t bytes = 0;
        if (!detail::in_bytes<Value>(size, &bytes))
            return detail::refuse("managed", "more elements than there are addresses");
        CUresult code = detail::require(cu, "managed");
        if (code == CUDA_SUCCESS)
            code = CUSHIM_SAY_("managed", cu, cuMemAllocManaged, &made, bytes, flags);
        code = adopt(cu, code, made);
        if (code == CUDA_SUCCESS)
            size_ = size;
        return code;
    }
    /** The same with the device's owner. */
    CUresult create(const unique_device &gpu, std::size_t size,
                    unsigned flags = CU_MEM_ATTACH_GLOBAL) noexcept
    {
        return create(gpu.table(), size, flags);
    }
    /** Address of the first element, for kernels; 0 if there is none. */
    CUdeviceptr address() const noexcept
    {
        return get();
    }
    /** The first element, for the host; NULL if there is none. */
    Value *data() const noexcept
    {
        return reinterpret_cast<Value *>(static_cast<std::uintptr_t>(get()));
    }
    /** How many elements. */
    std::size_t size() const noexcept
    {
        return *this ? size_ : 0;
    }
    /** The first element, for loops. */
    Value *begin() const noexcept
    {
        return data();
    }
    /** Behind the last element. */
    Value *end() const noexcept
    {
        return data() + size();
    }
    /** An element; the number is not checked. */
    Value &operator[](std::size_t number) const noexcept
    {
        return data()[number];
    }
    /** The elements, for work in any stream. */
    device_span<Value> on(CUstream) const noexcept
    {
        return device_span<Value>(get(), size());
    }
    /** `size` elements from number `first` on, for work in streams: see device_span. */
    device_span<Value> part(std::size_t first, std::size_t size) const noexcept
    {
        return on(nullptr).part(first, size);
    }
    /** Queue that all of it is moved to a device, or with CU_DEVICE_CPU to the host
     * (cushim_memory_prefetch). Devices without concurrent_managed_access refuse it. */
    CUresult try_prefetch(CUstream stream, CUdevice to) const noexcept
    {
        const CUresult code = ready("managed");
        return code ? code
                    : cushim_memory_prefetch(table(), get(), size_ * sizeof(Value), to, stream);
    }
#if CUSHIM_EXCEPTIONS
    /** Allocate memory, or throw. */
    unique_managed(const unique_device &gpu, std::size_t size,
                   unsigned flags = CU_MEM_ATTACH_GLOBAL)
        : size_(0)
    {
        detail::must(create(gpu, size, flags));
    }
    /** Queue that all of it is moved, or throw. */
    void prefetch(const unique_stream &stream, CUdevice to) const
    {
        detail::must(detail::require(stream, "managed", "prefetch: an empty stream"));
        detail::must(try_prefetch(stream.get(), to));
    }
#endif

  private:
    std::size_t size_;
};

#if defined(CUDA_VERSION) && CUDA_VERSION >= 11020
namespace detail
{

struct pool_traits {
    typedef CUmemoryPool handle;
    static CUresult destroy(const struct cushim_api *cu, CUmemoryPool pool) noexcept
    {
        return CUSHIM_SAY_("pool", cu, cuMemPoolDestroy, pool);
    }
};

} // namespace detail

/** A pool of a device's memory, for unique_stream_memory. Headers and drivers from CUDA 11.2. */
class unique_pool : public detail::owner<detail::pool_traits>
{
  public:
    /** No pool. */
    unique_pool() noexcept
    {
    }
    /** Create a pool of a device's memory (cuMemPoolCreate), and destroy the one before. */
    CUresult create(const struct cushim_api *cu, CUdevice number = 0) noexcept
    {
        CUmemoryPool made = nullptr;
        CUmemPoolProps properties = CUmemPoolProps();
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = number;
        CUresult code = detail::require(cu, "pool");
        if (code == CUDA_SUCCESS)
            code = CUSHIM_SAY_("pool", cu, cuMemPoolCreate, &made, &properties);
        return adopt(cu, code, made);
    }
    /** The same with the device's owner, of its device. */
    CUresult create(const unique_device &gpu) noexcept
    {
        return create(gpu.table(), gpu.number());
    }
    /** Keep so many freed bytes for later allocations, instead of giving them back when a stream is
     * synchronized (CU_MEMPOOL_ATTR_RELEASE_THRESHOLD). */
    CUresult try_keep(std::uint64_t bytes) noexcept
    {
        cuuint64_t value = bytes;
        const CUresult code = ready("pool");
        return code ? code
                    : CUSHIM_SAY_("pool", table(), cuMemPoolSetAttribute, get(),
                                  CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value);
    }
    /** Give back what is free, but for so many bytes. */
    CUresult try_trim(std::size_t bytes = 0) noexcept
    {
        const CUresult code = ready("pool");
        return code ? code : CUSHIM_SAY_("pool", table(), cuMemPoolTrimTo, get(), bytes);
    }
#if CUSHIM_EXCEPTIONS
    /** Create a pool of a device's memory, or throw. */
    explicit unique_pool(const unique_device &gpu)
    {
        detail::must(create(gpu));
    }
    /** Keep so many freed bytes, or throw. */
    void keep(std::uint64_t bytes)
    {
        detail::must(try_keep(bytes));
    }
    /** Give back what is free, or throw. */
    void trim(std::size_t bytes = 0)
    {
        detail::must(try_trim(bytes));
    }
#endif
};
#endif

template <typename Value> class unique_stream_memory;

/** Some elements of a unique_stream_memory, which stays where it is. It owns nothing. */
template <typename Value> class stream_part
{
  public:
    /** Marks what is in device memory. */
    typedef Value device_element;
    /** `size` elements of the memory from number `first` on. */
    stream_part(const unique_stream_memory<Value> &memory, std::size_t first,
                std::size_t size) noexcept
        : memory_(&memory), first_(first), size_(size)
    {
    }
    /** How many. */
    std::size_t size() const noexcept
    {
        return size_;
    }
    /** The elements, for work in this stream: see unique_stream_memory::on(). */
    device_span<Value> on(CUstream stream) const noexcept
    {
        return memory_->on(stream).part(first_, size_);
    }

  private:
    const unique_stream_memory<Value> *memory_;
    std::size_t first_, size_;
};

/**
 * Device memory that is allocated and freed in the order of a stream. On drivers before 11.2, and
 * on devices without pools, it is allocated at once and freed after a wait for the stream.
 */
template <typename Value>
class unique_stream_memory : public detail::owner<detail::stream_memory_traits>
{
  public:
    /** Marks what is in device memory. */
    typedef Value device_element;
    /** No memory. */
    unique_stream_memory() noexcept : size_(0)
    {
    }
    /** Allocate memory in the order of a stream, which is destroyed later. The memory before is
     * freed. `pool` of NULL is the device's current one. */
    CUresult create(const unique_stream &stream, std::size_t size,
                    CUmemoryPool pool = nullptr) noexcept
    {
        const struct cushim_api *cu = stream.table();
        detail::stream_block made = {0, stream.get(), false};
        std::size_t bytes = 0;
        CUresult code = detail::require(stream, "stream memory", "an empty stream");
        if (code == CUDA_SUCCESS && !detail::in_bytes<Value>(size, &bytes))
            code = detail::refuse("stream memory", "more elements than there are addresses");
        if (code != CUDA_SUCCESS)
            return code;
        code = pool ? CUSHIM_SAY_("stream memory", cu, cuMemAllocFromPoolAsync, &made.address,
                                  bytes, pool, made.stream)
                    : cushim_memory_alloc_async(cu, bytes, made.stream, &made.address);
        code = adopt(cu, code, made);
        if (code == CUDA_SUCCESS)
            size_ = size;
        return code;
    }
#if defined(CUDA_VERSION) && CUDA_VERSION >= 11020
    /** The same of a pool. */
    CUresult create(const unique_stream &stream, std::size_t size, const unique_pool &pool) noexcept
    {
        const CUresult code = detail::require(pool, "stream memory", "an empty pool");
        return code ? code : create(stream, size, pool.get());
    }
#endif
    /** Address of the first element; 0 if there is none. */
    CUdeviceptr get() const noexcept
    {
        return held().address;
    }
    /** Give the memory up: the caller frees it (cushim_memory_free_async). */
    CUdeviceptr release() noexcept
    {
        return owner::release().address;
    }
    /** How many elements. */
    std::size_t size() const noexcept
    {
        return *this ? size_ : 0;
    }
    /** The elements, for work in this stream. If it is not the memory's own, the memory will be
     * freed after a wait for all work. Work that a graph captured is in the stream that the graph
     * is launched in. */
    device_span<Value> on(CUstream stream) const noexcept
    {
        if (stream != held().stream)
            held().elsewhere = true;
        return device_span<Value>(get(), size());
    }
    /** `size` elements from number `first` on, for work in any stream: it is known which. */
    stream_part<Value> part(std::size_t first, std::size_t size) const noexcept
    {
        return stream_part<Value>(*this, first, size);
    }
#if CUSHIM_EXCEPTIONS
    /** Allocate memory in the order of a stream, or throw. */
    unique_stream_memory(const unique_stream &stream, std::size_t size) : size_(0)
    {
        detail::must(create(stream, size));
    }
#if defined(CUDA_VERSION) && CUDA_VERSION >= 11020
    /** Allocate memory of a pool in the order of a stream, or throw. */
    unique_stream_memory(const unique_stream &stream, std::size_t size, const unique_pool &pool)
        : size_(0)
    {
        detail::must(create(stream, size, pool));
    }
#endif
#endif

  private:
    std::size_t size_;
};

/** A module of the current context: PTX, a cubin or a fatbin. */
class unique_module : public detail::owner<detail::module_traits>
{
  public:
    /** No module. */
    unique_module() noexcept
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
    /** The same with the device's owner. */
    CUresult load(const unique_device &gpu, const void *data, std::size_t bytes,
                  const struct cushim_jit_options *options = nullptr,
                  struct cushim_jit_result *result = nullptr) noexcept
    {
        return load(gpu.table(), data, bytes, options, result);
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
    /** The same with the device's owner. */
    CUresult load_file(const unique_device &gpu, const char *path,
                       const struct cushim_jit_options *options = nullptr,
                       struct cushim_jit_result *result = nullptr) noexcept
    {
        return load_file(gpu.table(), path, options, result);
    }
    /** Find a kernel (cushim_module_function). */
    CUresult try_function(const char *name, CUfunction *function) const noexcept
    {
        return cushim_module_function(table(), get(), name, function);
    }
    /**
     * Find a variable of the module, `__constant__` or `__device__`.
     *
     * @param variable  as many elements as it has; they are the module's. A size that is no
     *                  multiple of an element's is CUDA_ERROR_INVALID_VALUE
     */
    template <typename Value>
    CUresult try_global(const char *name, device_span<Value> *variable) const noexcept
    {
        CUdeviceptr address = 0;
        std::size_t bytes = 0;
        CUresult code = ready("module");
        if (code != CUDA_SUCCESS)
            return code;
        code = CUSHIM_SAY_(name, table(), cuModuleGetGlobal_v2, &address, &bytes, get(), name);
        if (code == CUDA_SUCCESS && bytes % sizeof(Value) != 0)
            code = detail::refuse(name, "its size is no multiple of an element's");
        if (code == CUDA_SUCCESS)
            *variable = device_span<Value>(address, bytes / sizeof(Value));
        return code;
    }
#if CUSHIM_EXCEPTIONS
    /** Load an image, or throw. */
    unique_module(const unique_device &gpu, const void *data, std::size_t bytes,
                  const struct cushim_jit_options *options = nullptr)
    {
        detail::must(load(gpu, data, bytes, options));
    }
    /** Load a file, or throw. */
    unique_module(const unique_device &gpu, const std::string &path,
                  const struct cushim_jit_options *options = nullptr)
    {
        detail::must(load_file(gpu, path.c_str(), options));
    }
    /** Find a kernel, or throw. */
    CUfunction function(const char *name) const
    {
        CUfunction found = nullptr;
        detail::must(try_function(name, &found));
        return found;
    }
    /** Find a variable, or throw: `stream.copy(code.global<float>("weights"), numbers)`. */
    template <typename Value> device_span<Value> global(const char *name) const
    {
        device_span<Value> found;
        detail::must(try_global(name, &found));
        return found;
    }
#endif
};

/** A graph that is ready to launch, made of what a function does in a stream. */
class unique_graph : public detail::owner<detail::graph_traits>
{
  public:
    /** No graph. */
    unique_graph() noexcept
    {
    }
    /**
     * Capture the work and instantiate it. The stream works again afterwards, on failure too; then
     * code and sentence are those of what failed first.
     *
     * @param stream  one of any owner; not the legacy default stream
     * @param work    called once, and does its work in the stream. work() returns nothing, or a
     *                CUresult; and may throw
     * @param mode    see cushim_capture_begin. This one leaves other threads free; drivers before
     *                10.1 can only do what GLOBAL does, and do that for it
     */
    template <typename Work>
    CUresult capture(const struct cushim_api *cu, CUstream stream, Work &&work,
                     CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    {
        CUgraph collected = nullptr; /* left if no cuGraphDestroy: a stub's sentence is no reason */
        CUgraphExec made = nullptr;
        if (mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && !CUSHIM_HAS(cu, cuStreamBeginCapture_v2))
            mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
        CUresult code = cushim_capture_begin(cu, stream, mode);
        if (code != CUDA_SUCCESS)
            return code;
        {
            cancel guard = {cu, stream};
            cushim_last_error_clear();
            code = done(work, std::is_void<decltype(work())>());
            if (code != CUDA_SUCCESS)
                return *cushim_last_error() ? code
                                            : cushim_error_explain(code, "graph", "captured work");
            code = CUSHIM_SAY_("graph", cu, cuStreamEndCapture, stream, &collected);
            if (code != CUDA_SUCCESS)
                return code;
            guard.cu = nullptr;
        }
        code = cushim_graph_instantiate(cu, collected, 0, &made);
        if (CUSHIM_HAS(cu, cuGraphDestroy))
            cu->cuGraphDestroy(collected);
        return adopt(cu, code, made);
    }
    /** The same in the stream of an owner. */
    template <typename Work>
    CUresult capture(const unique_stream &stream, Work &&work,
                     CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    {
        const CUresult code = detail::require(stream, "graph", "an empty stream");
        return code ? code : capture(stream.table(), stream.get(), std::forward<Work>(work), mode);
    }
    /** Launch the graph in a stream. */
    CUresult try_launch(CUstream stream) const noexcept
    {
        const CUresult code = ready("graph");
        return code ? code : CUSHIM_SAY_("graph", table(), cuGraphLaunch, get(), stream);
    }
#if CUSHIM_EXCEPTIONS
    /** Capture the work and instantiate it, or throw. */
    template <typename Work>
    unique_graph(const unique_stream &stream, Work &&work,
                 CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    {
        detail::must(capture(stream, std::forward<Work>(work), mode));
    }
    /** Launch the graph, or throw. */
    void launch(const unique_stream &stream) const
    {
        detail::must(detail::require(stream, "graph", "launch: an empty stream"));
        detail::must(try_launch(stream.get()));
    }
#endif

  private:
    template <typename Work> static CUresult done(Work &work, std::true_type)
    {
        work();
        return CUDA_SUCCESS;
    }
    template <typename Work> static CUresult done(Work &work, std::false_type)
    {
        return work();
    }
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

} // namespace cushim

#undef CUSHIM_SAY_

#endif
