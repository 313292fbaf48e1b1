//! The fakes as a process, for tests.
#![allow(dead_code)] // each test program uses its part

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// CQL and HBase servers that run until this is dropped.
pub struct Fake {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Where they listen.
    pub ready: Value,
}

impl Fake {
    /// Start them with these arguments.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_steelyard-fakes"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fakes start");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut fake = Self {
            input: child.stdin.take(),
            child,
            output,
            ready: Value::Null,
        };
        fake.ready = fake.line();
        fake
    }

    /// Where CQL is answered, by the first node.
    pub fn cql(&self) -> &str {
        self.ready["cql"].as_str().expect("an address")
    }

    /// Where HBase is answered.
    pub fn hbase(&self) -> &str {
        self.ready["hbase"].as_str().expect("an address")
    }

    /// A driver's part of a plan: `kind` is `cql` or `hbase`.
    pub fn driver(&self, kind: &str) -> Value {
        if kind == "cql" {
            let replication = json!({"class": "SimpleStrategy", "replication_factor": "1"});
            json!({"kind": "cql", "hosts": [self.cql()], "keyspace": "ycsb", "replication": replication,
                   "read_consistency": "ONE", "write_consistency": "ONE"})
        } else {
            json!({"kind": "hbase", "registry": [self.hbase()], "table": "usertable"})
        }
    }

    /// From now on these faults on all nodes, and counts from 0.
    pub fn case(&mut self, faults: &Value) {
        self.case_of(faults, &json!([]));
    }

    /// As [`Fake::case`], with others on single nodes.
    pub fn case_of(&mut self, faults: &Value, nodes: &Value) {
        let law = json!({"kind": "constant", "latency_us": 0});
        self.tell(&json!({"cmd": "case", "seed": 1, "epoch_ns": 0, "law": law, "faults": faults, "nodes": nodes}));
    }

    /// The CQL nodes' sums of `what`: `operations` or `prepares`, since the case began.
    pub fn counts(&mut self, what: &str) -> Vec<u64> {
        let answer = self.tell(&json!({"cmd": "counts"}));
        let nodes = answer["cql"].as_array().expect("a list of nodes");
        let count = |node: &Value| node[what].as_u64().expect("a count");
        nodes.iter().map(count).collect()
    }

    /// Requests about records since the case began, answered or not, of either protocol.
    pub fn stamps(&mut self) -> u64 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("stamps");
        let answer = self.tell(&json!({"cmd": "stamps", "path": path}));
        answer["stamps"].as_u64().expect("a count")
    }

    /// Give a command; the answer to it.
    pub fn tell(&mut self, command: &Value) -> Value {
        let input = self.input.as_mut().expect("open until it is dropped");
        writeln!(input, "{command}").expect("they are there");
        let answer = self.line();
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("they say something");
        serde_json::from_str(&line).expect("JSON")
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ended_with_its_input = self.child.wait();
    }
}
