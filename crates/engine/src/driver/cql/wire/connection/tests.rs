use super::super::frame::{self, HEADER};
use super::*;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const SHORT: Patience = Patience {
    silence: Duration::from_millis(20),
    limit: Duration::from_millis(50),
};

fn pair(patience: Patience) -> (Connection, DuplexStream, Arc<Counters>) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(ours);
    let counters = Arc::new(Counters::default());
    (
        Connection::start(reader, writer, Arc::clone(&counters), patience),
        theirs,
        counters,
    )
}

async fn request(server: &mut DuplexStream) -> (u16, Vec<u8>) {
    let mut head = [0; HEADER];
    server.read_exact(&mut head).await.expect("a header");
    let mut body = vec![0; u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize];
    server.read_exact(&mut body).await.expect("a body");
    (u16::from_be_bytes([head[2], head[3]]), body)
}

fn answer(stream: u16, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::append(&mut out, stream, frame::opcode::RESULT, |out| {
        out.extend_from_slice(body);
    });
    out[0] = 0x84;
    out
}

async fn ask(connection: &Connection, text: &str) -> Result<Vec<u8>, Broken> {
    let asked = connection.call(frame::opcode::EXECUTE, |out| {
        out.extend_from_slice(text.as_bytes());
    });
    Ok(asked.await?.message().expect("a message").to_vec())
}

fn reactor() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a reactor")
}

#[test]
fn answers_find_their_requests_in_any_order_and_requests_leave_together() {
    reactor().block_on(async {
        let (connection, mut server, counters) = pair(Patience::USUAL);
        let serve = async {
            let mut asked = Vec::new();
            for _ in 0..10 {
                asked.push(request(&mut server).await);
            }
            let bytes: Vec<u8> = asked
                .iter()
                .rev()
                .flat_map(|(s, b)| answer(*s, b))
                .collect();
            for piece in bytes.chunks(7) {
                server.write_all(piece).await.expect("to be read");
            }
        };
        let texts: Vec<String> = (0..10).map(|i| format!("request {i}")).collect();
        let asks = futures::future::join_all(texts.iter().map(|text| ask(&connection, text)));
        let (answers, ()) = futures::join!(asks, serve);
        for (text, answer) in texts.iter().zip(answers) {
            assert_eq!(answer.expect("an answer"), text.as_bytes());
        }
        let traffic = counters.traffic();
        assert_eq!((traffic.requests, traffic.writes), (10, 1));
        assert_eq!(traffic.answers, 10);
    });
}

#[test]
fn a_request_given_up_leaves_its_stream_alone_until_it_is_answered() {
    reactor().block_on(async {
        let (connection, mut server, _) = pair(Patience::USUAL);
        let given_up =
            tokio::time::timeout(Duration::from_millis(1), ask(&connection, "late")).await;
        assert!(given_up.is_err());
        let (late, _) = request(&mut server).await;
        let serve = async {
            let (stream, _) = request(&mut server).await;
            assert_ne!(stream, late);
            server
                .write_all(&answer(late, b"for nobody"))
                .await
                .expect("to be read");
            server
                .write_all(&answer(stream, b"for you"))
                .await
                .expect("to be read");
        };
        let (found, ()) = futures::join!(ask(&connection, "next"), serve);
        assert_eq!(found.expect("an answer"), b"for you");
        let serve = async {
            let (stream, _) = request(&mut server).await;
            server
                .write_all(&answer(stream, b"again"))
                .await
                .expect("to be read");
            stream
        };
        let (_, stream) = futures::join!(ask(&connection, "third"), serve);
        assert!(stream <= 1, "streams are used again, not {stream}");
    });
}

#[test]
fn a_broken_connection_fails_all_its_requests_and_takes_no_more() {
    reactor().block_on(async {
        let (connection, server, _) = pair(Patience::USUAL);
        let (first, ()) = futures::join!(ask(&connection, "one"), async { drop(server) });
        assert_eq!(first, Err(Broken("the connection broke")));
        connection.closed().await;
        assert!(!connection.alive());
        assert!(ask(&connection, "two").await.is_err());
    });
}

#[test]
fn a_silent_server_is_given_up() {
    reactor().block_on(async {
        let (connection, _server, _) = pair(SHORT);
        let asked = ask(&connection, "anybody there").await;
        assert_eq!(asked, Err(Broken("the connection gave no sign of life")));
    });
}

#[test]
fn what_is_no_cql_closes_the_connection() {
    reactor().block_on(async {
        let (connection, mut server, _) = pair(Patience::USUAL);
        server
            .write_all(b"HTTP/1.1 400 Bad Request\r\n")
            .await
            .expect("to be read");
        let asked = ask(&connection, "one").await;
        assert_eq!(asked, Err(Broken("the server speaks no CQL of version 4")));
    });
}
