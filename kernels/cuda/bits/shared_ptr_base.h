/* SPDX-License-Identifier: MIT */
/* Of GNU's C++ library, behind <memory>: it writes __noinline__ as the name of an attribute, which
 * is our macro before clang 15. */
#pragma clang system_header
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
