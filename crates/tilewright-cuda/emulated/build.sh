#!/bin/sh
# Compiles the emulated driver and compiler into a folder: sh build.sh FOLDER
set -eu
from=$(cd "$(dirname "$0")" && pwd)
to=$1
options="-std=gnu11 -O1 -Wall -Wextra -shared -fPIC -fvisibility=hidden -Wl,-Bsymbolic"
cc $options -o "$to/libcuda.so" "$from"/driver/*.c -ldl -lpthread
cc $options -o "$to/libnvrtc.so" "$from/compiler.c" -lpthread
cc $options -DEMULATED_WITHOUT_ARCHITECTURES -o "$to/libnvrtc-old.so" "$from/compiler.c" -lpthread
