"""Pictures and sounds as rows of a prompt."""
