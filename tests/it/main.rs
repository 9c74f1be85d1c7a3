//! What the whole of `mcp-tasks` does, seen from outside. One binary; a module for each matter.

mod examples;
