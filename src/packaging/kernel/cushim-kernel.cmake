# SPDX-License-Identifier: MIT
# cushim_embed(TARGET FILE... [OLDEST 10.2] [ISA 6.0] [ARCH sm_60] [WITH nvcc] [CLANG clang-15])
#
# Each FILE is a .ptx or a .cu file. The target gets a header with its PTX as a string: add.cu is
# #include "add_ptx.h", static const char add_ptx[]. The build fails if drivers of the release
# OLDEST do not read that PTX. A .cu file is compiled by clang, nvcc or nvrtc, for ISA and ARCH.
set(_cushim_embed "${CMAKE_CURRENT_LIST_DIR}/embed.py")
if(NOT EXISTS "${_cushim_embed}") # cushim's own tree
    get_filename_component(_cushim_embed "${CMAKE_CURRENT_LIST_DIR}/../../../kernels/embed.py" ABSOLUTE)
endif()
set(_cushim_embed "${_cushim_embed}" CACHE INTERNAL "what makes headers of kernels")

function(cushim_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 embed "" "OLDEST;ISA;ARCH;WITH;CLANG" "")
    find_program(CUSHIM_PYTHON NAMES python3 python REQUIRED)
    if(embed_UNPARSED_ARGUMENTS MATCHES "\\.cu(;|$)" AND (NOT embed_WITH OR embed_WITH STREQUAL clang))
        set(clang clang)
        if(embed_CLANG)
            set(clang "${embed_CLANG}")
        endif()
        find_program(_cushim_clang_found NAMES "${clang}")
        if(NOT _cushim_clang_found)
            message(FATAL_ERROR "cushim_embed: ${clang} is not found, and compiles "
                "${embed_UNPARSED_ARGUMENTS}: install it (Debian's package clang), or name one with "
                "CLANG, or take a toolkit's compiler with WITH nvcc")
        endif()
        unset(_cushim_clang_found CACHE)
    endif()
    set(options "")
    foreach(pair "OLDEST;--oldest" "ISA;--isa" "ARCH;--target"
            "WITH;--with" "CLANG;--clang")
        list(GET pair 0 name)
        list(GET pair 1 option)
        if(embed_${name})
            list(APPEND options ${option} ${embed_${name}})
        endif()
    endforeach()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}-kernels")
    file(MAKE_DIRECTORY "${folder}")
    foreach(file IN LISTS embed_UNPARSED_ARGUMENTS)
        get_filename_component(source "${file}" ABSOLUTE)
        get_filename_component(name "${file}" NAME_WE)
        add_custom_command(
            OUTPUT "${folder}/${name}_ptx.h"
            COMMAND "${CUSHIM_PYTHON}" "${_cushim_embed}" ${options} "${source}"
                    "${folder}/${name}_ptx.h"
            DEPENDS "${source}" "${_cushim_embed}"
            VERBATIM)
        target_sources(${target} PRIVATE "${folder}/${name}_ptx.h")
    endforeach()
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()
