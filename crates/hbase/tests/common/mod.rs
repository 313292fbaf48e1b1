//! The cluster the tests are given: `STEELYARD_TEST_HBASE=host:port[,host:port...]`, masters or region servers.

use steelyard_hbase::{Client, Config, Registry};

/// The value of an environment variable that the test cannot do without.
pub fn needed(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("this test needs {name}: see the head of its main.rs"))
}

/// A client of the cluster; its registry is put into `config`.
pub async fn connect(config: Config) -> Client {
    let servers = needed("STEELYARD_TEST_HBASE")
        .split(',')
        .map(str::to_owned)
        .collect();
    let config = Config {
        registry: Registry::Servers(servers),
        ..config
    };
    Client::connect(config)
        .await
        .expect("the cluster of STEELYARD_TEST_HBASE answers")
}
