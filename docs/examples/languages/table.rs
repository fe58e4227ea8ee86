// SPDX-License-Identifier: MIT
#![allow(dead_code, deref_nullptr, improper_ctypes, non_camel_case_types, non_snake_case,
         non_upper_case_globals)]
include!("cushim.rs");

fn main() {
    unsafe {
        let cu = cushim_load(std::ptr::null());
        let mut count = 0;
        if cushim_init(cu) != cushim_status_CUSHIM_OK
            || (*cu).cuDeviceGetCount.unwrap()(&mut count) != cudaError_enum_CUDA_SUCCESS {
            let reason = std::ffi::CStr::from_ptr(cushim_message(cu));
            println!("on the CPU, because {}", reason.to_string_lossy());
            return;
        }
        println!("{} devices, driver of CUDA {}", count, cushim_driver_version(cu));
    }
}
