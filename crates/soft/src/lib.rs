//! Tissues: nodal nets by the MESD method.
