# Everything that comes from the distribution; docs/dependencies.md says why.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Poco REQUIRED COMPONENTS Foundation Net NetSSL Crypto JSON Util)
find_package(Protobuf REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(GTest REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)

# The host links protobuf-lite and yaml-cpp statically (private dependencies);
# plugins link the shared lite library, which is part of baseline 1.
find_library(OTC_PROTOBUF_LITE_A NAMES libprotobuf-lite.a REQUIRED)
find_library(OTC_PROTOBUF_LITE_SO NAMES libprotobuf-lite.so REQUIRED)
find_library(OTC_YAML_A NAMES libyaml-cpp.a REQUIRED)

add_library(otc_dep_protobuf_static INTERFACE)
target_link_libraries(otc_dep_protobuf_static INTERFACE ${OTC_PROTOBUF_LITE_A} Threads::Threads)
add_library(otc_dep_protobuf_shared INTERFACE)
target_link_libraries(otc_dep_protobuf_shared INTERFACE ${OTC_PROTOBUF_LITE_SO} Threads::Threads)
add_library(otc_dep_yaml INTERFACE)
target_link_libraries(otc_dep_yaml INTERFACE ${OTC_YAML_A})
