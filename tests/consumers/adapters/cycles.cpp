// SPDX-License-Identifier: MIT
// As Blender's Cycles uses cuew: loaded once, one macro that checks each call, a scope that pushes
// the context, the compiler looked for if there is no kernel for the device.
#include <cstdio>
#include <string>
#include <vector>

#include <cushim/cuew.h>

#define cuda_assert(stmt)                                                                          \
    {                                                                                              \
        CUresult result = stmt;                                                                    \
        if (result != CUDA_SUCCESS)                                                                \
            set_error(std::string(cuewErrorString(result)) + " in " + #stmt);                      \
    }                                                                                              \
    (void)0

static bool device_cuda_init()
{
    static bool initialized = false, result = false;
    if (initialized)
        return result;
    initialized = true;
    int cuew_result = cuewInit(CUEW_INIT_CUDA);
    if (cuew_result == CUEW_SUCCESS) {
        std::printf("CUEW initialization succeeded\n");
        if (const char *compiler = cuewCompilerPath())
            std::printf("compiler %s of %d\n", compiler, cuewCompilerVersion());
        else
            std::printf("no compiler, version %d\n", cuewCompilerVersion());
        result = true;
    } else {
        std::printf("CUEW initialization failed: %s\n", cuew_result == CUEW_ERROR_ATEXIT_FAILED
                                                            ? "Error setting up atexit() handler"
                                                            : "Error opening the library");
    }
    return result;
}

class CUDADevice
{
  public:
    explicit CUDADevice(int id)
    {
        CUresult result = cuInit(0);
        if (result != CUDA_SUCCESS) {
            set_error(std::string("Failed to initialize CUDA runtime (") + cuewErrorString(result) +
                      ")");
            return;
        }
        cuda_assert(cuDeviceGet(&device, id));
        cuda_assert(cuCtxCreate(&context, CU_CTX_MAP_HOST, device));
        cuda_assert(cuCtxPopCurrent(nullptr));
    }
    ~CUDADevice()
    {
        if (context)
            cuda_assert(cuCtxDestroy(context));
    }
    void set_error(const std::string &text)
    {
        std::printf("%s\n", text.c_str());
        failed = true;
    }
    bool copy()
    {
        std::vector<float> in(256, 2.5f), out(256);
        CUdeviceptr memory = 0;
        cuda_assert(cuCtxPushCurrent(context));
        cuda_assert(cuMemAlloc(&memory, in.size() * sizeof(float)));
        cuda_assert(cuMemcpyHtoD(memory, in.data(), in.size() * sizeof(float)));
        cuda_assert(cuMemcpyDtoH(out.data(), memory, in.size() * sizeof(float)));
        cuda_assert(cuMemFree(memory));
        cuda_assert(cuMemFree(12345));
        cuda_assert(cuCtxPopCurrent(nullptr));
        return in == out;
    }
    bool failed = false;

  private:
    CUdevice device = 0;
    CUcontext context = nullptr;
};

int main()
{
    std::printf("nothing %d, nvrtc %d, both %d\n", cuewInit(0), cuewInit(CUEW_INIT_NVRTC),
                cuewInit(CUEW_INIT_CUDA | CUEW_INIT_NVRTC));
    if (!device_cuda_init() || !device_cuda_init())
        return 0;
    CUDADevice device(0);
    if (!device.failed)
        std::printf("copy %d\n", device.copy());
    return 0;
}
