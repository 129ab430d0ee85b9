# What find_package(tiledmm) reads, and CMakeLists.txt for the second part. The headers are found from here, so that the whole installation
# can be moved.
if(NOT TARGET tiledmm::tiledmm)
    get_filename_component(tiledmm_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
    add_library(tiledmm::tiledmm INTERFACE IMPORTED)
    set_target_properties(tiledmm::tiledmm PROPERTIES
                          INTERFACE_INCLUDE_DIRECTORIES "${tiledmm_prefix}/include")
    unset(tiledmm_prefix)
endif()

# What CMake takes of itself if nobody says for which GPU is the oldest that nvcc knows: right, but slow.
if(CMAKE_CUDA_COMPILER_LOADED AND CMAKE_CUDA_ARCHITECTURES)
    set(tiledmm_old TRUE)
    foreach(tiledmm_architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
        string(REGEX MATCH "^[0-9]+" tiledmm_number "${tiledmm_architecture}")
        if(NOT tiledmm_number OR NOT tiledmm_number LESS 80) # native, all, 80, 90a
            set(tiledmm_old FALSE)
        endif()
    endforeach()
    if(tiledmm_old)
        message(NOTICE "tiledmm: CMAKE_CUDA_ARCHITECTURES is ${CMAKE_CUDA_ARCHITECTURES}: kernels are compiled "
                       "without asynchronous copies, tensor cores and clusters, which begin with 80. For the GPU "
                       "of this machine: cmake -DCMAKE_CUDA_ARCHITECTURES=native (Hopper: 90a)")
    endif()
    unset(tiledmm_old)
    unset(tiledmm_architecture)
    unset(tiledmm_number)
endif()
