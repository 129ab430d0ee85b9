# What find_package(tiledmm) reads. The headers are found from here, so that the whole installation
# can be moved.
if(NOT TARGET tiledmm::tiledmm)
    get_filename_component(tiledmm_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
    add_library(tiledmm::tiledmm INTERFACE IMPORTED)
    set_target_properties(tiledmm::tiledmm PROPERTIES
                          INTERFACE_INCLUDE_DIRECTORIES "${tiledmm_prefix}/include")
    unset(tiledmm_prefix)
endif()
