//! Headline numbers.
fn main() {}
