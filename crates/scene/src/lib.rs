//! Scene files, the simulation and its step, snapshots, recordings, replay.
