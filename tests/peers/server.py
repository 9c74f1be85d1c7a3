"""A server of `fastmcp-tasks`, with its in-memory backend: a result, a question, and something to cancel."""

import asyncio
import sys

from fastmcp import Context, FastMCP
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

mcp = FastMCP("peer")
mcp.add_extension(TasksExtension())


@mcp.tool(task=True)
async def add(a: int, b: int) -> int:
    """Adds two numbers, slowly."""
    await asyncio.sleep(0.3)
    return a + b


@mcp.tool(task=True)
async def greet(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name. Inside a task this server asks by returning the question, and runs the function again."""
    answers = ctx.input_responses
    if not answers:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        params = ElicitRequestFormParams(message="Who is there?", requested_schema=form)
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})
    return f"hello {answers['name'].content['name']}"


@mcp.tool(task=True)
async def forever() -> str:
    """Never ends by itself."""
    await asyncio.sleep(3600)
    return "late"


mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
