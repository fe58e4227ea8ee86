#include "loader/last_error.h"
#include "loader/platform.h"
