"""What the window shows of the model, the engine and its API outside the inspector."""
