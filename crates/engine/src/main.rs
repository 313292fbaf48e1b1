//! `steelyard-engine`: the load engine's process. Steelyard's Python side starts it; `docs/format.md` says what goes in and out.

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Steelyard's load engine.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Run a plan; events on standard output, commands on standard input.
    Run {
        /// The plan (JSON).
        plan: PathBuf,
    },
    /// Merge the results of several engines of one run, without loss.
    Merge {
        /// Folder (existing) that receives the merge.
        out: PathBuf,
        /// Folders of the engines, in order of their index.
        #[arg(required = true)]
        engines: Vec<PathBuf>,
    },
    /// Print version, plan format and source hash as JSON.
    Handshake,
}

fn main() -> ExitCode {
    match Arguments::parse().action {
        Action::Run { plan } => steelyard_engine::run::run(&plan),
        Action::Merge { out, engines } => match steelyard_engine::merge::merge(&out, &engines) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(3)
            }
        },
        Action::Handshake => {
            println!("{}", steelyard_engine::run::handshake());
            ExitCode::SUCCESS
        }
    }
}
