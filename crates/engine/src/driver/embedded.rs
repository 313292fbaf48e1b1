//! The embedded driver.
