"""GGUF files: what a header says, where models are found. No Qt."""
