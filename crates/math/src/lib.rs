//! Vectors, poses, rotations and small solves, the same bits on every machine.
