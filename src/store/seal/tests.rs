use super::*;

const ID: TaskId = TaskId::from_bits(7);

fn ring(id: &str, byte: u8) -> Keyring {
    Keyring::new(id, [byte; 32]).expect("it is an id")
}

fn text(error: Result<Bytes, SealError>) -> String {
    error.expect_err("it does not open").to_string()
}

/// A sealed value shows nothing, is never the same twice, and opens with its key.
#[test]
fn a_sealed_value_opens() {
    let seal = Seal::with(ring("a", 1));
    let sealed = seal.seal(ID, "body", b"a secret").expect("sealed");
    assert!(!sealed.windows(6).any(|window| window == b"secret"));
    assert_ne!(seal.seal(ID, "body", b"a secret").expect("sealed"), sealed);
    assert_eq!(seal.open(ID, "body", sealed).expect("opens"), "a secret");
}

/// A value that was moved or changed does not open.
#[test]
fn a_sealed_value_opens_only_where_it_belongs() {
    let seal = Seal::with(ring("a", 1));
    let sealed = seal.seal(ID, "body", b"a secret").expect("sealed");
    for (id, column) in [(ID, "payload"), (TaskId::from_bits(8), "body")] {
        assert!(text(seal.open(id, column, sealed.clone())).contains("does not open with the key `a`"));
    }
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        assert_ne!(seal.open(ID, "body", changed).ok().as_deref(), Some(&b"a secret"[..]), "byte {place}");
        assert!(seal.open(ID, "body", sealed[..place].to_vec()).is_err(), "cut at {place}");
    }
    assert!(text(Seal::with(ring("a", 2)).open(ID, "body", sealed)).contains("does not open"));
}

/// Keys are changed without losing what older ones sealed, and what has no key says which one it lacks.
#[test]
fn keys_are_rotated_by_id() {
    let old = Seal::with(ring("2025", 1)).seal(ID, "body", b"old").expect("sealed");
    let plain = Seal::default().seal(ID, "body", b"older").expect("stored");
    let seal = Seal::with(ring("2026", 2).with_older("2025", [1; 32]).expect("an id"));
    assert_eq!(seal.open(ID, "body", old.clone()).expect("opens"), "old");
    assert_eq!(seal.open(ID, "body", plain).expect("opens"), "older");
    let new = seal.seal(ID, "body", b"new").expect("sealed");
    assert!(text(Seal::with(ring("2025", 1)).open(ID, "body", new)).contains("key `2026`"));
    assert!(text(Seal::default().open(ID, "body", old)).contains("key `2025`, which is not on the keyring"));
}

/// Keys are never printed.
#[test]
fn a_ring_prints_ids_alone() {
    assert_eq!(format!("{:?}", ring("a", 77)), r#"Keyring { current: "a", ids: ["a"] }"#);
    let long = "a".repeat(65);
    for id in ["", "a b", "ä", &long] {
        assert_eq!(Keyring::new(id, [0; 32]).map(drop), Err(InvalidKeyId), "{id:?}");
    }
}
