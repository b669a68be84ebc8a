//! What 7.3 times: kernels on a device that runs them while the host goes on.
