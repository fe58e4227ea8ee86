#include "loader/instance.h"
#include "loader/last_error.h"
#include "loader/init.h"
typedef void cushim_close_hook(const struct cushim_api *cu);
static _Atomic(cushim_close_hook *) cushim_on_close __attribute__((unused));
static __thread char old_reason_text[1024] __attribute__((unused));
#define old_reason(cu, symbol, state) cushim_reason(cu, symbol, state, old_reason_text, sizeof old_reason_text)
