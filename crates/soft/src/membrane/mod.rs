//! Membranes that stick, peel, fold and tear (Weber 2009).

pub mod tear;
