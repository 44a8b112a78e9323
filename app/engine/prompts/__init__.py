"""From messages to tokens and back: chat templates, grammars, and how answers are read."""
