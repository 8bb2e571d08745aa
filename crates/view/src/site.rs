//! What a browser is answered: the page, the manifest and the recordings, and nothing else.
//!
//! Every address begins with a token that only the user who started the program knows, and the
//! names of what there is stand in a table: no address ever becomes the name of a file on the disk.

use crate::assets;
use crate::library::{Entry, Manifest};
use std::sync::{Arc, Mutex, PoisonError};

/// What the page may load: its own program, looks and data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 200 or what is wrong.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// What is sent.
    pub body: Arc<Vec<u8>>,
}

impl Answer {
    fn new(status: u16, kind: &str, body: Arc<Vec<u8>>) -> Self {
        let headers = vec![
            ("content-type", kind.to_owned()),
            ("content-security-policy", POLICY.to_owned()),
            ("x-content-type-options", "nosniff".to_owned()),
            ("referrer-policy", "no-referrer".to_owned()),
            ("cross-origin-resource-policy", "same-origin".to_owned()),
            ("cache-control", "no-store".to_owned()),
        ];
        Self { status, headers, body }
    }

    fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", Arc::new(text.as_bytes().to_vec()))
    }
}

/// What is shown, and to whom.
#[derive(Debug)]
pub struct Site {
    token: String,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    title: String,
    live: bool,
    done: f64,
    runs: Vec<(Entry, Arc<Vec<u8>>)>,
    /// Of a run that goes on: what there is so far.
    so_far: Option<(Entry, Arc<Vec<u8>>)>,
}

impl Content {
    fn all(&self) -> impl Iterator<Item = &(Entry, Arc<Vec<u8>>)> {
        self.runs.iter().chain(&self.so_far)
    }
}

impl Site {
    /// A site without recordings, for who knows `token`. More will come, until it is
    /// [`Self::complete`].
    pub fn new(token: &str, title: &str) -> Self {
        let content = Content { title: title.to_owned(), live: true, ..Content::default() };
        Self { token: token.to_owned(), content: Mutex::new(content) }
    }

    fn content(&self) -> std::sync::MutexGuard<'_, Content> {
        // what is shown is changed in one step: a panic elsewhere leaves it whole
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows one more recording, of a run that is over.
    pub fn add(&self, mut entry: Entry) {
        let file = Arc::new(std::mem::take(&mut entry.file));
        let mut content = self.content();
        content.so_far = None;
        content.runs.push((entry, file));
    }

    /// Shows what there is so far of a run that goes on.
    pub fn show(&self, mut entry: Entry) {
        let file = Arc::new(std::mem::take(&mut entry.file));
        self.content().so_far = Some((entry, file));
    }

    /// How much of the runs is done, from 0 to 1.
    pub fn progress(&self, done: f64) {
        self.content().done = done;
    }

    /// All recordings are there.
    pub fn complete(&self) {
        self.content().live = false;
    }

    /// The address of the page at a server.
    pub fn address(&self, server: std::net::SocketAddr) -> String {
        format!("http://{server}/{}/", self.token)
    }

    /// Answers a request for `path` from a browser that thinks that it talks to `host`. `port` is
    /// that of the server.
    pub fn answer(&self, method: &str, host: &str, path: &str, port: u16) -> Answer {
        // a page of another site could have its own name lead here
        let known = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !known.iter().any(|name| name == host) {
            return Answer::text(403, "This address is not one of this server.\n");
        }
        if method != "GET" && method != "HEAD" {
            return Answer::text(405, "There is nothing to change here.\n");
        }
        let rest = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let Some((token, name)) = rest.filter(|(token, _)| same(token, &self.token)) else {
            let text = "Open the whole address that `weir view` has printed.\n";
            return Answer::text(404, text);
        };
        debug_assert_eq!(token, self.token);
        self.file(name)
    }

    fn file(&self, name: &str) -> Answer {
        let asset =
            |kind: &str, text: &str| Answer::new(200, kind, Arc::new(text.as_bytes().to_vec()));
        match name {
            "" | "index.html" => asset("text/html; charset=utf-8", assets::INDEX),
            "app.js" => asset("text/javascript; charset=utf-8", assets::SCRIPT),
            "app.css" => asset("text/css; charset=utf-8", assets::STYLE),
            "manifest.json" => {
                Answer::new(200, "application/json", Arc::new(self.manifest().json()))
            }
            _ => match self.content().all().find(|(entry, _)| entry.name == name) {
                Some((_, file)) => Answer::new(200, "application/octet-stream", Arc::clone(file)),
                None => Answer::text(404, "There is no such file here.\n"),
            },
        }
    }

    fn manifest(&self) -> Manifest {
        let content = self.content();
        let mut manifest = Manifest::new(content.all().map(|(entry, _)| entry));
        manifest.live = content.live;
        if let (Some(last), Some(_)) = (manifest.runs.last_mut(), &content.so_far) {
            last.live = true;
        }
        manifest.done = content.live.then_some(content.done);
        if manifest.title.is_empty() {
            manifest.title = content.title.clone();
        }
        manifest
    }
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    let different = a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && different == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Timeline;

    const HOST: &str = "127.0.0.1:4000";

    fn site() -> Site {
        let site = Site::new("secret", "A title");
        site.complete();
        let header = crate::Header { window_ps: 1, label: "PFC".into(), ..Default::default() };
        let file = crate::encode(&Timeline { header, tables: Vec::new() });
        site.add(Entry::new("pfc/timeline.weir", file, &Default::default()).expect("a recording"));
        site
    }

    fn status(path: &str) -> u16 {
        site().answer("GET", HOST, path, 4000).status
    }

    #[test]
    fn only_who_knows_the_token_sees_anything() {
        assert_eq!(status("/secret/"), 200);
        assert_eq!(status("/secret/manifest.json"), 200);
        assert_eq!(status("/secret/pfc/timeline.weir"), 200);
        for path in ["/", "/secret", "/Secret/", "/secre/", "/secrets/", "//", "", "/x/app.js"] {
            assert_eq!(status(path), 404, "{path}");
        }
    }

    #[test]
    fn no_address_leads_out_of_the_table_of_names() {
        for name in [
            "../Cargo.toml",
            "pfc/../../Cargo.toml",
            "..%2fCargo.toml",
            "%2e%2e/Cargo.toml",
            "/etc/passwd",
            "pfc",
            "pfc/",
            "pfc\\timeline.weir",
            "./app.js",
            "Cargo.toml",
            "app.js/",
            "\0",
        ] {
            assert_eq!(status(&format!("/secret/{name}")), 404, "{name:?}");
        }
    }

    #[test]
    fn another_name_of_the_server_is_refused() {
        for host in ["evil.example", "127.0.0.1", "127.0.0.1:4001", "", "localhost.evil:4000"] {
            assert_eq!(site().answer("GET", host, "/secret/", 4000).status, 403, "{host}");
        }
        assert_eq!(site().answer("GET", "localhost:4000", "/secret/", 4000).status, 200);
        assert_eq!(site().answer("POST", HOST, "/secret/", 4000).status, 405);
    }

    #[test]
    fn every_answer_has_a_policy_without_inline_code() {
        for path in ["/", "/secret/", "/secret/app.js", "/secret/no"] {
            let answer = site().answer("GET", HOST, path, 4000);
            let header = |name| answer.headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v);
            let policy = header("content-security-policy").expect("a policy");
            assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
            assert!(!policy.contains("unsafe"), "{policy}");
            assert_eq!(header("x-content-type-options").map(String::as_str), Some("nosniff"));
        }
    }

    #[test]
    fn a_site_is_live_until_it_is_complete() {
        let site = Site::new("t", "What is run");
        site.progress(0.25);
        let manifest = |site: &Site| {
            let body = site.answer("GET", HOST, "/t/manifest.json", 4000).body;
            serde_json::from_slice::<serde_json::Value>(&body).expect("JSON")
        };
        let before = manifest(&site);
        assert_eq!((&before["live"], &before["done"]), (&true.into(), &0.25.into()));
        assert_eq!(before["title"], "What is run");
        let entry = |name: &str| {
            let header = crate::Header { window_ps: 1, label: "PFC".into(), ..Default::default() };
            let file = crate::encode(&Timeline { header, tables: Vec::new() });
            Entry::new(name, file, &Default::default()).expect("a recording")
        };
        site.show(entry("timeline.weir"));
        assert_eq!(manifest(&site)["runs"][0]["live"], true);
        assert_eq!(site.answer("GET", HOST, "/t/timeline.weir", 4000).status, 200);
        site.add(entry("timeline.weir"));
        assert_eq!(manifest(&site)["runs"][0]["live"], false);
        assert_eq!(manifest(&site)["runs"].as_array().map(Vec::len), Some(1));
        site.complete();
        assert_eq!(manifest(&site)["live"], false);
    }
}
