//! What 7.7 predicts: a training step of a stack of layers on a named GPU.
