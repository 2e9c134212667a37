//! One door for everything a developer does.
fn main() {}
