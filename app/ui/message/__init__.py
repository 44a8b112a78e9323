"""The content of a message: Markdown, code, formulas, thinking, links. All of it is untrusted."""
