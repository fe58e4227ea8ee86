#!/bin/sh
# SPDX-License-Identifier: MIT
# Build PyCUDA in its own folder: pycuda.sh PYTHON CUDA, on the simulated driver. Its own build
# compiles 37 small files with Boost's large headers each, for minutes. Here they are two texts.
# cuRAND is used if it is there. The first folder of LD_LIBRARY_PATH has the libcuda.so to link to.
set -eu
python=$1 cuda=$2
boost=bpl-subset/bpl_subset
ln -sfn boost $boost/pycudaboost
flags="-O0 -w -fPIC -I. -Isrc/cpp -I$boost -I$cuda/include -Dboost=pycudaboost -DPYGPU_PYCUDA
    -DPYGPU_PACKAGE=pycuda -DBOOST_PYTHON_SOURCE -DBOOST_THREAD_DONT_USE_CHRONO
    -DBOOST_MULTI_INDEX_DISABLE_SERIALIZATION -DBOOST_THREAD_BUILD_DLL
    $("$python" -c '
import numpy, sysconfig
print("-I" + numpy.get_include(), "-I" + sysconfig.get_path("include"))')"
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')

# One object of several sources.
compile() {
    object=$1
    shift
    # shellcheck disable=SC2086
    printf '#include "%s"\n' "$@" | g++ $flags -x c++ -c -o "$object" -
}

compile boost.o $boost/libs/python/src/*.cpp $boost/libs/python/src/*/*.cpp \
    $boost/libs/system/src/*.cpp $boost/libs/smart_ptr/src/*.cpp \
    $boost/libs/thread/src/pthread/*.cpp &
# The first one defines numpy's table, which the others declare.
sources="src/wrapper/wrap_cudadrv.cpp src/wrapper/mempool.cpp"
random=''
if [ -e "$cuda/include/curand.h" ]; then
    sources="$sources src/wrapper/wrap_curand.cpp"
    flags="$flags -DHAVE_CURAND"
    random=$cuda/lib/libcurand.so.10
fi
# shellcheck disable=SC2086
compile driver.o $sources src/cpp/*.cpp
compile struct.o src/wrapper/_pvt_struct_v3.cpp
wait $!
# shellcheck disable=SC2086
g++ -shared -o "pycuda/_driver$suffix" boost.o driver.o -L"${LD_LIBRARY_PATH%%:*}" -lcuda $random
g++ -shared -o "pycuda/_pvt_struct$suffix" struct.o
