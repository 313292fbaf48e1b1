//! HBase's own client: one JVM with `java/peer`, shared by all tests of this file, told what to do by lines.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

static JVM: LazyLock<Mutex<Jvm>> = LazyLock::new(|| Mutex::new(Jvm::start()));

/// A cell as HBase's client reads it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub row: Vec<u8>,
    pub family: Vec<u8>,
    pub qualifier: Vec<u8>,
    pub timestamp: i64,
    pub value: Vec<u8>,
}

/// The answer's words to a command.
///
/// # Panics
/// If the client answers with an error.
pub fn ask(words: &[&str]) -> Vec<String> {
    // A test that panicked between two commands leaves nothing half done: the poison is of no meaning.
    let mut jvm = JVM.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = jvm.ask(words);
    drop(jvm);
    let mut answer = answer.split('\t').map(str::to_owned);
    let verdict = answer.next();
    let rest: Vec<String> = answer.collect();
    let shown: Vec<&str> = words
        .iter()
        .map(|word| &word[..word.len().min(60)])
        .collect();
    assert_eq!(
        verdict.as_deref(),
        Some("ok"),
        "Java's client, told {shown:?}, failed: {rest:?}"
    );
    rest
}

/// The cells of an answer.
pub fn cells(words: &[&str]) -> Vec<Cell> {
    ask(words).iter().map(|word| cell(word)).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a String takes everything");
            text
        })
}

pub fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).expect("a hexadecimal digit") as u8;
    text.as_bytes()
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

fn cell(word: &str) -> Cell {
    let parts: Vec<&str> = word.split(':').collect();
    let [row, family, qualifier, timestamp, value] = parts[..] else {
        panic!("not a cell: {word}");
    };
    Cell {
        row: unhex(row),
        family: unhex(family),
        qualifier: unhex(qualifier),
        timestamp: timestamp.parse().expect("a number"),
        value: unhex(value),
    }
}

/// Ends with this process: its input ends then.
struct Jvm {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Jvm {
    fn start() -> Self {
        let class_path = crate::common::needed("STEELYARD_TEST_HBASE_CLASSPATH");
        let classes = compiled(&class_path);
        let mut process = Command::new(tool("java"))
            .args(["-Xmx1g", "-XX:+UseSerialGC", "-cp"])
            .arg(format!("{}:{class_path}", classes.display()))
            .args(["Peer", &crate::common::needed("STEELYARD_TEST_HBASE")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("java starts");
        let input = process.stdin.take().expect("asked for");
        let output = BufReader::new(process.stdout.take().expect("asked for"));
        let mut jvm = Self {
            process,
            input,
            output,
        };
        assert_eq!(jvm.answer(), "ok\tready");
        jvm
    }

    fn ask(&mut self, words: &[&str]) -> String {
        writeln!(self.input, "{}", words.join("\t")).expect("the JVM reads");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).expect("the JVM writes");
        assert!(length > 0, "the JVM ended: {:?}", self.process.wait());
        line.trim_end_matches('\n').to_owned()
    }
}

/// Compiles `java/peer` against the class path under test.
fn compiled(class_path: &str) -> PathBuf {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peer-classes");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java/peer");
    let files = std::fs::read_dir(&sources).expect("java/peer is there");
    let files = files.map(|file| file.expect("readable").path());
    let status = Command::new(tool("javac"))
        .args(["-nowarn", "-d"])
        .arg(&classes)
        .args(["-cp", class_path])
        .args(files.filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "java")
        }))
        .status()
        .expect("javac starts");
    assert!(status.success(), "javac refused java/peer");
    classes
}

fn tool(name: &str) -> PathBuf {
    std::env::var_os("JAVA_HOME").map_or_else(
        || name.into(),
        |home| Path::new(&home).join("bin").join(name),
    )
}
