# Read by CMake while it configures llama-cpp-python, right after its project() line.
#
# Leaves out llama.cpp's "common" library, which only llama.cpp's own programs use. The package sets the cache
# variable to ON whatever the command line says; a plain variable of the same name goes before it.
set(LLAMA_BUILD_COMMON OFF)

find_program(PATCHING_PYTHON NAMES python3 python REQUIRED)
execute_process(
    COMMAND "${PATCHING_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/apply_patch.py"
            "${CMAKE_CURRENT_LIST_DIR}/llama_cpp.patch" "${PROJECT_SOURCE_DIR}"
    COMMAND_ERROR_IS_FATAL ANY
)
