"""Which sequences hold which KV cells: slots, saved states, and the books of both."""
