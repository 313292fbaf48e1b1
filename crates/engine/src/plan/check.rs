//! What a workload must be before anything is drawn from it. Each message names the plan's field.

use super::PlanError;
use super::workload::{
    Fields, KeyPlan, Length, Mix, RECORDS_MAX, Request, ValueKind, Workload, YCSB_THETA,
};
use crate::operation::{DIGITS_MAX, PREFIX_MAX};

/// Most fields in a record.
const FIELDS_MAX: u32 = 4096;

impl Workload {
    /// Whether operations can be generated from it.
    ///
    /// # Errors
    /// A [`PlanError`] that names the first field out of range, what was found and what was expected.
    pub fn check(&self) -> Result<(), PlanError> {
        demand(
            (1..RECORDS_MAX).contains(&self.records),
            "records",
            self.records,
            "1 .. 2^63",
        )?;
        key(&self.key)?;
        fields(&self.fields)?;
        values(self.values, &self.fields.length)?;
        mix(&self.mix)?;
        request(&self.request)?;
        length("scan_length", &self.scan_length)
    }
}

fn demand(
    holds: bool,
    field: &str,
    found: impl std::fmt::Display,
    expected: &str,
) -> Result<(), PlanError> {
    if holds {
        return Ok(());
    }
    Err(PlanError(format!(
        "workload.{field}: found {found}, expected {expected}"
    )))
}

fn key(key: &KeyPlan) -> Result<(), PlanError> {
    let prefix = &key.prefix;
    let fits = prefix.len() <= PREFIX_MAX && prefix.is_ascii();
    demand(
        fits,
        "key.prefix",
        format_args!("{prefix:?}"),
        "at most 16 ASCII characters",
    )?;
    let zeros = key.zero_padding;
    demand(
        zeros as usize <= DIGITS_MAX,
        "key.zero_padding",
        zeros,
        "at most 24",
    )
}

fn fields(fields: &Fields) -> Result<(), PlanError> {
    let count = fields.count;
    demand(
        (1..=FIELDS_MAX).contains(&count),
        "fields.count",
        count,
        "1 ..= 4096",
    )?;
    length("fields.length", &fields.length)?;
    let bits = fields.bits_per_byte;
    demand(
        (1..=6).contains(&bits),
        "fields.bits_per_byte",
        bits,
        "1 ..= 6",
    )?;
    let bytes = u64::from(count) * u64::from(fields.length.bounds().1);
    let fits = u32::try_from(bytes).is_ok();
    demand(
        fits,
        "fields",
        format_args!("records of {bytes} bytes"),
        "less than 4 GiB a record",
    )
}

fn length(field: &str, length: &Length) -> Result<(), PlanError> {
    if let Length::Histogram { weights } = length {
        let sum = weights
            .iter()
            .try_fold(0u64, |sum, (_, weight)| sum.checked_add(*weight));
        let holds = sum.is_some_and(|sum| sum > 0) && weights.iter().all(|pair| pair.1 > 0);
        let found = format_args!("weights {weights:?}");
        demand(
            holds,
            field,
            found,
            "one or more, above 0, whose sum is below 2^64",
        )?;
    }
    let (min, max) = length.bounds();
    let found = format_args!("{min} ..= {max}");
    demand(1 <= min && min <= max, field, found, "1 <= least <= most")
}

/// A value that does not say how long it was meant to be can be judged only where all are of one length.
fn values(kind: ValueKind, length: &Length) -> Result<(), PlanError> {
    let constant = matches!(length, Length::Constant { .. });
    demand(
        kind != ValueKind::YcsbIntegrity || constant,
        "values",
        format_args!("ycsb_integrity with lengths {length:?}"),
        "fields.length of kind constant",
    )
}

fn mix(mix: &Mix) -> Result<(), PlanError> {
    for (kind, weight) in mix.weights() {
        let field = format!("mix.{}", kind.name().to_lowercase().replace('-', "_"));
        demand(
            weight.is_finite() && weight >= 0.0,
            &field,
            weight,
            "a finite weight >= 0",
        )?;
    }
    let sum: f64 = mix.weights().iter().map(|(_, weight)| weight).sum();
    demand(
        sum > 0.0 && sum.is_finite(),
        "mix",
        format_args!("a sum of {sum}"),
        "a weight above 0",
    )
}

fn request(request: &Request) -> Result<(), PlanError> {
    match *request {
        Request::Uniform { .. } | Request::Sequential { .. } => Ok(()),
        Request::Zipfian { theta, compat } | Request::Latest { theta, compat } => {
            let holds = theta.is_finite() && theta >= 0.0;
            demand(holds, "request.theta", theta, "a finite skew >= 0")?;
            let holds = compat.is_none() || (theta - YCSB_THETA).abs() < f64::EPSILON;
            demand(
                holds,
                "request.theta",
                theta,
                "0.99, the only skew of compat = \"ycsb\"",
            )
        }
        Request::Hotspot {
            data_fraction,
            operation_fraction,
            ..
        } => {
            fraction("request.data_fraction", data_fraction)?;
            let holds = (0.0..=1.0).contains(&operation_fraction);
            demand(
                holds,
                "request.operation_fraction",
                operation_fraction,
                "0 ..= 1",
            )
        }
        Request::Exponential {
            percentile,
            fraction: of_records,
            ..
        } => {
            let holds = percentile > 0.0 && percentile < 100.0;
            demand(
                holds,
                "request.percentile",
                percentile,
                "above 0 and below 100",
            )?;
            fraction("request.fraction", of_records)
        }
    }
}

fn fraction(field: &str, found: f64) -> Result<(), PlanError> {
    demand(
        found > 0.0 && found <= 1.0,
        field,
        found,
        "above 0, at most 1",
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::plan;
    use serde_json::{Value, json};

    fn verdict(change: &Value) -> String {
        let outcome = plan(1, change).workload.check();
        outcome.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(verdict(&json!({})), "");
    }

    #[test]
    fn every_fault_names_its_field() {
        let zipfian = |theta: f64, compat: Value| json!({"request": {"kind": "zipfian", "theta": theta, "compat": compat}});
        let faults = [
            (json!({"records": 0}), "workload.records: "),
            (json!({"records": 1u64 << 63}), "workload.records: "),
            (json!({"mix": {}}), "workload.mix: "),
            (
                json!({"mix": {"read": 1.0, "read_modify_write": -1.0}}),
                "workload.mix.read_modify_write: ",
            ),
            (zipfian(-0.5, Value::Null), "workload.request.theta: "),
            (zipfian(0.5, json!("ycsb")), "workload.request.theta: "),
            (
                json!({"request": {"kind": "latest", "theta": -1.0}}),
                "workload.request.theta: ",
            ),
            (
                json!({"request": {"kind": "hotspot", "data_fraction": 0.0}}),
                "workload.request.data_fraction: ",
            ),
            (
                json!({"request": {"kind": "hotspot", "operation_fraction": 1.1}}),
                "workload.request.operation_fraction: ",
            ),
            (
                json!({"request": {"kind": "exponential", "percentile": 100.0}}),
                "workload.request.percentile: ",
            ),
            (
                json!({"request": {"kind": "exponential", "fraction": 0.0}}),
                "workload.request.fraction: ",
            ),
            (
                json!({"scan_length": {"kind": "uniform", "min": 2, "max": 1}}),
                "workload.scan_length: ",
            ),
            (
                json!({"fields": {"length": {"kind": "constant", "length": 0}}}),
                "workload.fields.length: ",
            ),
            (
                json!({"fields": {"length": {"kind": "histogram", "weights": []}}}),
                "workload.fields.length: ",
            ),
            (
                json!({"fields": {"length": {"kind": "histogram", "weights": [[10, 1], [20, 0]]}}}),
                "workload.fields.length: ",
            ),
            (
                json!({"fields": {"length": {"kind": "histogram", "weights": [[0, 1]]}}}),
                "workload.fields.length: ",
            ),
            (
                json!({"values": "ycsb_integrity", "fields": {"length": {"kind": "uniform", "min": 1, "max": 9}}}),
                "workload.values: ",
            ),
            (json!({"fields": {"count": 0}}), "workload.fields.count: "),
            (
                json!({"fields": {"count": 4097}}),
                "workload.fields.count: ",
            ),
            (
                json!({"fields": {"bits_per_byte": 7}}),
                "workload.fields.bits_per_byte: ",
            ),
            (
                json!({"fields": {"count": 4096, "length": {"kind": "constant", "length": 2_000_000}}}),
                "workload.fields: ",
            ),
            (
                json!({"key": {"prefix": "seventeen letters"}}),
                "workload.key.prefix: ",
            ),
            (json!({"key": {"prefix": "käse"}}), "workload.key.prefix: "),
            (
                json!({"key": {"zero_padding": 25}}),
                "workload.key.zero_padding: ",
            ),
        ];
        for (change, start) in faults {
            let verdict = verdict(&change);
            assert!(verdict.starts_with(start), "{change}: {verdict}");
        }
    }

    #[test]
    fn not_a_number_is_refused() {
        let mut workload = plan(1, &json!({})).workload;
        workload.mix.scan = f64::NAN;
        assert!(workload.check().is_err());
        workload.mix.scan = f64::INFINITY;
        assert!(workload.check().is_err());
    }
}
