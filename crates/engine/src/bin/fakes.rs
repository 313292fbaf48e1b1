//! `steelyard-fakes`: the servers of `crates/fakes` as a process, started by `steelyard calibrate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    steelyard_fakes::main()
}
