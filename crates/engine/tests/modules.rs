//! No module of the engine and of the fakes needs one that needs it: a reader can begin with what uses nothing and go on from there.
//!
//! Read from the sources: `use` and paths that begin with `crate`, `super` or `self`, at every level between the modules that lie
//! beside each other. A module and those inside it are one thing, and tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module's path from the crate's root.
type Module = Vec<String>;
/// Which modules each one uses; both lie beside each other.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// Every module of the crate whose sources lie in `folder`, with its source.
fn modules(folder: &Path, inside: &[String], found: &mut Vec<(Module, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut module = inside.to_vec();
        if path.is_dir() {
            module.push(name.into_owned());
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests" {
            if !matches!(&*name, "mod" | "lib" | "main") {
                module.push(name.into_owned());
            }
            found.push((module, code(&fs::read_to_string(&path).expect("a source"))));
        }
    }
}

/// A source without its comments and without the tests at its end.
fn code(source: &str) -> String {
    let end = source.find("#[cfg(test)]\nmod tests {");
    let lines = source[..end.unwrap_or(source.len())].lines();
    let code: Vec<_> = lines
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    code.join("\n")
}

/// The paths that `source` names, braces of `use` opened, each as its words.
fn paths(source: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate", "super", "self"] {
        for (at, _) in source.match_indices(&format!("{root}::")) {
            let before = source[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':')) {
                spread(&source[at..], &[], &mut found);
            }
        }
    }
    found
}

/// Follow the path at the start of `text`, all branches of it; what stands behind it.
fn spread<'a>(text: &'a str, before: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut inner) = rest.strip_prefix('{') {
            while !inner.trim_start().starts_with('}') && !inner.is_empty() {
                inner = spread(inner, &path, found).trim_start();
                inner = inner.strip_prefix(',').unwrap_or(inner);
            }
            return inner.trim_start().get(1..).unwrap_or_default();
        }
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let word = word.unwrap_or(rest.len());
        if word == 0 {
            found.push(path);
            return rest.get(1..).unwrap_or_default(); // `*`, or what is no path
        }
        path.push(rest[..word].to_owned());
        rest = &rest[word..];
        let Some(next) = rest.strip_prefix("::") else {
            found.push(path);
            return rest.split_once(" as ").map_or(rest, |(gap, name)| {
                if gap.is_empty() {
                    name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
                } else {
                    rest
                }
            });
        };
        rest = next.trim_start();
    }
}

/// Where `path`, named in `module`, leads: from the crate's root.
fn resolved(module: &[String], path: &[String]) -> Module {
    let mut base = module.to_vec();
    let mut words = path;
    match words[0].as_str() {
        "crate" => base.clear(),
        "super" => {
            while words.first().is_some_and(|word| word == "super") {
                base.pop();
                words = &words[1..];
            }
            base.extend_from_slice(words);
            return base;
        }
        _ => {}
    }
    base.extend_from_slice(&words[1..]);
    base
}

/// Who uses whom among the modules beside each other.
fn uses(folder: &Path) -> Uses {
    let mut sources = Vec::new();
    modules(folder, &[], &mut sources);
    let known: BTreeSet<Module> = sources.iter().map(|(module, _)| module.clone()).collect();
    let mut uses = Uses::new();
    for (module, source) in &sources {
        for path in paths(source) {
            let target = resolved(module, &path);
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == b);
            let level = shared.count() + 1;
            if module.len() < level || target.len() < level {
                continue; // one is inside the other
            }
            let (from, to) = (module[..level].to_vec(), target[..level].to_vec());
            if known.contains(&to) {
                uses.entry(from).or_default().insert(to);
            }
        }
    }
    uses
}

/// A way from `module` back to it, if there is one.
fn cycle(uses: &Uses, module: &Module) -> Option<Vec<Module>> {
    let mut ways: Vec<Vec<Module>> = vec![vec![module.clone()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in way
            .last()
            .and_then(|last| uses.get(last))
            .into_iter()
            .flatten()
        {
            let longer = [&way[..], std::slice::from_ref(next)].concat();
            if next == module {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                ways.push(longer);
            }
        }
    }
    None
}

/// The cycles among the modules of the crate in `folder`, each as a line.
fn cycles(folder: &Path) -> Vec<String> {
    let uses = uses(folder);
    let found = uses.keys().filter_map(|module| cycle(&uses, module));
    found
        .map(|way| {
            let names: Vec<_> = way.iter().map(|module| module.join("::")).collect();
            names.join(" uses ")
        })
        .collect()
}

#[test]
fn no_module_needs_one_that_needs_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["engine", "fakes", "hbase", "multiplexer"] {
        let source = crates.join(name).join("src");
        let mut sources = Vec::new();
        modules(&source, &[], &mut sources);
        assert!(sources.len() > 1, "{name}: the sources are read");
        let found = cycles(&source);
        assert!(found.is_empty(), "crate {name}:\n{}", found.join("\n"));
    }
}

#[test]
fn a_cycle_is_found_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("lib.rs", "mod a; mod b; mod c;");
    write(
        "a.rs",
        "use crate::{b::{self, Thing as Other}, c};\n// use super::a;",
    );
    write(
        "b.rs",
        "fn f() { super::c::g(); }\n#[cfg(test)]\nmod tests {\n use crate::a; }",
    );
    write("c.rs", "");
    assert_eq!(cycles(folder.path()), Vec::<String>::new());
    write("c.rs", "use crate::a::Last;");
    let found = cycles(folder.path());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found.iter().any(|way| way.contains("c uses a")),
        "{found:?}"
    );
}
