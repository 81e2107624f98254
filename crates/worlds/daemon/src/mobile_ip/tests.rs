//! Configurations that are nearly right, and some that are not.

use proptest::prelude::*;

use super::{Role, complete};

/// One of these values, or any text.
fn value(right: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![12 => proptest::sample::select(right).prop_map(str::to_owned), 1 => "[ -~]{0,12}"]
}
/// The same, or none.
fn maybe(key: &'static str, right: &'static [&'static str]) -> impl Strategy<Value = String> {
    let line = move |v: String| format!("{key} = {v}\n");
    prop_oneof![3 => Just(String::new()), 1 => value(right).prop_map(line)]
}

const NAMES: &[&str] = &["\"eth0\"", "\"mesh0\"", "\"wlan0\"", "\"mip0\""];
const HOSTS: &[&str] = &["\"10.1.0.1\"", "\"10.1.0.9\"", "\"10.2.0.9\"", "\"224.0.0.1\""];
const NUMBERS: &[&str] = &["0", "99", "300", "1280", "65535", "65536", "-1"];

fn peers(list: &'static str) -> impl Strategy<Value = String> {
    let key = value(&["\"00112233445566778899aabbccddeeff\"", "\"0011\""]);
    let replay = maybe("replay", &["\"nonces\"", "\"timestamps\""]);
    let one = (value(HOSTS), value(&["256", "255", "4294967295"]), key, replay).prop_map(
        move |(a, spi, key, more)| format!("[[{list}]]\naddress = {a}\nspi = {spi}\nkey = {key}\n{more}"),
    );
    proptest::collection::vec(one, 0..3).prop_map(|all| all.concat())
}

fn numbers() -> impl Strategy<Value = String> {
    let every = maybe("advertise_every_ms", NUMBERS);
    (every, maybe("lifetime_s", NUMBERS), maybe("mtu", NUMBERS), maybe("log", &["\"debug\"", "\"info\""]))
        .prop_map(|(a, b, c, d)| a + &b + &c + &d)
}

fn links() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        maybe("mesh", &["true", "false"]),
        maybe("kind", &["\"link\"", "\"mesh\"", "\"co-located\""])
    ];
    let more = (maybe("radio", NAMES), maybe("agents", &["[\"10.9.0.3\"]", "[\"0.0.0.0\"]", "[]"]));
    let one = (value(NAMES), kind, more)
        .prop_map(|(n, k, m)| format!("[[links]]\ninterface = {n}\n{k}{}{}", m.0, m.1));
    proptest::collection::vec(one, 0..3).prop_map(|all| all.concat())
}

fn files() -> impl Strategy<Value = String> {
    let nets = &["\"10.1.0.1/24\"", "\"10.1.0.9/30\"", "\"10.1.0.9\"", "\"10.1.0.9/24\""];
    let home = (value(NAMES), value(nets), numbers(), peers("mobiles"), peers("foreign_agents"))
        .prop_map(|(i, a, n, m, f)| format!("interface = {i}\naddress = {a}\n{n}{m}{f}"));
    let foreign = (value(NAMES), value(HOSTS), numbers(), links(), peers("mobiles"))
        .prop_map(|(u, c, n, l, m)| format!("uplink = {u}\ncare_of = {c}\n{n}{l}{m}"));
    let own = "spi = 256\nkey = \"00112233445566778899aabbccddeeff\"\n";
    let node = (value(nets), value(HOSTS), numbers(), links(), peers("foreign_agents"))
        .prop_map(move |(h, a, n, l, f)| format!("home = {h}\nhome_agent = {a}\n{own}{n}{l}{f}"));
    prop_oneof![home, foreign, node, "[ -~\n]{0,80}"]
}

proptest! {
    #[test]
    fn a_configuration_is_refused_by_key_or_reads_back_the_same(text in files()) {
        for role in [Role::HomeAgent, Role::ForeignAgent, Role::Node] {
            match complete(role, &text) {
                Ok(whole) => prop_assert_eq!(complete(role, &whole).map_err(|e| e.to_string()), Ok(whole)),
                Err(e) => prop_assert!(e.to_string().contains("line ") || e.to_string().contains(':'), "{}", e),
            }
        }
    }
}

#[test]
fn a_configuration_with_what_must_be_given_has_defaults_for_the_rest() {
    let mobile = "address = \"10.1.0.9\"\nspi = 256\nkey = \"00112233445566778899aabbccddeeff\"\n";
    let home = format!("interface = \"eth0\"\naddress = \"10.1.0.1/24\"\n[[mobiles]]\n{mobile}");
    let whole = complete(Role::HomeAgent, &home).unwrap();
    // RFC 5944, section 2.3: about one a second. Section 3.4 leaves the lifetime open.
    for line in ["advertise_every_ms = 1000", "lifetime_s = 300", "tun = \"mip0\"", "replay = \"timestamps\""]
    {
        assert!(whole.contains(line), "{line}: {whole}");
    }
    let other = complete(Role::Node, &home).unwrap_err().to_string();
    assert!(other.contains("unknown key `address`"), "a key that a mobile node does not have: {other}");
}
