//! Conversations, as callers use them: opened by the first message, read page by page.

mod history;
mod message;
mod open;
mod operations;
mod stream;

pub(crate) use operations::operations;
pub(crate) use stream::stream_id;
