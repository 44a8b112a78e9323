"""The content of a message: Markdown, code, formulas, thinking, links. Nothing in it can hurt."""
