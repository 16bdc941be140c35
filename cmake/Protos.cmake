# SPDX-License-Identifier: Apache-2.0
# railhead_protos(TARGET RUNTIME file.proto… [SERVICES file.proto…])
#
# Compiles our own .proto files (api/) in the build folder into one object library TARGET, once,
# without warnings, and offers its headers as system headers "<name>.pb.h". RUNTIME is the protobuf
# library to link: protobuf::libprotobuf-lite or protobuf::libprotobuf. Of the files after SERVICES the
# gRPC services are compiled, too ("<name>.grpc.pb.h").
function(railhead_protos target runtime)
  set(generated ${CMAKE_BINARY_DIR}/api/${target})
  file(MAKE_DIRECTORY ${generated})
  set(sources)
  cmake_parse_arguments(PROTOS "" "" "SERVICES" ${ARGN})
  foreach(proto IN LISTS PROTOS_SERVICES)
    get_filename_component(name ${proto} NAME_WE)
    add_custom_command(
      OUTPUT ${generated}/${name}.grpc.pb.cc ${generated}/${name}.grpc.pb.h
      COMMAND protobuf::protoc --grpc_out=${generated} -I ${CMAKE_SOURCE_DIR}/api
        --plugin=protoc-gen-grpc=${RAILHEAD_GRPC_PLUGIN} ${CMAKE_SOURCE_DIR}/api/${proto}
      DEPENDS ${CMAKE_SOURCE_DIR}/api/${proto}
      COMMENT "protoc ${proto}, services" VERBATIM)
    list(APPEND sources ${generated}/${name}.grpc.pb.cc ${generated}/${name}.grpc.pb.h)
  endforeach()
  foreach(proto IN LISTS PROTOS_UNPARSED_ARGUMENTS PROTOS_SERVICES)
    get_filename_component(name ${proto} NAME_WE)
    add_custom_command(
      OUTPUT ${generated}/${name}.pb.cc ${generated}/${name}.pb.h
      COMMAND protobuf::protoc --cpp_out=${generated} -I ${CMAKE_SOURCE_DIR}/api
        ${CMAKE_SOURCE_DIR}/api/${proto}
      DEPENDS ${CMAKE_SOURCE_DIR}/api/${proto}
      COMMENT "protoc ${proto}" VERBATIM)
    list(APPEND sources ${generated}/${name}.pb.cc ${generated}/${name}.pb.h)
  endforeach()
  add_library(${target} OBJECT ${sources})
  add_custom_target(${target}_sources DEPENDS ${sources})
  if(NOT TARGET generated_sources)
    add_custom_target(generated_sources)
  endif()
  add_dependencies(generated_sources ${target}_sources)
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC ${generated})
  target_link_libraries(${target} PUBLIC ${runtime})
endfunction()
