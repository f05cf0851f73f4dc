//! MCP servers as sources of tools, good ones and bad ones.

mod failures;
mod http;
mod kit;
mod names;
mod pins;
mod secrets;
mod session;
