//! The protocol of the socket for programs: a JSON object per line, each way, followed by a payload
//! if there is one.
//!
//! A request is `{"wayhop": 1, "id": 7, "do": "send", "destination": "dtn://b/inbox", "octets":
//! 5}`, a line feed, and 5 octets. Its answer is `{"id": 7, "ok": ...}` or `{"id": 7, "error":
//! {"message": ...}}`; a program's delivery is `{"delivery": {...}, "octets": 5}` and its octets.
//! Within a version, keys are added but never renamed. docs/reference/bundle-socket.md is the
//! reference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The version of the messages, the value of a request's key `wayhop`.
pub const VERSION: u64 = 1;

/// What a program asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// Who is there: [`Hello`].
    Hello {},
    /// Takes what comes for an endpoint, until the connection ends. Answers the endpoint, written out. What the program has not
    /// confirmed comes again.
    Register {
        /// A service of this node, such as `inbox`, or a whole endpoint of this node or of a group, such as `dtn://a/inbox`.
        endpoint: String,
        /// The highest number of a delivery that the program has got: what comes after it is delivered. 0 for one that does not
        /// remember.
        #[serde(default)]
        got: u64,
    },
    /// Takes it no longer. Answers null.
    Unregister {
        /// As with `register`.
        endpoint: String,
    },
    /// The program has got this delivery and all before it: the agent forgets them. Answers null.
    Confirm {
        /// The delivery's endpoint.
        endpoint: String,
        /// The delivery's number.
        number: u64,
    },
    /// Sends the payload behind the line as a bundle. Answers, when it is safe in the store, [`SentBundle`].
    Send {
        /// From which endpoint of this node; without it, from the node's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// The destination.
        destination: String,
        /// How long it is wanted, seconds. Without it: an hour.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lifetime_s: Option<f64>,
        /// Whether it travels with custody transfer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        custody: bool,
        /// Who gets reports of its delivery.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report_to: Option<String>,
    },
    /// What the node holds, and whom it meets: [`Listing`].
    List {},
}

/// The answer to `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// Version of the program that answers.
    pub wayhop: String,
    /// Version of the messages.
    pub messages: u64,
    /// The node's own endpoint.
    pub node: String,
    /// Who gets a copy of a bundle.
    pub routing: String,
    /// The convergence layers for which it listens.
    pub layers: Vec<String>,
    /// The longest payload, octets.
    pub largest: u64,
}

/// The answer to `send`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentBundle {
    /// The bundle's name: source, creation time in milliseconds since 2000, number.
    pub bundle: String,
    /// Who sends it.
    pub source: String,
    /// Where it goes.
    pub destination: String,
    /// Its payload, octets.
    pub bytes: u64,
}

/// What comes with a payload that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryHeader {
    /// The endpoint that it is for.
    pub endpoint: String,
    /// Its number at this endpoint: for `confirm`.
    pub number: u64,
    /// The bundle's name.
    pub bundle: String,
    /// Who sent it.
    pub source: String,
    /// When it was made, milliseconds since 2000 (RFC 9171); 0 by a node without a clock.
    pub created_ms: u64,
}

/// The answer to `list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Listing {
    /// The node's own endpoint.
    pub node: String,
    /// The bundles and fragments that it holds, in the order in which they came; at most 10000 of them.
    pub bundles: Vec<HeldBundle>,
    /// How many more there are.
    pub left_out: u64,
    /// The neighbours with which it can exchange bundles now.
    pub contacts: Vec<ContactNow>,
    /// Octets of all bundles.
    pub octets: u64,
    /// Deliveries that programs have not confirmed.
    pub unconfirmed: u64,
}

/// One bundle of [`Listing`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldBundle {
    /// The bundle's name.
    pub bundle: String,
    /// Of a fragment: where its payload begins in that of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Where it goes.
    pub destination: String,
    /// Its length, octets.
    pub octets: u64,
    /// How long it lives from now on, seconds.
    pub expires_s: f64,
    /// Whether this node is its custodian.
    pub custody: bool,
    /// Whether it waits for a program of this node.
    pub here: bool,
}

/// One neighbour of [`Listing`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContactNow {
    /// Its node endpoint.
    pub node: String,
    /// Where it is.
    pub address: String,
    /// The convergence layer.
    pub layer: String,
}

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The request's number, if it can be read.
    pub id: Option<u64>,
    /// What, and the remedy.
    pub message: String,
}

/// A request's head, read.
///
/// # Errors
/// If it is none: what to answer.
pub fn read(mut head: Map<String, Value>) -> Result<(Option<u64>, Ask), Refusal> {
    let id = match head.remove("id") {
        None | Some(Value::Null) => None,
        Some(v) => Some(v.as_u64().ok_or_else(|| Refusal {
            id: None,
            message: "id is not a number; give 0 or more, or remove it".into(),
        })?),
    };
    let refuse = |message: String| Refusal { id, message };
    let version = head.remove("wayhop");
    if version.as_ref().and_then(Value::as_u64) != Some(VERSION) {
        return Err(refuse(format!("the request has another version; send \"wayhop\": {VERSION}")));
    }
    let ask = serde_json::from_value(Value::Object(head)).map_err(|e| {
        let what: String = e.to_string().chars().take(200).collect();
        refuse(format!("{what}; docs/reference/bundle-socket.md lists the requests and their keys"))
    })?;
    Ok((id, ask))
}

/// The head of a request.
pub fn write(id: u64, ask: &Ask) -> Map<String, Value> {
    let mut head = match serde_json::to_value(ask) {
        Ok(Value::Object(head)) => head,
        // A request is always an object of finite numbers and strings.
        _ => Map::new(),
    };
    head.insert("wayhop".to_owned(), VERSION.into());
    head.insert("id".to_owned(), id.into());
    head
}

/// The head of an answer.
pub(super) fn answer<T: Serialize>(id: Option<u64>, ok: &T) -> Map<String, Value> {
    object(json!({ "id": id, "ok": ok }))
}

/// The head of a refusal.
pub(super) fn refusal(r: &Refusal) -> Map<String, Value> {
    object(json!({ "id": r.id, "error": { "message": r.message } }))
}

/// The head of what arrived.
pub(super) fn delivery(d: &DeliveryHeader) -> Map<String, Value> {
    object(json!({ "delivery": d }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_were_written() {
        for ask in [
            Ask::Hello {},
            Ask::Register { endpoint: "inbox".into(), got: 7 },
            Ask::Send {
                source: None,
                destination: "dtn://b/x".into(),
                lifetime_s: Some(1.5),
                custody: true,
                report_to: None,
            },
            Ask::List {},
        ] {
            assert_eq!(read(write(3, &ask)), Ok((Some(3), ask)));
        }
    }

    #[test]
    fn what_is_no_request_is_refused_under_its_number() {
        let of = |text: &str| read(serde_json::from_str(text).expect("an object")).expect_err("refused");
        assert!(of(r#"{"id": 4, "do": "hello"}"#).message.contains("\"wayhop\": 1"));
        let unknown = of(r#"{"wayhop": 1, "id": 4, "do": "fly"}"#);
        assert_eq!(unknown.id, Some(4));
        assert!(unknown.message.contains("bundle-socket.md"), "{unknown:?}");
        assert!(of(r#"{"wayhop": 1, "do": "send"}"#).message.contains("destination"));
        assert!(of(r#"{"wayhop": 1, "do": "hello", "more": 1}"#).message.contains("more"));
    }
}
