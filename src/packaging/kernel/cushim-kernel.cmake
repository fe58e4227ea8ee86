# SPDX-License-Identifier: MIT
# cushim_embed(TARGET FILE... [OLDEST 10.2] [DEFINES N=4...] [INCLUDES FOLDER...] [STD c++17]
#              [ISA 6.0] [ARCH sm_60] [WITH nvcc] [CLANG clang-15])
#
# Each FILE is a .ptx or a .cu file. The target gets a header with its PTX as a string: add.cu is
# #include "add_ptx.h", static const char add_ptx[]. The build fails if drivers of the release
# OLDEST do not read that PTX. A .cu file is compiled by clang, nvcc or nvrtc, for ISA and ARCH, and
# again when a header that it includes has changed.
set(_cushim_embed "${CMAKE_CURRENT_LIST_DIR}/embed.py")
if(NOT EXISTS "${_cushim_embed}") # cushim's own tree
    get_filename_component(_cushim_embed "${CMAKE_CURRENT_LIST_DIR}/../../../kernels/embed.py" ABSOLUTE)
endif()
set(_cushim_embed "${_cushim_embed}" CACHE INTERNAL "what makes headers of kernels")
if(POLICY CMP0116)
    cmake_policy(SET CMP0116 NEW) # Ninja finds the outputs that DEPFILE names
endif()

function(cushim_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 embed "" "OLDEST;STD;ISA;ARCH;WITH;CLANG" "DEFINES;INCLUDES")
    set(files "${embed_UNPARSED_ARGUMENTS}")
    foreach(file IN LISTS files)
        if(NOT file MATCHES "\\.(cu|ptx)$")
            message(FATAL_ERROR "cushim_embed: ${file} is no .cu and no .ptx file. The arguments are "
                "TARGET FILE... OLDEST DEFINES INCLUDES STD ISA ARCH WITH CLANG, such as DEFINES N=4")
        endif()
    endforeach()
    if(NOT files)
        message(FATAL_ERROR "cushim_embed: ${target} gets no .cu and no .ptx file")
    endif()
    find_program(CUSHIM_PYTHON NAMES python3 python REQUIRED)
    if(files MATCHES "\\.cu(;|$)" AND (NOT embed_WITH OR embed_WITH STREQUAL clang))
        set(clang clang)
        if(embed_CLANG)
            set(clang "${embed_CLANG}")
        endif()
        find_program(_cushim_clang_found NAMES "${clang}")
        if(NOT _cushim_clang_found)
            message(FATAL_ERROR "cushim_embed: ${clang} is not found, and compiles "
                "${files}: install it (Debian's package clang), or name one with "
                "CLANG, or take a toolkit's compiler with WITH nvcc")
        endif()
        unset(_cushim_clang_found CACHE)
    endif()
    set(options "")
    foreach(pair "OLDEST;--oldest" "STD;--std" "ISA;--isa" "ARCH;--target"
            "WITH;--with" "CLANG;--clang")
        list(GET pair 0 name)
        list(GET pair 1 option)
        if(embed_${name})
            list(APPEND options ${option} ${embed_${name}})
        endif()
    endforeach()
    foreach(macro IN LISTS embed_DEFINES)
        list(APPEND options "-D${macro}")
    endforeach()
    foreach(include IN LISTS embed_INCLUDES)
        get_filename_component(include "${include}" ABSOLUTE)
        list(APPEND options "-I${include}")
    endforeach()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}-kernels")
    file(MAKE_DIRECTORY "${folder}")
    foreach(file IN LISTS files)
        get_filename_component(source "${file}" ABSOLUTE)
        get_filename_component(name "${file}" NAME)
        string(REGEX REPLACE "\\.[^.]*$" "" name "${name}")
        set(header "${folder}/${name}_ptx.h")
        set(made "${header}")
        set(included DEPFILE "${header}.d")
        if(CMAKE_VERSION VERSION_LESS 3.20 AND CMAKE_GENERATOR MATCHES Ninja)
            file(RELATIVE_PATH made "${CMAKE_BINARY_DIR}" "${header}") # as Ninja knows it
        elseif(CMAKE_VERSION VERSION_LESS 3.20)
            set(included IMPLICIT_DEPENDS CXX "${source}") # Make finds the headers itself
        endif()
        add_custom_command(
            OUTPUT "${header}"
            COMMAND "${CUSHIM_PYTHON}" "${_cushim_embed}" ${options} --depfile "${header}.d"
                    "${source}" "${made}"
            DEPENDS "${source}" "${_cushim_embed}"
            WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
            ${included}
            VERBATIM)
        target_sources(${target} PRIVATE "${header}")
    endforeach()
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()
