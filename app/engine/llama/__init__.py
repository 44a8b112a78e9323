"""The gate to llama.cpp: the only folder that imports `llama_cpp`, and only its low-level C API."""
