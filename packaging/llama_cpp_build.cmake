# Read by CMake while it configures llama-cpp-python, right after its project() line.
#
# Leaves out llama.cpp's "common" library, which only llama.cpp's own programs use. The package sets the cache
# variable to ON whatever the command line says; a plain variable of the same name goes before it.
set(LLAMA_BUILD_COMMON OFF)

# Without AMX, which no desktop has: it computes one row in another way than several, so a text would depend on what is
# computed beside it, and as GCC 12 compiles it, its first step ends the process (ggml-org/llama.cpp #26954).
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-U__AMX_INT8__>)

# The series of patches, and in the package the names of those that are in: none with -DPLAIN_LLAMA=ON.
option(PLAIN_LLAMA "llama.cpp as it is" OFF)
set(PATCHES "${PROJECT_BINARY_DIR}/patches.txt")
if(PLAIN_LLAMA)
    file(WRITE "${PATCHES}" "")
else()
    find_program(PATCHING_PYTHON NAMES python3 python REQUIRED)
    execute_process(
        COMMAND "${PATCHING_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/apply_patch.py"
                "${PROJECT_SOURCE_DIR}/vendor/llama.cpp" "${PATCHES}"
        COMMAND_ERROR_IS_FATAL ANY
    )
endif()
install(FILES "${PATCHES}" DESTINATION "${SKBUILD_PLATLIB_DIR}/llama_cpp")
