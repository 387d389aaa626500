# Checks that need no device: who includes whom, public headers alone, what the library exports and
# needs, whether the catalogue of operations is whole and has what NumPy and PyTorch have.
# Included by tests/CMakeLists.txt.

add_test(NAME layers COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/layers/check.sh ${PROJECT_SOURCE_DIR})
add_test(NAME layers.selftest COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/layers/selftest.sh)

find_program(TENON_CXX NAMES g++ c++ clang++)
if(NOT TENON_CXX)
  set(TENON_CXX missing)
endif()
add_test(NAME headers COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/headers.sh
  ${PROJECT_SOURCE_DIR}/include ${CMAKE_C_COMPILER} ${TENON_CXX} "${opencl_headers}")
add_test(NAME exports COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/exports.sh $<TARGET_FILE:tenon>)

if(TARGET tenon_command)
  add_test(NAME catalog COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/catalog.sh $<TARGET_FILE:tenon_command>
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/docs)
  add_test(NAME names COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/names.sh $<TARGET_FILE:tenon_command>)
  set_tests_properties(catalog names PROPERTIES LABELS sources TIMEOUT 60)
endif()

# Two operations added to a copy of the sources, by the patches kept there.
if(TENON_UNIT_TESTS)
  add_test(NAME contributing COMMAND ${TENON_SH} ${CMAKE_CURRENT_SOURCE_DIR}/contributing/run.sh ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/contributing ${CMAKE_COMMAND} ${CMAKE_CTEST_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER})
  set_tests_properties(contributing PROPERTIES LABELS sources SKIP_RETURN_CODE 77 TIMEOUT 900 COST 70)
endif()

set_tests_properties(layers layers.selftest headers exports PROPERTIES
  LABELS sources SKIP_RETURN_CODE 77 TIMEOUT 60)
