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
vcpkg_install_copyright(FILE_LIST "${sources}/LICENSE")
