# find_package(otc-plugin-sdk REQUIRED CONFIG), from a checkout of otc-host:
#   cmake -Dotc-plugin-sdk_DIR=<checkout>/sdk/cmake …
#
# Gives otc_add_plugin(), and the targets otc_sdk (header, C++ layer, payloads),
# otc_sdk_headers (the C header alone), otc_harness (for tests, C++20) and
# otc-plugin-check. Built on demand from the checkout's sources. The project must
# have enabled the languages C and CXX. Needs protobuf 3.21 with protoc, and
# RapidJSON.
if(TARGET otc_sdk)
  return()
endif()
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_library(OTC_PROTOBUF_LITE_SO NAMES libprotobuf-lite.so REQUIRED)
add_library(otc_dep_protobuf_shared INTERFACE)
target_link_libraries(otc_dep_protobuf_shared INTERFACE ${OTC_PROTOBUF_LITE_SO} Threads::Threads)

set(OTC_SDK_ONLY ON)  # no tests and examples of the SDK itself
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/OtcTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/OtcPlugin.cmake)
add_subdirectory(${OTC_ROOT}/proto ${CMAKE_BINARY_DIR}/otc-plugin-sdk/proto EXCLUDE_FROM_ALL)
add_subdirectory(${OTC_ROOT}/sdk ${CMAKE_BINARY_DIR}/otc-plugin-sdk/sdk EXCLUDE_FROM_ALL)
