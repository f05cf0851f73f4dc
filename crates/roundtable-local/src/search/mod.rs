//! Exact nearest neighbours of a vector.
