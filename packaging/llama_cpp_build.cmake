# Read by CMake while it configures llama-cpp-python, right after its project() line.
#
# Leaves out llama.cpp's "common" library, which only llama.cpp's own programs use. The package sets the cache
# variable to ON whatever the command line says; a plain variable of the same name goes before it.
set(LLAMA_BUILD_COMMON OFF)
