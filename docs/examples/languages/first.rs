// SPDX-License-Identifier: MIT
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Api {
    _opaque: [u8; 0],
}

#[link(name = "cushim")]
extern "C" {
    fn cushim_load(options: *const c_void) -> *const Api;
    fn cushim_init(cu: *const Api) -> c_int;
    fn cushim_message(cu: *const Api) -> *const c_char;
    fn cushim_last_error() -> *const c_char;
    fn cushim_proc(cu: *const Api, name: *const c_char, version: c_int, stream: c_int,
                   why: *mut c_int) -> *mut c_void;
    fn cushim_primary_retain(cu: *const Api, device: c_int, context: *mut *mut c_void) -> c_int;
    fn cushim_primary_release(cu: *const Api, device: c_int) -> c_int;
    fn cushim_memory_alloc(cu: *const Api, bytes: usize, address: *mut u64) -> c_int;
    fn cushim_memory_free(cu: *const Api, address: u64) -> c_int;
    fn cushim_fill_32(cu: *const Api, dst: u64, value: c_uint, count: usize) -> c_int;
    fn cushim_copy_to_host(cu: *const Api, dst: *mut c_void, src: u64, bytes: usize) -> c_int;
}

fn text(words: *const c_char) -> String {
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}

fn check(code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(text(unsafe { cushim_last_error() })) }
}

/// Device 0, its primary context current on this thread.
struct Device {
    cu: *const Api,
}

impl Device {
    fn enter() -> Result<Device, String> {
        let cu = unsafe { cushim_load(null()) };
        if unsafe { cushim_init(cu) } != 0 {
            return Err(text(unsafe { cushim_message(cu) }));
        }
        let name = b"cuCtxSetCurrent\0".as_ptr() as *const c_char;
        let found = unsafe { cushim_proc(cu, name, 4000, 0, null_mut()) };
        if found.is_null() {
            return Err(text(unsafe { cushim_last_error() }));
        }
        let set_current: extern "C" fn(*mut c_void) -> c_int =
            unsafe { std::mem::transmute(found) };
        let mut context = null_mut();
        check(unsafe { cushim_primary_retain(cu, 0, &mut context) })?;
        let device = Device { cu };
        match set_current(context) {
            0 => Ok(device),
            code => Err(format!("cuCtxSetCurrent returned {}", code)),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        unsafe { cushim_primary_release(self.cu, 0) };
    }
}

/// Device memory; it cannot outlive its device.
struct Memory<'a> {
    device: &'a Device,
    address: u64,
}

impl<'a> Memory<'a> {
    fn new(device: &'a Device, bytes: usize) -> Result<Memory<'a>, String> {
        let mut address = 0;
        check(unsafe { cushim_memory_alloc(device.cu, bytes, &mut address) })?;
        Ok(Memory { device, address })
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        unsafe { cushim_memory_free(self.device.cu, self.address) };
    }
}

fn on_gpu(numbers: &mut [u32]) -> Result<(), String> {
    let bytes = numbers.len() * 4;
    let device = Device::enter()?;
    let memory = Memory::new(&device, bytes)?;
    let into = numbers.as_mut_ptr() as *mut c_void;
    check(unsafe { cushim_fill_32(device.cu, memory.address, 7, numbers.len()) })?;
    check(unsafe { cushim_copy_to_host(device.cu, into, memory.address, bytes) })
}

fn main() {
    let mut numbers = vec![0; 1024];
    match on_gpu(&mut numbers) {
        Err(reason) => println!("on the CPU, because {}", reason),
        Ok(()) if numbers.iter().all(|&number| number == 7) => {
            println!("{} numbers, all of them 7", numbers.len())
        }
        Ok(()) => std::process::exit(1),
    }
}
