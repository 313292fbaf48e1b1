//! How parts become a whole: one rule for each type, and a macro that makes a record's rule of its fields'.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parts that are put together; the default is the whole of no parts.
pub trait Merge {
    /// Add another part.
    fn merge(&mut self, other: &Self);
}

/// Numbers are counts: they are added.
impl Merge for u64 {
    fn merge(&mut self, other: &Self) {
        *self += other;
    }
}

/// What is said by name is put together name by name.
impl<T: Merge + Clone> Merge for BTreeMap<String, T> {
    fn merge(&mut self, other: &Self) {
        for (name, value) in other {
            match self.get_mut(name) {
                Some(held) => held.merge(value),
                None => {
                    self.insert(name.clone(), value.clone());
                }
            }
        }
    }
}

/// What one part does not know is what the other says.
impl<T: Merge + Clone> Merge for Option<T> {
    fn merge(&mut self, other: &Self) {
        match (self.as_mut(), other) {
            (Some(held), Some(other)) => held.merge(other),
            (None, Some(other)) => *self = Some(other.clone()),
            _ => {}
        }
    }
}

impl<const N: usize> Merge for [u64; N] {
    fn merge(&mut self, other: &Self) {
        for (held, other) in self.iter_mut().zip(other) {
            *held += other;
        }
    }
}

/// Lists follow each other.
impl<T: Clone> Merge for Vec<T> {
    fn merge(&mut self, other: &Self) {
        self.extend_from_slice(other);
    }
}

/// The greatest of all parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Greatest<T>(pub T);

impl<T: PartialOrd + Clone> Merge for Greatest<T> {
    fn merge(&mut self, other: &Self) {
        if self.0 < other.0 {
            self.0 = other.0.clone();
        }
    }
}

/// The least of all parts that know one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Least(pub u64);

impl Default for Least {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Merge for Least {
    fn merge(&mut self, other: &Self) {
        self.0 = self.0.min(other.0);
    }
}

/// The same in all parts: the first that says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Same<T>(pub Option<T>);

impl<T> Default for Same<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<T> for Same<T> {
    fn from(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T: Clone> Merge for Same<T> {
    fn merge(&mut self, other: &Self) {
        if self.0.is_none() {
            self.0.clone_from(&other.0);
        }
    }
}

/// A record, and its rule: that of each of its fields.
macro_rules! merged {
    ($($(#[$about:meta])* pub struct $name:ident { $($(#[$of:meta])* pub $field:ident: $kind:ty,)* })*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
            pub struct $name { $($(#[$of])* pub $field: $kind,)* }

            impl $crate::merged::Merge for $name {
                fn merge(&mut self, other: &Self) {
                    $($crate::merged::Merge::merge(&mut self.$field, &other.$field);)*
                }
            }
        )*
    };
}

pub(crate) use merged;
