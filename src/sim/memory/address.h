/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MEMORY_ADDRESS_H
#define CUSHIM_SIM_MEMORY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses of the device without memory behind them; 0: none left. */
uint64_t sim_address_reserve(size_t size, size_t align);
void sim_address_release(uint64_t address, size_t size);
#define SIM_ADDRESS_CHUNK ((size_t)2 << 20)
/* Whole chunks, at `wanted` where that is free; 0: none left. */
uint64_t sim_address_reserve_chunks(size_t size, size_t align, uint64_t wanted);
bool sim_address_is_device(uint64_t address); /* in the space of device addresses, live or not */

#endif
