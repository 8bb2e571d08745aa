//! The server of the explorer: on this computer only, until it is told to stop.

use crate::site::Site;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A token that nobody can guess: 128 random bits.
pub fn token() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Serves `site` at a port of the loopback interface (0: any that is free) until `stop` is set.
/// `ready` is called when it can be asked.
pub fn serve(
    site: &Arc<Site>,
    port: u16,
    ready: impl FnOnce(SocketAddr),
    stop: &AtomicBool,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let site = Arc::clone(site);
        let answer = move |request: Request<Body>| {
            let response = respond(&site, &request, address.port());
            async move { response }
        };
        let server = axum::serve(listener, Router::new().fallback(answer)).into_future();
        ready(address);
        // connections that browsers keep open must not keep the program alive
        tokio::select! {
            ended = server => ended,
            () = stopped(stop) => Ok(()),
        }
    })
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn respond(site: &Site, request: &Request<Body>, port: u16) -> Response<Body> {
    let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or("");
    let method = request.method().as_str();
    let answer = site.answer(method, host, request.uri().path(), port);
    let body = match method {
        "HEAD" => Body::empty(),
        _ => Body::from(Bytes::from_owner(Shared(answer.body))),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::NOT_FOUND);
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// Bytes that several answers share.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    /// What the server at `address` says to a request.
    fn ask(address: SocketAddr, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    #[test]
    fn it_answers_on_loopback_and_stops_when_told() {
        let site = Arc::new(Site::new("abc", "Title"));
        let stop = AtomicBool::new(false);
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                serve(&site, 0, |address| sender.send(address).expect("it is heard"), &stop)
            });
            let address = receiver.recv().expect("it is ready");
            assert!(address.ip().is_loopback());
            let host = address.to_string();
            let page = ask(address, "/abc/manifest.json", &host);
            assert!(page.starts_with("HTTP/1.1 200"), "{page}");
            assert!(page.contains("content-security-policy: default-src 'none'"), "{page}");
            assert!(page.contains(r#""live":true"#), "{page}");
            for path in ["/", "/abc/../../etc/passwd", "/abc/%2e%2e/%2e%2e/etc/passwd"] {
                let answer = ask(address, path, &host);
                assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
            }
            assert!(ask(address, "/abc/", "evil.example").starts_with("HTTP/1.1 403"));
            stop.store(true, Ordering::Relaxed);
            server.join().expect("no panic").expect("no error");
        });
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let [a, b] = [token(), token()].map(|t| t.expect("randomness"));
        assert!(a.len() == 32 && a != b && a.bytes().all(|c| c.is_ascii_hexdigit()), "{a} {b}");
    }
}
