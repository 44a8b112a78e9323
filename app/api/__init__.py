"""The local HTTP server: JSON to Request, Output to JSON, sockets. No Qt; runs in any asyncio loop."""
