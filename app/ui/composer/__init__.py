"""The composer: text, files, and the context they will take."""
