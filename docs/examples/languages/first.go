// SPDX-License-Identifier: MIT
package main

/*
#include <cushim/context.h>
#include <cushim/cushim.h>
#include <cushim/memory.h>

static const struct cushim_api *load(void) { return cushim_load(NULL); }

static CUresult set_current(const struct cushim_api *cu, CUcontext context)
{
    return cu->cuCtxSetCurrent(context);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

func check(code C.CUresult) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	return errors.New(C.GoString(C.cushim_last_error()))
}

func onGPU(numbers []uint32) error {
	runtime.LockOSThread() // the current context belongs to a thread of the system
	defer runtime.UnlockOSThread()
	cu := C.load()
	if C.cushim_init(cu) != C.CUSHIM_OK {
		return errors.New(C.GoString(C.cushim_message(cu)))
	}
	var context C.CUcontext
	if err := check(C.cushim_primary_retain(cu, 0, &context)); err != nil {
		return err
	}
	defer C.cushim_primary_release(cu, 0)
	if code := C.set_current(cu, context); code != C.CUDA_SUCCESS {
		return fmt.Errorf("cuCtxSetCurrent returned %d", code)
	}
	defer C.set_current(cu, nil)

	var memory C.CUdeviceptr
	bytes := C.size_t(len(numbers) * 4)
	if err := check(C.cushim_memory_alloc(cu, bytes, &memory)); err != nil {
		return err
	}
	defer C.cushim_memory_free(cu, memory)
	if err := check(C.cushim_fill_32(cu, memory, 7, C.size_t(len(numbers)))); err != nil {
		return err
	}
	return check(C.cushim_copy_to_host(cu, unsafe.Pointer(&numbers[0]), memory, bytes))
}

func main() {
	numbers := make([]uint32, 1024)
	if err := onGPU(numbers); err != nil {
		fmt.Println("on the CPU, because", err)
		return
	}
	for _, number := range numbers {
		if number != 7 {
			os.Exit(1)
		}
	}
	fmt.Println(len(numbers), "numbers, all of them 7")
}
