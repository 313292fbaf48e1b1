//! For tests: the server's side of the protocol, in the same process.

use super::wire;
use crate::names::Address;
use crate::pb;
use prost::Message;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

pub(crate) async fn listen() -> (TcpListener, Address) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, Address::new("127.0.0.1", port))
}

/// Take a connection and its header.
pub(crate) async fn accept(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut magic = [0; 6];
    stream.read_exact(&mut magic).await.unwrap();
    assert_eq!(&magic, b"HBas\0\x50");
    read_frame(&mut stream).await;
    stream
}

pub(crate) async fn read_frame(stream: &mut TcpStream) -> Vec<u8> {
    let mut frame = vec![0; stream.read_u32().await.unwrap() as usize];
    stream.read_exact(&mut frame).await.unwrap();
    frame
}

pub(crate) fn answer(id: u32, message: &[u8], cells: &[u8]) -> Vec<u8> {
    let header = pb::ResponseHeader {
        call_id: Some(id),
        exception: None,
        cell_block_meta: Some(pb::CellBlockMeta {
            length: Some(cells.len() as u32),
        }),
    };
    let mut body = header.encode_length_delimited_to_vec();
    wire::put_varint(&mut body, message.len() as u64);
    body.extend([message, cells].concat());
    framed(&body)
}

pub(crate) fn refusal(id: u32, class: &str) -> Vec<u8> {
    let header = pb::ResponseHeader {
        call_id: Some(id),
        exception: Some(pb::ExceptionResponse {
            exception_class_name: Some(class.to_owned()),
            stack_trace: Some(format!("{class}: no\n\tat Somewhere")),
            ..pb::ExceptionResponse::default()
        }),
        cell_block_meta: None,
    };
    framed(&header.encode_length_delimited_to_vec())
}

pub(crate) fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes(), body].concat()
}
