//! The CQL driver.
