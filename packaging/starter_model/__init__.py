"""How the starter model is made: its corpus, its training, its export to GGUF and its scores."""
