"""Between the engine's thread and the widgets: Qt core only, no widgets."""
