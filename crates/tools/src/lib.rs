//! Instruments: kinematics through a trocar, and what their effectors do to tissue.
