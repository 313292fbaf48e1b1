//! A connection against a scripted server in the same process.

use super::frame::NO_CALL;
use super::script::{accept, answer, framed, listen, read_frame, refusal};
use super::*;
use crate::error::Action;
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Duration;
use steelyard_multiplexer::Framing;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const LONG: Duration = Duration::from_secs(20);

/// A request whose message is these bytes.
struct Bytes(Vec<u8>);

impl Request for Bytes {
    fn method(&self) -> &'static str {
        "Echo"
    }
    fn param_len(&self) -> usize {
        self.0.len()
    }
    fn write_param(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
    fn cells(&self) -> &[u8] {
        &self.0
    }
}

fn pool(connect_timeout: Duration) -> Pool {
    Pool::new(PoolConfig {
        user: "test".to_owned(),
        connections: 1,
        connect_timeout,
    })
}

/// A request's id and its message, which its cells must equal.
fn request_of(frame: &[u8]) -> (u32, Vec<u8>) {
    let mut fields = wire::Fields::new(frame);
    let mut header = wire::Fields::new(fields.delimited().unwrap());
    let Some((1, wire::Field::Number(id))) = header.next() else {
        panic!("a header begins with the call's id")
    };
    let message = fields.delimited().unwrap().to_vec();
    assert_eq!(fields.rest(), message);
    (id as u32, message)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(LONG, future).await.expect("it hangs") })
}

#[test]
fn requests_that_wait_together_leave_together_and_answers_find_their_calls() {
    block_on(async {
        let (listener, address) = listen().await;
        let pool = pool(LONG);
        let server = pool.server(&address);
        let calls = (0..100_u8).map(|i| {
            let server = server.clone();
            async move {
                server
                    .call(Service::Client, &Bytes(vec![i; usize::from(i) + 1]), LONG)
                    .await
            }
        });
        let serve = async {
            let mut stream = accept(&listener).await;
            let mut requests = Vec::new();
            for _ in 0..100 {
                requests.push(request_of(&read_frame(&mut stream).await));
            }
            let answers = requests
                .iter()
                .rev()
                .flat_map(|(id, message)| answer(*id, message, b"cells"));
            // In pieces that cut frames anywhere.
            for piece in answers.collect::<Vec<u8>>().chunks(37) {
                stream.write_all(piece).await.unwrap();
            }
            stream
        };
        let (replies, _stream) = tokio::join!(futures::future::join_all(calls), serve);
        for (i, reply) in (0..100_u8).zip(replies) {
            let reply = reply.unwrap();
            assert_eq!(reply.message, vec![i; usize::from(i) + 1]);
            assert_eq!(&reply.cells[..], b"cells");
            assert!(reply.stamps.sent_ns > 0 && reply.stamps.received_ns > reply.stamps.sent_ns);
        }
        let traffic = pool.traffic();
        assert_eq!(
            (traffic.requests, traffic.answers, traffic.writes),
            (100, 100, 2),
            "the header, then all requests"
        );
    });
}

#[test]
fn a_dropped_call_frees_its_place_and_its_late_answer_harms_nobody() {
    block_on(async {
        let (listener, address) = listen().await;
        let server = pool(LONG).server(&address);
        let serve = async {
            let mut stream = accept(&listener).await;
            let (first, _) = request_of(&read_frame(&mut stream).await);
            let (second, message) = request_of(&read_frame(&mut stream).await);
            assert_ne!(first, second, "an id is not given again before its answer");
            stream
                .write_all(&answer(first, b"late", b""))
                .await
                .unwrap();
            stream
                .write_all(&answer(second, &message, b""))
                .await
                .unwrap();
            let (third, message) = request_of(&read_frame(&mut stream).await);
            stream
                .write_all(&answer(third, &message, b""))
                .await
                .unwrap();
            assert!(third == first || third == second, "ids are used again");
            stream
        };
        let calls = async {
            let request = Bytes(b"given up".to_vec());
            let given_up = server.call(Service::Client, &request, LONG);
            assert!(
                tokio::time::timeout(Duration::from_millis(50), given_up)
                    .await
                    .is_err()
            );
            for message in [b"second", b"third "] {
                let reply = server
                    .call(Service::Client, &Bytes(message.to_vec()), LONG)
                    .await
                    .unwrap();
                assert_eq!(&reply.message[..], message);
            }
        };
        let ((), _stream) = tokio::join!(calls, serve);
    });
}

#[test]
fn exceptions_and_the_end_of_a_connection_reach_their_calls() {
    block_on(async {
        let (listener, address) = listen().await;
        let server = pool(LONG).server(&address);
        let request = Bytes(vec![1]);
        let call = || server.call(Service::Client, &request, LONG);
        let serve = async {
            let mut stream = accept(&listener).await;
            let (first, _) = request_of(&read_frame(&mut stream).await);
            read_frame(&mut stream).await;
            let class = "org.apache.hadoop.hbase.NotServingRegionException";
            stream.write_all(&refusal(first, class)).await.unwrap();
            drop(stream);
            let mut stream = accept(&listener).await;
            let (id, message) = request_of(&read_frame(&mut stream).await);
            stream.write_all(&answer(id, &message, b"")).await.unwrap();
            stream
        };
        let calls = async {
            let (refused, lost) = tokio::join!(call(), call());
            let refused = refused.unwrap_err();
            assert_eq!(refused.action(), Action::Relocate);
            assert_eq!(refused.exception().unwrap().message, "no");
            assert!(refused.stamps().unwrap().received_ns > 0);
            assert!(matches!(lost.unwrap_err(), Error::Lost { .. }));
            call().await.expect("a new connection")
        };
        let (reply, _stream) = tokio::join!(calls, serve);
        assert_eq!(&reply.message[..], [1]);
    });
}

#[test]
fn a_refused_header_is_told_to_every_call() {
    block_on(async {
        let (listener, address) = listen().await;
        let server = pool(LONG).server(&address);
        let serve = async {
            let mut stream = accept(&listener).await;
            let class = "org.apache.hadoop.hbase.ipc.FatalConnectionException";
            stream.write_all(&refusal(NO_CALL, class)).await.unwrap();
            stream
        };
        let request = Bytes(vec![1]);
        let (outcome, _stream) = tokio::join!(server.call(Service::Client, &request, LONG), serve);
        assert_eq!(
            outcome.unwrap_err().exception().unwrap().name(),
            "FatalConnectionException"
        );
    });
}

#[test]
fn garbage_ends_the_connection() {
    for garbage in [
        &framed(b"\xFF\xFF\xFF")[..],
        b"HTTP/1.1 400",
        &answer(77, b"", b""),
    ] {
        block_on(async {
            let (listener, address) = listen().await;
            let server = pool(LONG).server(&address);
            let serve = async {
                let mut stream = accept(&listener).await;
                stream.write_all(garbage).await.unwrap();
                stream
            };
            let request = Bytes(vec![1]);
            let (outcome, _stream) =
                tokio::join!(server.call(Service::Client, &request, LONG), serve);
            assert!(
                matches!(outcome.unwrap_err(), Error::Protocol { .. }),
                "{garbage:?}"
            );
        });
    }
}

#[test]
fn a_refused_connect_is_told_to_every_call() {
    block_on(async {
        let (listener, address) = listen().await;
        drop(listener);
        let server = pool(LONG).server(&address);
        let request = Bytes(vec![1]);
        let call = || server.call(Service::Client, &request, LONG);
        let (first, second) = tokio::join!(call(), call());
        for outcome in [first, second] {
            assert!(matches!(outcome.unwrap_err(), Error::Connect { .. }));
        }
    });
}

#[test]
fn a_connect_that_is_not_answered_is_given_up() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any_port: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any_port.into()).unwrap();
    socket.listen(0).unwrap();
    let listening = socket.local_addr().unwrap().as_socket().unwrap();
    block_on(async {
        // Nobody accepts: once the queue is full the kernel answers no further connect.
        let mut queue = Vec::new();
        let soon = Duration::from_millis(100);
        while let Ok(connected) = tokio::time::timeout(soon, TcpStream::connect(listening)).await {
            queue.push(connected.unwrap());
        }
        let server = pool(soon).server(&Address::new("127.0.0.1", listening.port()));
        let error = server
            .call(Service::Client, &Bytes(vec![1]), LONG)
            .await
            .unwrap_err();
        let Error::Connect { source, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(source.kind(), std::io::ErrorKind::TimedOut);
    });
}

#[test]
fn a_silent_server_stops_only_its_own_calls_and_takes_no_more_than_its_share_of_memory() {
    block_on(async {
        let (silent, silent_address) = listen().await;
        let (listener, address) = listen().await;
        let pool = pool(LONG);
        let large = Bytes(vec![0; 300_000]);
        let stuck = pool.server(&silent_address);
        let calls = (0..100)
            .map(|_| stuck.call_within(Service::Client, &large, Duration::from_millis(300)));
        let serve = async {
            let held = silent.accept().await.unwrap();
            let mut stream = accept(&listener).await;
            let (id, message) = request_of(&read_frame(&mut stream).await);
            stream.write_all(&answer(id, &message, b"")).await.unwrap();
            (held, stream)
        };
        let live = pool.server(&address);
        let request = Bytes(vec![1]);
        let (outcomes, reply, _streams) = tokio::join!(
            futures::future::join_all(calls),
            live.call(Service::Client, &request, LONG),
            serve
        );
        assert!(
            outcomes
                .iter()
                .all(|outcome| matches!(outcome, Err(Error::Timeout { .. })))
        );
        assert_eq!(&reply.unwrap().message[..], [1]);
        let sent = pool.traffic().bytes_out;
        assert!(sent < 20_000_000, "{sent} bytes: the backlog has no bound");
    });
}

proptest! {
    #[test]
    fn frames_are_read_back(id: u32, message: Vec<u8>, cells in vec(any::<u8>(), 1..200)) {
        let frame = answer(id, &message, &cells);
        let response = frame::read(&frame[4..]).unwrap();
        prop_assert_eq!(response.id, id);
        prop_assert_eq!(Frames::identifier(&frame), Ok((id != u32::MAX).then_some(id)));
        let frame::Content::Answer(m, c) = response.content else { panic!("an answer") };
        prop_assert_eq!(&frame[4..][m], &message[..]);
        prop_assert_eq!(&frame[4..][c], &cells[..]);
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
        let _none_or_some = frame::read(&bytes);
    }

    #[test]
    fn requests_are_what_they_say(id in 0..u32::MAX, body in vec(any::<u8>(), 1..300), timeout: u32) {
        let mut out = b"before".to_vec();
        frame::write(&mut out, id, &Bytes(body.clone()), timeout);
        let frame = &out[6..];
        prop_assert_eq!(u32::from_be_bytes(frame[..4].try_into().unwrap()) as usize, frame.len() - 4);
        prop_assert_eq!(request_of(&frame[4..]), (id, body));
    }
}
