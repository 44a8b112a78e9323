"""GGUF files: headers, search, downloads, and the memory that models take. No Qt."""
