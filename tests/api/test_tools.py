"""GET and POST /tools."""

from __future__ import annotations

import asyncio

from app.tools.file_tools import FileTools
from app.tools.tool_box import ToolBox
from tests.api.conftest import serving
from tests.tools.test_mcp_server import config


async def test_tools_are_listed_and_called(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    async with serving(tool_box=ToolBox(FileTools([tmp_path]).tools())) as served:
        _, listed = await served.get("/tools")
        status, read = await served.post(
            "/tools",
            {"tool": "read_file", "params": {"path": "a.txt"}},
            headers={"X-Tool-Cwd": str(tmp_path)},
        )
        _, failed = await served.post("/tools", {"tool": "read_file", "params": {"path": "/etc/passwd"}})
        unknown, _ = await served.post("/tools", {"tool": "format_disk"})
        elsewhere, _ = await served.post("/tools", {"tool": "read_file"}, headers={"X-Tool-Runtime": "ssh:x"})
    first = listed[0]
    assert (first["tool"], first["permissions"], first["uses_cwd"]) == ("read_file", {"write": False}, True)
    assert first["definition"]["function"]["parameters"]["required"] == ["path"]
    assert (status, read) == (200, {"plain_text_response": "hello\n"})
    assert "outside of the folders" in failed["error"]
    assert (unknown, elsewhere) == (404, 400)


async def test_who_asks_while_mcp_servers_start_waits_for_them():
    box = ToolBox(servers=[config(name="t")])
    async with serving(tool_box=box) as served:
        listing = asyncio.ensure_future(served.get("/tools"))
        calling = asyncio.ensure_future(served.post("/tools", {"tool": "t_echo", "params": {"message": "x"}}))
        await asyncio.sleep(0)
        await box.open()
        assert (await listing)[1][0]["tool"] == "t_echo"
        assert "echo: x" in (await calling)[1]["plain_text_response"]


async def test_a_server_without_tools_says_how_to_get_some():
    async with serving() as served:
        for ask in (served.get("/tools"), served.post("/tools", {"tool": "x"})):
            status, body = await ask
            assert status == 404
            assert "--mcp-servers-config" in body["error"]["message"]


async def test_tools_need_the_key(tmp_path):
    async with serving(tool_box=ToolBox(FileTools([tmp_path]).tools())) as served:
        for ask in (served.get, lambda path, **options: served.post(path, {}, **options)):
            status, _ = await ask("/tools", headers={"Authorization": "Bearer wrong"})
            assert status == 401
