"""An MCP server for the tests, which misbehaves as its arguments say."""

import json
import os
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
SCHEMA = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
TOOLS = [
    {"name": name, "description": f"Does {name}", "inputSchema": SCHEMA}
    for name in ("echo", "die", "hang", "fail")
]
STRANGE = [{"name": 5}, "x", {"name": "a" * 100}, {"name": "bell\a"}, {"name": "bare"}]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def result_of(method: str, parameters: dict) -> dict:
    if method == "initialize":
        return {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "serverInfo": {"name": "t", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS + (STRANGE if MODE == "strange" else [])}
    match parameters["name"]:
        case "die":
            os._exit(1)
        case "hang":
            time.sleep(600)
        case "fail":
            return {"content": [{"type": "text", "text": "no luck"}], "isError": True}
    content = [
        {"type": "text", "text": f"echo: {parameters['arguments']['message']}"},
        {"type": "image", "data": "x"},
    ]
    return {
        "content": content
        if MODE != "environment"
        else [{"type": "text", "text": json.dumps(dict(os.environ))}]
    }


def main() -> None:
    if MODE == "grandchild":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        say(json.dumps({"method": "grandchild", "params": child.pid}))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or MODE == "mute":
            continue
        if MODE == "noise":
            say("no JSON\n[]\n" + json.dumps({"method": "notifications/progress"}))
            say(json.dumps({"id": [1]}) + "\n" + json.dumps({"id": 99, "result": {}}))
        if MODE == "flood" and message["method"] == "tools/call":
            say("x" * (5 << 20))
        answer = {
            "jsonrpc": "2.0",
            "id": message["id"],
            "result": result_of(message["method"], message["params"]),
        }
        if MODE == "refuse" and message["method"] == "tools/call":
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -1, "message": "not today"}}
        say(json.dumps(answer))


main()
