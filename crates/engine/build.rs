//! Stamps the engine with a hash of its sources, so that Python can refuse a stale binary.
//!
//! The hash is SHA-256 over (relative path, NUL, content, NUL) of every `.rs` and `.toml` file
//! under `crates/` in path order, plus `Cargo.toml` and `Cargo.lock`.
//! `steelyard.engine.path` computes the same.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "toml") {
            into.push(path);
        }
    }
}

fn main() {
    // Asked when it runs, not when it is compiled: worktrees that share a target folder share the compiled script.
    let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&manifest).join("../..");
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    collect(&root.join("crates"), &mut files);
    files.sort_by_key(|p| {
        p.strip_prefix(&root)
            .unwrap_or(p)
            .to_string_lossy()
            .into_owned()
    });
    let mut hash = Sha256::new();
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file
            .strip_prefix(&root)
            .unwrap_or(file)
            .to_string_lossy()
            .into_owned();
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(fs::read(file).unwrap_or_default());
        hash.update([0]);
    }
    println!("cargo:rerun-if-changed={}", root.join("crates").display());
    let digest = hash.finalize();
    let hex = u64::from_be_bytes(digest[..8].try_into().expect("SHA-256 has 32 bytes"));
    println!("cargo:rustc-env=STEELYARD_SOURCE_HASH={hex:016x}");
}
