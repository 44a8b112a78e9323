"""The operating system: folders, files, memory, processes, logs."""
