# Texts that the library needs at run time become byte arrays in a generated C file, by CMake alone.
#
#   tenon_embed(OUTPUT file...)     in a CMakeLists.txt
#   cmake -DOUTPUT=x.c -DLIST=files.txt -P embed.cmake      what the build runs when one of the files changed

function(tenon_embed output)
  set(files ${ARGN})
  list(SORT files)
  list(JOIN files "\n" text)
  set(TENON_EMBED_LIST "${text}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embed.list.in ${output}.list @ONLY)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DLIST=${output}.list -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${output}.list ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding kernels"
    VERBATIM)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

file(STRINGS ${LIST} files)
string(REPEAT "0x..," 24 line)
set(arrays "")
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(SIZE "${file}" size)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text${count}[] = { /* ${name} */\n${bytes}0x00};\n")
  string(APPEND entries "    {\"${name}\", (const char *)text${count}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Generated from kernels/ and src/tables/. */
#include \"device/embedded.h\"

${arrays}
const tn__embedded tn__embedded_files[] = {
${entries}    {0, 0, 0},
};
const int tn__embedded_count = ${count};
")
