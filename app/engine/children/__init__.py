"""What runs in a process of its own: the trial of a model, models for vectors, an engine with workers."""
