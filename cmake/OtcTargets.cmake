# The tree's root; not the source folder of a stranger's project that uses the SDK.
get_filename_component(OTC_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

# otc_library(<name> SOURCES … [DEPS …]): a static library of this repository.
function(otc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${OTC_ROOT})
  target_compile_options(${name} PRIVATE ${OTC_WARNINGS} ${OTC_HARDENING})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()

# otc_test(<name> SOURCES … [DEPS …] [ENV K=V …] [TIMEOUT s]): one GoogleTest
# binary, one ctest entry. The JUnit report lands in <build>/junit/<name>.xml,
# which `make scenarios` reads.
function(otc_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;ENV;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${OTC_ROOT})
  target_compile_options(${name} PRIVATE ${OTC_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} otc_test_main GTest::gtest)
  add_test(NAME ${name}
           COMMAND ${name} --gtest_output=xml:${CMAKE_BINARY_DIR}/junit/${name}.xml
                   --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}"
                       ENVIRONMENT "${ARG_ENV}")
endfunction()
