//! What 7.5 reads: what a kernel did, and what a GPU can do.
