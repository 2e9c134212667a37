//! Distances and contacts between capsules and deforming triangles.
