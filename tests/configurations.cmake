# What a configuration is: its environment, and why it cannot run here (empty when it can).

# A program under test sees none of these from outside.
set(environment_unset
  TENON_DEVICE TENON_OPENCL TENON_ZLIB TENON_DEVICES TENON_EAGER TENON_PROFILE TENON_MEMORY_LIMIT TENON_KERNEL_DIR TENON_LOG
  OPENCL_LAYERS OCL_ICD_FILENAMES POCL_DEVICES POCL_MAX_WORK_GROUP_SIZE POCL_MAX_PTHREAD_COUNT
  RUSTICL_ENABLE RUSTICL_DEVICE_TYPE)
# Drivers share their caches; the library's own is off but for suites that say CACHE, since saving a program costs PoCL as much
# as building it.
set(environment_all
  CK_FORK=no
  TENON_CACHE_DIR=
  POCL_CACHE_DIR=${TENON_TEST_CACHE}/pocl
  MESA_SHADER_CACHE_DIR=${TENON_TEST_CACHE}/mesa)

file(MAKE_DIRECTORY ${TENON_TEST_CACHE}/tenon ${TENON_TEST_CACHE}/pocl ${TENON_TEST_CACHE}/mesa)

# Folders that show the OpenCL loader some of the installed drivers only.
set(icd ${PROJECT_BINARY_DIR}/icd)
file(REMOVE_RECURSE ${icd})
file(MAKE_DIRECTORY ${icd}/empty ${icd}/pocl ${icd}/rusticl ${icd}/both)
set(has_pocl FALSE)
set(has_rusticl FALSE)
file(GLOB drivers ${TENON_ICD_DIR}/*.icd)
foreach(driver IN LISTS drivers)
  file(READ ${driver} library)
  if(library MATCHES "pocl")
    set(has_pocl TRUE)
    file(COPY ${driver} DESTINATION ${icd}/pocl)
    file(COPY ${driver} DESTINATION ${icd}/both)
  elseif(library MATCHES "[Rr]usticl")
    set(has_rusticl TRUE)
    file(COPY ${driver} DESTINATION ${icd}/rusticl)
    file(COPY ${driver} DESTINATION ${icd}/both)
  endif()
endforeach()

if(TENON_TEST_INTEL)
  file(WRITE ${icd}/intel/intel.icd "${TENON_TEST_INTEL}/lib/libintelocl.so\n")
endif()

set(no_pocl "")
set(no_rusticl "")
set(no_oclgrind "")
if(NOT has_pocl)
  set(no_pocl "PoCL is not installed (Debian package pocl-opencl-icd)")
endif()
if(NOT has_rusticl)
  set(no_rusticl "rusticl is not installed (Debian package mesa-opencl-icd)")
endif()
if(NOT TENON_OCLGRIND)
  set(no_oclgrind "Oclgrind is not installed (Debian package oclgrind)")
endif()

set(rusticl_on RUSTICL_ENABLE=llvmpipe RUSTICL_DEVICE_TYPE=gpu)

set(environment_host TENON_TEST_DEVICE=host OCL_ICD_VENDORS=${icd}/empty)
set(environment_none TENON_TEST_DEVICE=host OCL_ICD_VENDORS=${icd}/empty TENON_OPENCL=none)
set(environment_pocl TENON_TEST_DEVICE=cpu:0 OCL_ICD_VENDORS=${icd}/pocl)
set(environment_pocl-wide ${environment_pocl} TENON_PROFILE=wide)
set(environment_pocl-cold ${environment_pocl})
set(environment_rusticl TENON_TEST_DEVICE=gpu:0 OCL_ICD_VENDORS=${icd}/rusticl ${rusticl_on})
set(environment_rusticl-deep ${environment_rusticl} TENON_PROFILE=deep)
set(environment_both TENON_TEST_DEVICE=cpu:0 OCL_ICD_VENDORS=${icd}/both ${rusticl_on})
# Oclgrind 21.10 does not know the instruction `freeze`, which its optimizer makes.
set(environment_oclgrind TENON_TEST_DEVICE=gpu:0 OCL_ICD_VENDORS=${icd}/empty OCLGRIND_BUILD_OPTIONS=-O0)
set(environment_native TENON_TEST_DEVICE=gpu:0)
set(environment_intel TENON_TEST_DEVICE=cpu:0 OCL_ICD_VENDORS=${icd}/intel LD_LIBRARY_PATH=${TENON_TEST_INTEL}/lib)
foreach(config host none pocl pocl-wide pocl-cold rusticl rusticl-deep both oclgrind native intel)
  list(APPEND environment_${config} TENON_TEST_CONFIG=${config})
endforeach()

set(reason_host "")
set(reason_none "")
set(reason_native "")
set(reason_intel "")
if(TENON_TEST_INTEL MATCHES " ")
  set(reason_intel "Intel's runtime finds no device in a folder whose name has a space")
endif()
set(reason_pocl "${no_pocl}")
set(reason_pocl-wide "${no_pocl}")
set(reason_pocl-cold "${no_pocl}")
set(reason_rusticl "${no_rusticl}")
set(reason_rusticl-deep "${no_rusticl}")
if(no_pocl)
  set(reason_both "${no_pocl}")
else()
  set(reason_both "${no_rusticl}")
endif()
set(reason_oclgrind "${no_oclgrind}")

# Sanitizers. Drivers leak for good at their end, so leaks count only where there is none.
set(environment_sanitizer "")
set(TENON_SETARCH "")
if(TENON_SANITIZE MATCHES address)
  set(asan_options use_sigaltstack=0:verify_asan_link_order=0:strict_string_checks=1:detect_stack_use_after_return=1)
  foreach(config host none)
    list(APPEND environment_${config} ASAN_OPTIONS=${asan_options}:detect_leaks=1)
  endforeach()
  foreach(config pocl pocl-wide pocl-cold rusticl rusticl-deep both oclgrind native intel)
    list(APPEND environment_${config} ASAN_OPTIONS=${asan_options}:detect_leaks=0)
  endforeach()
  list(APPEND environment_sanitizer UBSAN_OPTIONS=print_stacktrace=1)
elseif(TENON_SANITIZE STREQUAL thread)
  # The option is in quotes of its own: the sanitizer splits its options at spaces.
  list(APPEND environment_sanitizer
    "TSAN_OPTIONS=suppressions='${CMAKE_CURRENT_SOURCE_DIR}/tsan.supp':second_deadlock_stack=1")
  # Kernels with much address randomisation leave no room for its shadow memory.
  find_program(SETARCH_PROGRAM setarch)
  if(SETARCH_PROGRAM)
    execute_process(COMMAND ${SETARCH_PROGRAM} -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(TENON_SETARCH ${SETARCH_PROGRAM})
    endif()
  endif()
endif()
