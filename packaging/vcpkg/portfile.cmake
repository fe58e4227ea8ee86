# SPDX-License-Identifier: MIT
# The CMake package stays where an installation has it: it finds its files from there.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
vcpkg_download_distfile(archive
    URLS "@release@"
    FILENAME cushim-0.1.0.tar.xz
    SHA512 @sha512@
)
vcpkg_extract_source_archive(sources ARCHIVE "${archive}")
vcpkg_configure_meson(
    SOURCE_PATH "${sources}"
    OPTIONS -Dtools=disabled -Dman=disabled -Dsim=false
)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
# A debug build has its own libraries, and cushim_embed from the folder above, as headers are.
if(NOT VCPKG_BUILD_TYPE)
    vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/debug/lib/cmake/cushim/cushim-config.cmake"
        "\"share\"" "\"../share\"")
endif()
# The command is a link to share/cushim/embed.py; vcpkg wants none in bin.
foreach(folder IN ITEMS bin debug/bin)
    file(REMOVE "${CURRENT_PACKAGES_DIR}/${folder}/cushim-embed")
    file(GLOB libraries "${CURRENT_PACKAGES_DIR}/${folder}/*")
    if(NOT libraries)
        file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/${folder}")
    endif()
endforeach()
vcpkg_install_copyright(FILE_LIST "${sources}/LICENSE")
