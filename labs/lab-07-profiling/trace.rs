//! What 7.4 writes down: events of the host and of devices.
