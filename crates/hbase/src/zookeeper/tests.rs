//! Bytes of a real session with ZooKeeper 3.8.4, written by HBase 2.6.4; a peer that plays them back; a live test.

use tokio::net::TcpListener;

use super::jute::Reader;
use super::nodes::payload;
use super::*;

const CONNECT: &str = "0000002d00000000000000000000000000002710000000000000000000000010000000000000\
                       0000000000000000000000";
const CONNECTED: &str =
    "0000000000002710010000bb2989000400000010e9e9cb91e6b1eb1d186ec1a66e747e3e00";
const META: &str = "00000003000000000000003c000000000000003aff000000146d61737465723a32363030301104e3f042a63c855042554\
                    60a170a0a3132372e302e302e313210a4cb0118c28e8be79f3410001803000000000000002c000000000000002d000001\
                    a1fce30368000001a1fce3091100000001000000000000000000000000000000000000003a00000000000000000000002c";
const SERVERS: &str = "00000004000000000000003c00000000000000030000001e3132372e302e302e31322c32363032302c31373935323434\
                       3038333031300000001e3132372e302e302e31332c32363032302c313739353234343038333334340000001e313237\
                       2e302e302e31312c32363032302c31373935323434303833353638";
const NO_SUCH: &str = "00000006000000000000003cffffff9b";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
        .collect()
}

#[test]
fn frames_are_what_a_server_took() {
    assert_eq!(jute::connect(Duration::from_secs(10)), bytes(CONNECT));
    assert_eq!(
        jute::read(1, jute::GET_DATA, "/a"),
        bytes("0000000f0000000100000004000000022f6100")
    );
    assert_eq!(jute::close(7), bytes("0000000800000007fffffff5"));
}

#[test]
fn answers_are_read() {
    assert!(!jute::session_refused(&bytes(CONNECTED)).unwrap());
    assert_eq!(
        jute::header(&bytes(NO_SUCH)).unwrap(),
        jute::Header {
            xid: 6,
            error: jute::NO_NODE
        }
    );
    let servers = Reader::new(&bytes(SERVERS)[jute::HEADER..])
        .strings()
        .unwrap();
    assert_eq!(
        servers,
        [
            "127.0.0.12,26020,1795244083010",
            "127.0.0.13,26020,1795244083344",
            "127.0.0.11,26020,1795244083568"
        ]
    );
}

#[test]
fn the_message_in_a_node_is_found() {
    let answer = bytes(META);
    let node = Reader::new(&answer[jute::HEADER..]).buffer().unwrap();
    let message = payload(node).unwrap();
    assert_eq!(
        message,
        bytes("0a170a0a3132372e302e302e313210a4cb0118c28e8be79f3410001803")
    );
    assert_eq!(payload(b"PBUFx").unwrap(), b"x");
    assert!(matches!(
        payload(b"text"),
        Err(ZooKeeperError::Malformed(_))
    ));
    assert!(matches!(
        payload(&[0xFF, 0, 0, 0, 9, 1]),
        Err(ZooKeeperError::Malformed(_))
    ));
}

#[test]
fn an_answer_cut_short_anywhere_is_an_error() {
    let answer = bytes(SERVERS);
    for end in 0..answer.len() - jute::HEADER {
        assert!(
            Reader::new(&answer[jute::HEADER..][..end])
                .strings()
                .is_err(),
            "{end} bytes were enough"
        );
    }
}

/// Answers one connection's requests with `answers`, in turn.
async fn play(listener: TcpListener, answers: Vec<Vec<u8>>) {
    let (mut stream, _) = listener.accept().await.unwrap();
    for answer in answers {
        let length = stream.read_i32().await.unwrap();
        stream
            .read_exact(&mut vec![0; length as usize])
            .await
            .unwrap();
        stream
            .write_all(&(answer.len() as i32).to_be_bytes())
            .await
            .unwrap();
        stream.write_all(&answer).await.unwrap();
    }
}

/// The answer `hex` renumbered as the `xid`th.
fn numbered(hex: &str, xid: i32) -> Vec<u8> {
    let mut answer = bytes(hex);
    answer[..4].copy_from_slice(&xid.to_be_bytes());
    answer
}

#[tokio::test]
async fn the_second_server_is_asked_when_the_first_does_not_listen() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let quorum = [
        closed_port().await,
        listener.local_addr().unwrap().to_string(),
    ];
    let answers = vec![
        bytes(CONNECTED),
        numbered(META, 1),
        numbered(SERVERS, 2),
        numbered(NO_SUCH, 3),
        numbered(NO_SUCH, 4),
    ];
    let server = tokio::spawn(play(listener, answers));

    let mut session = ZooKeeper::connect(&quorum, Duration::from_secs(5))
        .await
        .unwrap();
    assert!(
        session
            .data("/hbase/meta-region-server")
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        session.children("/hbase/rs").await.unwrap().unwrap().len(),
        3
    );
    assert_eq!(session.data("/nothing").await.unwrap(), None);
    session.close().await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn a_quorum_that_does_not_answer_is_named() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let quorum = [
        closed_port().await,
        silent.local_addr().unwrap().to_string(),
    ];
    let failure = ZooKeeper::connect(&quorum, Duration::from_millis(50))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        quorum.iter().all(|server| failure.contains(server)),
        "{failure}"
    );
    assert!(matches!(
        ZooKeeper::connect(&[], Duration::from_millis(50)).await,
        Err(ZooKeeperError::NoServers)
    ));
}

async fn closed_port() -> String {
    TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string()
}

#[tokio::test]
#[ignore = "needs a running HBase: STEELYARD_TEST_ZOOKEEPER=host:port"]
async fn hbase_is_found_in_a_real_zookeeper() {
    let quorum =
        [std::env::var("STEELYARD_TEST_ZOOKEEPER")
            .expect("set STEELYARD_TEST_ZOOKEEPER=host:port")];
    let mut session = ZooKeeper::connect(&quorum, Duration::from_secs(10))
        .await
        .unwrap();
    let servers = session.region_servers("/hbase").await.unwrap();
    let meta = session
        .meta_server("/hbase")
        .await
        .unwrap()
        .expect("meta is open");
    assert!(servers.contains(&meta), "{meta} is not among {servers:?}");
    assert!(session.active_master("/hbase").await.unwrap().is_some());
    assert_eq!(
        session.cluster_id("/hbase").await.unwrap().unwrap().len(),
        36
    );
    assert_eq!(session.data("/hbase/no-such-node").await.unwrap(), None);
    session.close().await.unwrap();
}
