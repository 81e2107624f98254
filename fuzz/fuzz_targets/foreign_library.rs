//! What a library says about itself: rejected with a reason, or accepted with defaults that are values of its own parameters.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use wayhop_foreign::{ApplicationClaims, ApplicationFacts, Claims, Facts, ParameterClaim};

fuzz_target!(|input: (&str, [u32; 4], u16, &str)| {
    let (text, [plane, interests, room, carrier], number, values) = input;
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default().to_owned();
    let mut claims = Claims {
        name: next(),
        full_name: next(),
        version: next(),
        classes: next().split(' ').map(str::to_owned).collect(),
        types: next().split(' ').zip(0..).map(|(name, bit)| (bit, name.to_owned())).collect(),
        data_plane: plane,
        interests,
        header_room: room,
        carrier: carrier as u8,
        carrier_number: number,
        ..Claims::default()
    };
    claims.parameters = lines
        .map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            ParameterClaim {
                key: fields.next().unwrap_or_default(),
                kind: fields.next().and_then(|k| k.parse().ok()).unwrap_or_default(),
                preset: fields.next().unwrap_or_default(),
                minimum: fields.next(),
                maximum: fields.next(),
                choices: fields.next(),
                ..ParameterClaim::default()
            }
        })
        .collect();
    let application = ApplicationClaims {
        name: claims.name.clone(),
        about: claims.full_name.clone(),
        version: claims.version.clone(),
        parameters: claims.parameters.clone(),
        notes: claims.classes.clone(),
    };
    if let Err(why) = ApplicationFacts::check(&application) {
        assert!(!why.is_empty());
    }
    let facts = match Facts::check(&claims) {
        Ok(facts) => facts,
        Err(why) => return assert!(!why.is_empty()),
    };
    let defaults = facts.values(&Map::new()).expect("the defaults are values");
    assert_eq!(facts.values(&defaults).as_ref(), Ok(&defaults));
    assert!(facts.schema().is_object());
    if let Ok(Value::Object(given)) = serde_json::from_str(values)
        && let Ok(read) = facts.values(&given)
    {
        assert_eq!(facts.values(&read), Ok(read.clone()));
        assert_eq!(read.len(), claims.parameters.len());
    }
});
