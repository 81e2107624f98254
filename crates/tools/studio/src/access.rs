//! Access control: only the browser of the user who started the studio, on the studio's own page.
//!
//! A malicious page can make a browser send requests here. It cannot choose their `Host` (except by rebinding its own name to
//! this address, which then appears in it), nor hide its `Origin`; so both are checked. Clients on other machines also need
//! the token.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Method, header};

use crate::error::Error;

const TOKEN_OCTETS: usize = 16;

/// The rules of one server.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    token: Option<String>,
    /// Whether only this machine can connect.
    local: bool,
    port: u16,
}

impl Access {
    /// Of a server at this address: with a random token away from loopback, and if something can be changed there.
    pub(crate) fn new(at: SocketAddr, changes: bool) -> Result<Self, String> {
        if at.ip().is_loopback() && !changes {
            return Ok(Self { token: None, local: true, port: at.port() });
        }
        let mut octets = [0; TOKEN_OCTETS];
        getrandom::fill(&mut octets).map_err(|e| format!("cannot create a random token: {e}"))?;
        Ok(Self { token: Some(wayhop_core::hex(&octets)), local: at.ip().is_loopback(), port: at.port() })
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The cookie that replaces the token after the first page. It names the port: all ports of a host share their cookies.
    pub(crate) fn cookie(&self) -> Option<String> {
        let token = self.token()?;
        Some(format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name()))
    }

    fn cookie_name(&self) -> String {
        format!("wayhop-studio-{}", self.port)
    }

    /// Whether a request may have an answer; `given` is the token in its address.
    pub(crate) fn check(
        &self,
        method: &Method,
        headers: &HeaderMap,
        given: Option<&str>,
    ) -> Result<(), Error> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Error::forbidden("this studio is read-only: use GET"));
        }
        let host = text(headers, header::HOST.as_str()).unwrap_or_default();
        if !self.knows_host(host) {
            let what = "wrong Host: use the address that the studio printed, or localhost";
            return Err(Error::forbidden(what));
        }
        let origin = text(headers, header::ORIGIN.as_str());
        if origin.is_some_and(|o| o.strip_prefix("http://") != Some(host)) {
            return Err(Error::forbidden("wrong Origin: pages of other sites have no access"));
        }
        let site = text(headers, "sec-fetch-site");
        let is_visit = text(headers, "sec-fetch-mode") == Some("navigate")
            && text(headers, "sec-fetch-dest") == Some("document");
        if matches!(site, Some("cross-site" | "same-site")) && !is_visit {
            return Err(Error::forbidden("pages of other sites have no access"));
        }
        self.check_token(headers, given)
    }

    /// Whether a POST may change something. The page tells its origin and the type of its question: a stranger's form can do neither.
    pub(crate) fn check_change(&self, headers: &HeaderMap) -> Result<(), Error> {
        self.check_own_page(headers)?;
        if text(headers, header::CONTENT_TYPE.as_str()) != Some("application/json") {
            return Err(Error::forbidden("wrong Content-Type: send changes as application/json"));
        }
        Ok(())
    }

    /// Whether the studio's own page asks, with the token: for what changes something, and for connections by which it can.
    pub(crate) fn check_own_page(&self, headers: &HeaderMap) -> Result<(), Error> {
        self.check(&Method::GET, headers, None)?;
        if self.token.is_none() {
            return Err(Error::forbidden("this studio is read-only: use GET"));
        }
        if headers.get(header::ORIGIN).is_none() {
            return Err(Error::forbidden("no Origin: only the studio's own page may make changes"));
        }
        Ok(())
    }

    fn check_token(&self, headers: &HeaderMap, given: Option<&str>) -> Result<(), Error> {
        let Some(token) = self.token() else { return Ok(()) };
        let name = self.cookie_name();
        let cookies = text(headers, header::COOKIE.as_str()).unwrap_or_default();
        let mut cookies = cookies.split(';').filter_map(|c| c.trim().split_once('='));
        let in_cookie = cookies.any(|(n, v)| n == name && are_equal(v, token));
        if in_cookie || given.is_some_and(|g| are_equal(g, token)) {
            Ok(())
        } else {
            Err(Error::forbidden("missing or wrong token: open the complete address that the studio printed"))
        }
    }

    /// Names can be rebound to any address, addresses cannot. Through a tunnel the port is another one.
    fn knows_host(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
        match bare.parse::<IpAddr>() {
            Ok(address) => !self.local || address.is_loopback(),
            Err(_) => bare.eq_ignore_ascii_case("localhost"),
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    // One that is no text is compared with nothing that would let it in.
    headers.get(name).map(|v| v.to_str().unwrap_or("?"))
}

/// In a time that does not tell how much of it is right.
fn are_equal(given: &str, token: &str) -> bool {
    let differing = given.bytes().zip(token.bytes()).fold(0, |d, (a, b)| d | (a ^ b));
    std::hint::black_box(differing) == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.parse().unwrap(), HeaderValue::from_str(v).unwrap())).collect()
    }

    fn local(pairs: &[(&'static str, &str)]) -> bool {
        let access = Access::new("127.0.0.1:8080".parse().unwrap(), false).unwrap();
        access.check(&Method::GET, &headers(pairs), None).is_ok()
    }

    #[test]
    fn a_rebound_name_is_refused_and_loopback_by_any_of_its_names_is_not() {
        for host in ["127.0.0.1:8080", "localhost:9000", "[::1]:8080", "LOCALHOST", "127.0.0.1"] {
            assert!(local(&[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "192.0.2.1:8080",
            "",
            "localhost.",
            "[",
        ] {
            assert!(!local(&[("host", host)]), "{host}");
        }
        assert!(!local(&[]));
    }

    #[test]
    fn another_sites_page_is_refused_and_a_link_to_the_studio_is_not() {
        let host = ("host", "localhost:8080");
        assert!(local(&[host, ("origin", "http://localhost:8080")]));
        for origin in ["http://evil.example", "null", "https://localhost:8080", "http://localhost:81"] {
            assert!(!local(&[host, ("origin", origin)]), "{origin}");
        }
        let cross = ("sec-fetch-site", "cross-site");
        assert!(!local(&[host, cross, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")]));
        assert!(!local(&[host, cross, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]));
        assert!(local(&[host, cross, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]));
    }

    #[test]
    fn away_from_loopback_the_whole_token_is_needed() {
        let access = Access::new("0.0.0.0:8080".parse().unwrap(), false).unwrap();
        let token = access.token().unwrap().to_owned();
        assert_eq!(token.len(), 32);
        let asked = |cookie: &str, given: Option<&str>| {
            let headers = headers(&[("host", "192.0.2.1:8080"), ("cookie", cookie)]);
            access.check(&Method::GET, &headers, given).is_ok()
        };
        assert!(asked("", Some(&token)));
        assert!(asked(&format!("a=b; wayhop-studio-8080={token}"), None));
        assert!(!asked(&format!("wayhop-studio-8081={token}"), None));
        for wrong in
            ["", &token[..31], &format!("{token}0"), &token.replace(|c: char| c.is_ascii_digit(), "x")]
        {
            assert!(!asked("", Some(wrong)), "{wrong}");
        }
        assert!(!asked("", None));
        let another = Access::new("0.0.0.0:8080".parse().unwrap(), false).unwrap();
        assert_ne!(another.token().unwrap(), token);
    }

    #[test]
    fn changes_need_the_token_an_origin_and_json() {
        let access = Access::new("127.0.0.1:8080".parse().unwrap(), true).unwrap();
        let cookie = format!("wayhop-studio-8080={}", access.token().unwrap());
        let all = [
            ("host", "localhost:8080"),
            ("origin", "http://localhost:8080"),
            ("content-type", "application/json"),
            ("cookie", &*cookie),
        ];
        assert!(access.check_change(&headers(&all)).is_ok());
        for without in 0..all.len() {
            let some: Vec<_> =
                all.iter().enumerate().filter(|(i, _)| *i != without).map(|(_, h)| *h).collect();
            assert!(access.check_change(&headers(&some)).is_err(), "without {}", all[without].0);
        }
        for (name, value) in [
            ("host", "192.0.2.1:8080"),
            ("origin", "http://evil.example"),
            ("content-type", "text/plain"),
            ("cookie", "wayhop-studio-8080=0"),
            ("sec-fetch-site", "cross-site"),
        ] {
            let mut changed: Vec<_> = all.iter().filter(|h| h.0 != name).copied().collect();
            changed.push((name, value));
            assert!(access.check_change(&headers(&changed)).is_err(), "{name}: {value}");
        }
        let shows = Access::new("127.0.0.1:8080".parse().unwrap(), false).unwrap();
        assert!(shows.check_change(&headers(&all)).is_err());
    }

    #[test]
    fn nothing_can_be_changed() {
        let access = Access::new("127.0.0.1:8080".parse().unwrap(), false).unwrap();
        let host = headers(&[("host", "localhost:8080")]);
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            assert!(access.check(&method, &host, None).is_err(), "{method}");
        }
    }
}
