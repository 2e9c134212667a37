//! Everything that carries momentum: state, matter, anchors, ties.
