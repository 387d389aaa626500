#!/bin/sh
# cold.sh FOLDER PROGRAM [ARGUMENT...]: runs the program with program caches that begin empty.
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder/tenon" "$folder/pocl" || exit 1
TENON_CACHE_DIR=$folder/tenon POCL_CACHE_DIR=$folder/pocl exec "$@"
