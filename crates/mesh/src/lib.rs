//! Triangle surfaces: primitives, checks, repair, readers and writers.
