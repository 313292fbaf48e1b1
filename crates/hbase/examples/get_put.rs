//! Write a row and read it back: `cargo run --example get_put -- REGISTRY TABLE FAMILY`.

use std::error::Error;
use steelyard_hbase::{Client, Config, Get, Put, Registry};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [registry, table, family] = arguments.as_slice() else {
        return Err("give: host:port of a master or region server, a table, a family of it".into());
    };
    let config = Config {
        registry: Registry::Servers(vec![registry.clone()]),
        ..Config::default()
    };
    let client = Client::connect(config).await?;
    let table = client.table(table)?;

    let mut put = Put::new(b"greeting");
    put.add(family.as_bytes(), b"text", b"hello, world");
    let written = client.put(&table, &put).await?;
    let us = (written.stamps.received_ns - written.stamps.sent_ns) / 1000;
    println!(
        "put in {us} us after {} failed attempts",
        written.failed.len()
    );

    let row = client.get(&table, &Get::new(b"greeting")).await?.value;
    for cell in row.cells() {
        let text = |bytes| String::from_utf8_lossy(bytes);
        println!(
            "{}:{} @{} = {}",
            text(cell.family),
            text(cell.qualifier),
            cell.timestamp,
            text(cell.value)
        );
    }
    Ok(())
}
