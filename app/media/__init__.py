"""Pictures and sounds: files to pixels and samples, in child processes with limits. No Qt."""
