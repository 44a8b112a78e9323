"""What the operating system gives: folders, files, memory, processes, logs."""
