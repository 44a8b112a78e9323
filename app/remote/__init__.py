"""Engines that another program runs: a Skein elsewhere, or a server with OpenAI's API. No Qt."""
