"""The tool `add` on a fastmcp-tasks server: server.py PORT BACKEND_URL."""

import sys

from fastmcp import FastMCP
from fastmcp_tasks import TasksExtension

server = FastMCP("end_to_end")
server.add_extension(TasksExtension(url=sys.argv[2], concurrency=64))


@server.tool(task=True)
async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


server.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    stateless_http=True,
    json_response=True,
    show_banner=False,
    uvicorn_config={"log_level": "warning"},
)
