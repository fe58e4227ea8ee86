! SPDX-License-Identifier: MIT
program first
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function cushim_load(options) bind(c) result(cu)
      import :: c_ptr
      type(c_ptr), value :: options
      type(c_ptr) :: cu
    end function
    function cushim_init(cu) bind(c) result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: cu
      integer(c_int) :: status
    end function
    function cushim_message(cu) bind(c) result(text)
      import :: c_ptr
      type(c_ptr), value :: cu
      type(c_ptr) :: text
    end function
    function cushim_last_error() bind(c) result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function cushim_proc(cu, name, version, stream, why) bind(c) result(address)
      import :: c_ptr, c_int, c_char, c_funptr
      type(c_ptr), value :: cu, why
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: version, stream
      type(c_funptr) :: address
    end function
    function cushim_primary_retain(cu, device, context) bind(c) result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: cu
      integer(c_int), value :: device
      type(c_ptr), intent(out) :: context
      integer(c_int) :: code
    end function
    function cushim_primary_release(cu, device) bind(c) result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: cu
      integer(c_int), value :: device
      integer(c_int) :: code
    end function
    function cushim_memory_alloc(cu, bytes, address) bind(c) result(code)
      import :: c_ptr, c_int, c_size_t, c_int64_t
      type(c_ptr), value :: cu
      integer(c_size_t), value :: bytes
      integer(c_int64_t), intent(out) :: address
      integer(c_int) :: code
    end function
    function cushim_memory_free(cu, address) bind(c) result(code)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: cu
      integer(c_int64_t), value :: address
      integer(c_int) :: code
    end function
    function cushim_fill_32(cu, dst, number, count) bind(c) result(code)
      import :: c_ptr, c_int, c_size_t, c_int64_t
      type(c_ptr), value :: cu
      integer(c_int64_t), value :: dst
      integer(c_int), value :: number
      integer(c_size_t), value :: count
      integer(c_int) :: code
    end function
    function cushim_copy_to_host(cu, dst, src, bytes) bind(c) result(code)
      import :: c_ptr, c_int, c_size_t, c_int64_t
      type(c_ptr), value :: cu, dst
      integer(c_int64_t), value :: src
      integer(c_size_t), value :: bytes
      integer(c_int) :: code
    end function
  end interface
  abstract interface
    function set_current_interface(context) bind(c) result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
  end interface
  procedure(set_current_interface), pointer :: set_current
  integer(c_int), target :: numbers(1024)
  integer(c_size_t), parameter :: count = size(numbers), bytes = 4 * count
  type(c_ptr) :: cu, context
  type(c_funptr) :: found
  integer(c_int64_t) :: memory
  integer(c_int) :: code

  cu = cushim_load(c_null_ptr)
  if (cushim_init(cu) /= 0) call no_gpu(cushim_message(cu))
  found = cushim_proc(cu, 'cuCtxSetCurrent' // c_null_char, 4000, 0, c_null_ptr)
  if (.not. c_associated(found)) call no_gpu(cushim_last_error())
  call c_f_procpointer(found, set_current)
  if (cushim_primary_retain(cu, 0, context) /= 0) call no_gpu(cushim_last_error())
  code = set_current(context)
  if (code == 0) code = cushim_memory_alloc(cu, bytes, memory)
  if (code == 0) then
    code = cushim_fill_32(cu, memory, 7, count)
    if (code == 0) code = cushim_copy_to_host(cu, c_loc(numbers), memory, bytes)
    if (cushim_memory_free(cu, memory) /= 0) code = max(code, 1)
  end if
  if (cushim_primary_release(cu, 0) /= 0) code = max(code, 1)
  if (code /= 0) call no_gpu(cushim_last_error())
  if (any(numbers /= 7)) error stop
  print '(I0, A)', count, ' numbers, all of them 7'

contains

  subroutine no_gpu(reason)
    type(c_ptr), intent(in) :: reason
    character(kind=c_char), pointer :: text(:)
    integer :: length
    call c_f_pointer(reason, text, [4096])
    length = 0
    do while (text(length + 1) /= c_null_char)
      length = length + 1
    end do
    print '(*(A))', 'on the CPU, because ', text(1:length)
    stop
  end subroutine
end program
