# Flags of everything built here. They go through the target tenon_flags, so that a project that adds this folder as a
# subdirectory keeps its own.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(TENON_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes)
set(TENON_TEST_WARNINGS -Wall -Wextra -Wshadow)
if(TENON_WERROR)
  list(APPEND TENON_WARNINGS -Werror)
  list(APPEND TENON_TEST_WARNINGS -Werror)
endif()

add_library(tenon_flags INTERFACE)
# Each operation rounds as written: nothing is contracted, nothing is reordered.
target_compile_options(tenon_flags INTERFACE -ffp-contract=off -fno-math-errno)
target_compile_definitions(tenon_flags INTERFACE _POSIX_C_SOURCE=200809L)
if(TENON_SANITIZE)
  target_compile_options(tenon_flags INTERFACE
    -fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tenon_flags INTERFACE -fsanitize=${TENON_SANITIZE})
endif()
if(TENON_COVERAGE)
  target_compile_options(tenon_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(tenon_flags INTERFACE --coverage)
endif()
