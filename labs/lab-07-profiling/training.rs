//! What 7.6 trains: a small model on the simulated GPU, and the counters that judge the loop.
