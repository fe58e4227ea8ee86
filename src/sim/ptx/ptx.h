/* SPDX-License-Identifier: MIT */
/* The PTX engine, as the rest of the simulated driver sees it: text in, a module out, launches.
 * Knows nothing of the driver API. A module is immutable after ptx_compile and may be shared by
 * contexts and threads; an image is a module placed in one context's memory. */
#ifndef CUSHIM_SIM_PTX_PTX_H
#define CUSHIM_SIM_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

enum ptx_space {
    PTX_SPACE_GENERIC, /* no state space given */
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED,
    PTX_SPACE_TEX, /* the deprecated .tex: a global texture reference */
};

/* Generic addresses of memory that is not the device's; beyond any user address of the CPU. */
#define PTX_SHARED_WINDOW UINT64_C(0x800000000000)
#define PTX_LOCAL_WINDOW UINT64_C(0x810000000000)
#define PTX_PARAM_WINDOW UINT64_C(0x820000000000)
#define PTX_WINDOW_SIZE UINT64_C(0x1000000)
/* A function's address, as device code sees it: base of the image plus 16 per function. */
#define PTX_CODE_WINDOW UINT64_C(0x830000000000)

/* --- Text that grows: logs and reports. Zero it to begin; free with ptx_text_free. --- */
struct ptx_text {
    char *data; /* NUL-terminated, or NULL while empty */
    size_t length;
    size_t capacity;
};
void ptx_text_add(struct ptx_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ptx_text_free(struct ptx_text *text);

/* --- Compiling and linking --- */
enum ptx_status {
    PTX_OK,
    PTX_NO_MEMORY,
    PTX_INVALID,             /* does not parse, or is not valid PTX: the error log has lines */
    PTX_UNSUPPORTED_VERSION, /* .version is newer than options->version */
    PTX_WRONG_TARGET,        /* .target needs a newer device than options->architecture */
    PTX_UNSUPPORTED, /* valid, but the engine lacks it: the log names line and instruction */
    PTX_UNRESOLVED,  /* an extern symbol that no source defines */
    PTX_DUPLICATE,   /* two definitions of one symbol, or two that do not match */
};

struct ptx_options {
    unsigned version;       /* newest PTX version accepted: 100 * major + minor, 8.4 is 804 */
    unsigned architecture;  /* device's compute capability: 90 for sm_90; 0: any .target */
    unsigned max_errors;    /* stop after so many; 0: a sensible number */
    unsigned max_shared;    /* static bytes that a block of the device may have; 0: sm_90's */
    unsigned max_registers; /* of a thread, as the functions tell; 0: no limit but .maxnreg */
};

struct ptx_source {
    const char *name; /* for messages; NULL: "application ptx input" */
    const char *text;
    size_t size;       /* bytes; a NUL before that ends the text */
    const char *input; /* for a linker's messages of what no source defines; NULL: "ptx" */
};

struct ptx_module;

/* Compile `count` sources and link them into one module. PTX_UNSUPPORTED: none of its kernels can
 * run; where others can, those that cannot say so in their info. On success *module is the
 * caller's, to be released with ptx_module_release. `errors` and `info` (either may be NULL) grow
 * by lines in the manner of the real assembler: "ptxas application ptx input, line 7; error   :
 * ...". */
enum ptx_status ptx_compile(const struct ptx_options *options, const struct ptx_source *sources,
                            size_t count, struct ptx_text *errors, struct ptx_text *info,
                            struct ptx_module **module);
/* The same in steps, for a linker, whose sources come one by one: each is read once, and what it
 * lacks others may have. NULL: no memory. After a source that failed only ptx_build_cancel may
 * follow. The texts need not outlast the call that adds them. */
struct ptx_build *ptx_build_begin(const struct ptx_options *options);
enum ptx_status ptx_build_add(struct ptx_build *build, const struct ptx_source *source,
                              struct ptx_text *errors, struct ptx_text *info);
/* The names of functions and variables of the last source that no other may define again: one for
 * each index below the count. */
size_t ptx_build_definitions(const struct ptx_build *build);
const char *ptx_build_definition(const struct ptx_build *build, size_t index); /* NULL: none */
/* Link and compile them. The build is used up, in failure too. */
enum ptx_status ptx_build_end(struct ptx_build *build, struct ptx_text *errors,
                              struct ptx_text *info, struct ptx_module **module);
void ptx_build_cancel(struct ptx_build *build); /* NULL: nothing */
size_t ptx_sources_read(void);                  /* in this process: what compiling has cost */
struct ptx_module *ptx_module_retain(struct ptx_module *module);
void ptx_module_release(struct ptx_module *module);

/* --- What a module holds --- */
enum ptx_variable_kind {
    PTX_VARIABLE_MEMORY,
    PTX_VARIABLE_TEXREF,
    PTX_VARIABLE_SURFREF,
    PTX_VARIABLE_SAMPLERREF
};
struct ptx_variable {
    const char *name;
    enum ptx_space space; /* PTX_SPACE_GLOBAL or PTX_SPACE_CONST */
    enum ptx_variable_kind kind;
    uint64_t size; /* bytes; of a reference: 8, the handle */
    uint32_t align;
    bool managed;
    bool visible; /* .visible, .weak or .common */
};

struct ptx_parameter {
    uint32_t offset; /* bytes, in the packed parameter buffer */
    uint32_t size;
    uint32_t align;
};

struct ptx_function_info {
    const char *name;
    bool entry;
    bool visible;
    const struct ptx_parameter *params;
    uint32_t param_count;
    uint32_t param_size;    /* bytes up to the end of the last parameter */
    uint32_t static_shared; /* bytes, with those of the functions that it can call */
    uint32_t local;         /* bytes per thread */
    uint32_t constants;     /* bytes of user constant memory in the module */
    uint32_t registers;     /* 32-bit registers per thread, estimated from live values */
    uint32_t max_threads;   /* .maxntid or .reqntid product; 0: not given */
    uint32_t required[3];   /* .reqntid; 0: not given */
    uint32_t cluster[3];    /* .reqnctapercluster; 0: not given */
    uint32_t max_cluster;   /* .maxclusterrank; 0: not given */
    bool uses_references;   /* texture references, with those of the functions that it can call */
    const char *lacks; /* what it or a function that it calls needs and the engine lacks: such a
                          kernel must not be launched. NULL: nothing */
};

unsigned ptx_module_target(const struct ptx_module *module); /* 90 */
size_t ptx_module_variables(const struct ptx_module *module);
const struct ptx_variable *ptx_module_variable(const struct ptx_module *module, size_t index);
bool ptx_module_uses_heap(const struct ptx_module *module); /* it has calls of malloc or free */
/* Functions with a body, in the order of the source; entries and device functions. */
size_t ptx_module_functions(const struct ptx_module *module);
const struct ptx_function_info *ptx_module_function(const struct ptx_module *module, size_t index);

/* --- Device memory, as the driver side presents it --- */
enum { PTX_RANGE_READ = 1, PTX_RANGE_WRITE = 2 };
struct ptx_range {
    uint64_t base; /* device address */
    uint64_t size;
    char *host; /* where the bytes are */
    uint32_t flags;
    const unsigned char *live; /* of a heap, which parts may be used (heap.c); else NULL */
};

/* Textures and surfaces, by the handle that a kernel holds. */
enum ptx_channel {
    PTX_CHANNEL_U8 = 1,
    PTX_CHANNEL_U16 = 2,
    PTX_CHANNEL_U32 = 3,
    PTX_CHANNEL_S8 = 8,
    PTX_CHANNEL_S16 = 9,
    PTX_CHANNEL_S32 = 10,
    PTX_CHANNEL_F16 = 16,
    PTX_CHANNEL_F32 = 32
}; /* values of CUarray_format */
enum ptx_address_mode { PTX_WRAP, PTX_CLAMP, PTX_MIRROR, PTX_BORDER };
struct ptx_level { /* one mipmap level, or the whole of what has none */
    char *data;
    uint32_t width, height, depth;   /* elements; 0 height: 1D; depth: slices or layers */
    uint64_t row_pitch, slice_pitch; /* bytes */
};
struct ptx_texture {
    const struct ptx_level *levels;
    uint32_t level_count;
    enum ptx_channel channel;
    uint32_t channels;  /* 1, 2 or 4 */
    bool linear_memory; /* tex1Dfetch from a buffer: no filtering, no addressing modes */
    bool layered, cubemap;
    enum ptx_address_mode address[3];
    bool linear_filter, linear_mipmap;
    bool normalized; /* coordinates */
    bool as_integer; /* elements are read as they are; otherwise integers become 0..1 or -1..1 */
    bool srgb;
    float border[4];
    float mipmap_bias, min_level, max_level;
};

/* --- Maps of tensors: 128 bytes that a program makes and a kernel copies by --- */
enum ptx_tensor_type {
    PTX_TENSOR_U8,
    PTX_TENSOR_U16,
    PTX_TENSOR_U32,
    PTX_TENSOR_S32,
    PTX_TENSOR_U64,
    PTX_TENSOR_S64,
    PTX_TENSOR_F16,
    PTX_TENSOR_F32,
    PTX_TENSOR_F64,
    PTX_TENSOR_BF16,
    PTX_TENSOR_F32_FTZ,
    PTX_TENSOR_TF32,
    PTX_TENSOR_TF32_FTZ,
    PTX_TENSOR_TYPES
}; /* values of CUtensorMapDataType */
/* What tiles are: boxes, or pixels in columns, of which wide ones are copied by no instruction. */
enum ptx_tensor_im2col { PTX_TENSOR_BOX, PTX_TENSOR_IM2COL, PTX_TENSOR_WIDE };
#define PTX_TENSOR_RANKS 5
#define PTX_TENSOR_MAP_BYTES 128
struct ptx_tensor {
    uint64_t address;
    uint64_t strides[PTX_TENSOR_RANKS - 1]; /* bytes, of each dimension but the first */
    uint32_t sizes[PTX_TENSOR_RANKS];       /* elements of each dimension, minus one */
    uint16_t box[PTX_TENSOR_RANKS];         /* elements that a tile spans */
    uint8_t steps[PTX_TENSOR_RANKS];        /* from one element of a tile to the next */
    uint8_t type;                           /* enum ptx_tensor_type */
    uint8_t rank;                           /* 1 to 5 */
    uint8_t interleave;                     /* values of CUtensorMapInterleave */
    uint8_t swizzle;                        /* values of CUtensorMapSwizzle */
    uint8_t nan;                            /* what is outside of the tensor is no 0, but NaN */
    uint8_t im2col;                         /* enum ptx_tensor_im2col; not of boxes: */
    int16_t lower[3], upper[3];             /* corners of where pixels begin, innermost first */
    uint16_t channels, pixels;              /* of a tile */
};
unsigned ptx_tensor_type_size(enum ptx_tensor_type type); /* bytes; 0: no type */
/* Bytes of a pixel's slice; of an interleaved tensor, whose innermost dimension is of pixels. */
unsigned ptx_tensor_slice(const struct ptx_tensor *tensor);
void ptx_tensor_encode(const struct ptx_tensor *tensor, void *map);
/* False: the bytes are no map, or a damaged one. */
bool ptx_tensor_decode(const void *map, struct ptx_tensor *tensor);

struct ptx_world { /* what a launch sees of its context */
    void *user;
    /* Live allocations that contain `address`; false: none. Called when a thread's cached ranges
     * miss; from any worker thread. */
    bool (*find)(void *user, uint64_t address, struct ptx_range *range);
    /* Texture or surface of a handle; NULL: not a live one. The result stays valid for the
     * launch.*/
    const struct ptx_texture *(*texture)(void *user, uint64_t handle);
    const struct ptx_texture *(*surface)(void *user, uint64_t handle);
    /* Output of device printf; called from any worker thread, whole messages. */
    void (*print)(void *user, const char *text, size_t length);
    /* The sentence of a failed assertion; NULL: as what printf prints. */
    void (*print_error)(void *user, const char *text, size_t length);
    /* A value that graphs ask for; NULL: nowhere. From any worker thread. */
    void (*set_conditional)(void *user, uint64_t handle, uint32_t value);
    struct ptx_heap *heap; /* of the device's malloc and free; NULL: malloc gives 0 */
    /* A sentence of ptx_checks; NULL: nowhere. */
    void (*note)(void *user, const char *sentence);
};

/* --- Heaps of the device's own malloc and free --- */
/* At device addresses from `base` on, a multiple of 32; rounded down to one. The bytes are taken
 * from the host when they are touched. NULL: the host has no memory. After fork(), a heap that a
 * launch may have had at that moment is of no use to the child, which makes its own. */
struct ptx_heap *ptx_heap_create(uint64_t base, uint64_t size);
void ptx_heap_destroy(struct ptx_heap *heap); /* no launch may be running that has it */

/* --- Threads --- */
/* With all signals blocked, and `stack` bytes of stack (0: the default). */
bool ptx_thread_start(pthread_t *id, size_t stack, void *(*run)(void *), void *user);
/* Before the first: the library of `address` keeps this one loaded, and is itself what must stay.
 */
void ptx_thread_stay_in(const void *address);

/* --- Images: a module in one context's memory --- */
/* Place `module` at `addresses` (device address of each variable) whose bytes, zero so far, are at
 * `hosts`; writes the variables' initial values there. 0 addresses are allowed for references. */
struct ptx_image *ptx_image_create(struct ptx_module *module, const uint64_t *addresses,
                                   char *const *hosts);
void ptx_image_destroy(struct ptx_image *image);

/* --- Launching --- */
enum ptx_fault_kind {
    PTX_FAULT_NONE,
    PTX_FAULT_ILLEGAL_ADDRESS,     /* 700 */
    PTX_FAULT_TIMEOUT,             /* 702 */
    PTX_FAULT_STOPPED,             /* 702: ptx_stop */
    PTX_FAULT_ASSERT,              /* 710 */
    PTX_FAULT_STACK,               /* 714: recursion or stack overflow */
    PTX_FAULT_ILLEGAL_INSTRUCTION, /* 715 */
    PTX_FAULT_MISALIGNED,          /* 716 */
    PTX_FAULT_ADDRESS_SPACE,       /* 717 */
    PTX_FAULT_INVALID_PC,          /* 718: a function pointer that is none */
    PTX_FAULT_TRAP,                /* 719 */
    PTX_FAULT_BARRIER,             /* 719: a barrier that not all threads reach; deadlock */
    PTX_FAULT_NO_MEMORY,           /* the host has no memory for the launch */
};
struct ptx_fault {
    enum ptx_fault_kind kind;
    uint64_t address;
    uint32_t line; /* of the PTX text; 0: none */
    uint32_t block[3], thread[3];
    char report[512]; /* one sentence: kernel, block, thread, line, instruction, address */
};

struct ptx_machine { /* the device, for special registers and limits */
    uint32_t sm_count;
    uint32_t architecture;
    uint32_t workers;       /* threads of the CPU to use; 0: all */
    uint32_t max_shared;    /* bytes per block, for %total_smem_size and the like */
    uint32_t shared_grain;  /* a block may use its shared memory up to a multiple; 0: exactly */
    uint64_t time_limit_ns; /* of a launch, in wall time; 0: none */
    uint32_t stack_limit;   /* bytes of local memory per thread for calls; 0: 1024 */
};

struct ptx_launch {
    const struct ptx_image *image;
    size_t function; /* index in the module; an entry */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0 or 1: none */
    uint32_t dynamic_shared;
    const void *params; /* packed, ptx_function_info.param_size bytes */
    bool cooperative;
    const struct ptx_machine *machine;
    const struct ptx_world *world;
};

/* What is looked for in launches from now on, at some cost: accesses that nothing orders, reads of
 * memory that nothing wrote, masks that name the wrong lanes. Before the first module is compiled.
 * With little memory, for tests. */
enum { PTX_CHECK_RACE = 1, PTX_CHECK_INIT = 2, PTX_CHECK_SYNC = 4, PTX_CHECK_LITTLE = 8 };
void ptx_checks(unsigned which);
/* For PTX_CHECK_INIT: memory of the host that becomes a block of global memory and counts as not
 * written, what others than kernels write of it, and its end. Other memory counts as written.
 * Threads: safe. */
void ptx_memory_begin(const void *host, uint64_t size);
void ptx_memory_written(const void *host, uint64_t size);
void ptx_memory_end(const void *host);

/* Run to the end, blocks in parallel over the process's worker threads. False: *fault says why, and
 * memory is as the threads left it. Threads: safe; launches of several threads share the workers.
 */
bool ptx_launch(const struct ptx_launch *launch, struct ptx_fault *fault);
/* End the launches that have begun, if `later` also those until the next request: from `at` on
 * (CLOCK_MONOTONIC, ns) each is a PTX_FAULT_STOPPED at its place. Threads: safe; signals: too. */
void ptx_stop(uint64_t at, bool later);
uint64_t ptx_launches(void); /* so far */
/* Is what began at that number, and has launched since, to end? */
bool ptx_stops(uint64_t launches);
/* End the worker threads, for a library that is about to be unloaded; no launch may be running. The
 * next launch makes new ones. */
void ptx_pool_close(void);

#endif
