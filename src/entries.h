#include "loader/registry.h"
