//! Which database is driven. What reaches it is the driver's own: it reads its options and checks them.

use super::PlanError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The section `driver`: which one, with its options.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DriverSection {
    /// Its name.
    pub kind: String,
    /// All else.
    #[serde(flatten)]
    pub options: Map<String, Value>,
}

impl DriverSection {
    /// The options, as a driver's own type.
    ///
    /// # Errors
    /// What is missing, not known or of another type.
    pub fn options<T: DeserializeOwned>(&self) -> Result<T, PlanError> {
        T::deserialize(Value::Object(self.options.clone()))
            .map_err(|error| PlanError(format!("driver ({}): {error}", self.kind)))
    }
}
