//! Given cases of area B, written next.
