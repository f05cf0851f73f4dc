//! Models that need no vendor and no key: they run in this process, on weights in a directory.

pub mod weights;
