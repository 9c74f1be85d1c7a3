use proptest::{collection::vec, option, prelude::*};

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just("a\0b\\0\\".into()), Just(String::new()), Just("\u{10ffff}\u{0}".into())]
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        vec(any::<u8>(), 0..40).prop_map(Bytes::from),
        text().prop_map(Bytes::from),
        Just(Bytes::from_static(br#"{"n":1e400,"s":"\ud800\u0000","big":18446744073709551615}"#)),
    ]
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![any::<Duration>(), Just(Duration::ZERO), Just(Duration::MAX)]
}

/// A time that a column can hold.
fn time() -> impl Strategy<Value = UnixMillis> {
    (0..=i64::MAX).prop_map(|millis| from_millis(millis).expect("it is after the epoch"))
}

fn state() -> impl Strategy<Value = TaskState> {
    let failure = prop_oneof![
        (bytes(), text()).prop_map(|(error, message)| Failure::Reported { error, message: message.into() }),
        Just(Failure::Panicked),
        any::<usize>().prop_map(|limit| Failure::ResultTooLarge { limit }),
        Just(Failure::Interrupted),
        Just(Failure::Expired),
    ];
    prop_oneof![
        Just(TaskState::Open),
        bytes().prop_map(|result| TaskState::Settled(Settlement::Completed(result))),
        failure.prop_map(|failure| TaskState::Settled(Settlement::failed(failure))),
        Just(TaskState::Settled(Settlement::Cancelled)),
    ]
}

fn input() -> impl Strategy<Value = InputEntry> {
    let state = prop_oneof![
        bytes().prop_map(|request| InputState::Outstanding { request }),
        bytes().prop_map(|response| InputState::Answered { response }),
        Just(InputState::Withdrawn),
    ];
    (text(), text(), any::<u32>(), any::<u64>(), state).prop_map(|(key, name, ordinal, hash, state)| InputEntry {
        key: InputKey::new(key),
        name: name.into(),
        ordinal,
        hash: RequestHash(hash),
        state,
    })
}

fn journal() -> impl Strategy<Value = Journal> {
    let step = (text(), bytes()).prop_map(|(key, value)| Step { key: key.into(), value });
    (bytes(), vec(input(), 0..4), vec(step, 0..4))
        .prop_map(|(arguments, inputs, steps)| Journal::new(arguments, InputLog::from_entries(inputs), steps))
}

prop_compose! {
    fn record()(
        (id, principal, key, method, name, version) in
            (any::<u128>(), text(), option::of((text(), any::<u64>())), text(), text(), text()),
        (created_at, last_updated_at, ttl, grace, poll_interval) in
            (time(), any::<u64>(), option::of(duration()), duration(), option::of(duration())),
        (status_message, progress, state, journal) in
            (option::of(text()), option::of(any::<(u64, u64)>()), state(), journal()),
        (declared, signal, rerun, cancel_requested, attempt) in
            (0..=InputKinds::ALL.bits(), any::<bool>(), option::of(any::<u32>()), any::<bool>(), any::<u32>()),
        (rev, epoch) in (0..=i64::MAX as u64, 0..=i64::MAX as u64),
    ) -> TaskRecord {
        TaskRecord {
            id: TaskId::from_bits(id),
            principal: Principal::new(principal),
            key: key.map(|(text, call)| IdempotencyKey { text: text.into(), call: RequestHash(call) }),
            target: Arc::new(Target::new(&method, &name, &version)),
            created_at,
            last_updated_at: UnixMillis::new(last_updated_at),
            ttl,
            grace,
            poll_interval,
            status_message: status_message.map(Into::into),
            progress: progress.map(|(done, total)| Progress { done, total }),
            state,
            journal,
            declared: InputKinds::from_bits(declared),
            on_cancel: if signal { OnCancel::Signal } else { OnCancel::Drop },
            on_restart: rerun.map_or(OnRestart::Fail, |max_attempts| OnRestart::Rerun { max_attempts }),
            cancel_requested,
            attempt,
            rev: Rev(rev),
            epoch: Epoch(epoch),
        }
    }
}

fn seals() -> Vec<Seal> {
    let seals = vec![Seal::default()];
    #[cfg(feature = "encryption")]
    let seals = [seals, vec![Seal::with(crate::store::Keyring::new("k", [5; 32]).expect("an id"))]].concat();
    seals
}

fn written(record: &TaskRecord, seal: &Seal) -> (Row, Option<Vec<u8>>) {
    (encode(record, seal).expect("a row"), encode_payload(record, seal).expect("a payload"))
}

fn task() -> TaskRecord {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let new = crate::task::NewTask {
        on_restart: OnRestart::Rerun { max_attempts: 2 },
        status_message: Some("going".into()),
        ..crate::task::NewTask::new(Principal::local(), target, Bytes::from_static(b"{}"))
    };
    TaskRecord::new(TaskId::from_bits(1), new, UnixMillis::new(5))
}

proptest! {
    /// NEW-01, case 26: every record is read back as it was written, sealed or not, whatever stands in it.
    #[test]
    fn a_record_is_read_back_as_it_was(record in record()) {
        for seal in seals() {
            let (row, payload) = written(&record, &seal);
            let texts = [&row.principal, &row.method, &row.name, &row.version];
            prop_assert!(texts.into_iter().chain(&row.key).all(|text| !text.contains('\0')));
            prop_assert_eq!(crate::task::TaskStatus::of_word(row.status), Some(record.status()));
            prop_assert_eq!(&*decode(row, payload, &seal).expect("it is read"), &record);
        }
    }

    /// A damaged row is an error, or another record; it is never a panic.
    #[test]
    fn a_damaged_row_does_not_panic(record in record(), place in any::<usize>(), byte in any::<u8>(), cut in any::<bool>()) {
        for seal in seals() {
            let (row, payload) = written(&record, &seal);
            let damaged = |value: &[u8]| {
                let mut value = value.to_vec();
                let place = place.checked_rem(value.len()).unwrap_or(0);
                if cut { value.truncate(place) } else if let Some(at) = value.get_mut(place) { *at = byte }
                value
            };
            let _ = decode(Row { head: damaged(&row.head), ..row.clone() }, payload.clone(), &seal);
            let _ = decode(Row { body: row.body.as_deref().map(damaged), ..row.clone() }, payload.clone(), &seal);
            let _ = decode(row, payload.as_deref().map(damaged), &seal);
        }
    }

    /// Escaped texts differ exactly if the texts do.
    #[test]
    fn escapes_are_taken_back(text in text()) {
        let escaped = escape(&text);
        prop_assert_eq!(&*unescape(&escaped), &*text);
    }
}

/// What does not fit together is said, by its part.
#[test]
fn a_row_that_was_not_written_here_is_corrupt() {
    let seal = Seal::default();
    let (row, payload) = written(&task(), &seal);
    let fault = |row: Row, payload| decode(row, payload, &seal).expect_err("it is corrupt").to_string();
    assert!(fault(row.clone(), None).ends_with("wrong `payload`"));
    assert!(fault(Row { key: Some("k".into()), ..row.clone() }, payload.clone()).ends_with("wrong `key`"));
    assert!(fault(Row { rev: -1, ..row.clone() }, payload.clone()).ends_with("wrong `rev`"));
    assert!(fault(Row { created_at: -1, ..row.clone() }, payload.clone()).ends_with("wrong `created_at`"));
    assert!(fault(Row { head: b"{}".into(), ..row.clone() }, payload.clone()).ends_with("unreadable `head`"));
    assert!(fault(Row { body: Some(b"\0[".into()), ..row.clone() }, payload.clone()).ends_with("unreadable `body`"));
    let head = String::from_utf8(row.head.clone()).expect("it is JSON");
    let newer = Row { head: head.replace(r#""v":1"#, r#""v":2"#).into(), ..row.clone() };
    assert!(fault(newer, payload.clone()).ends_with("has version 2, and 1 is the newest that is known"));
    let split = Row {
        head: head.replace(r#""payload":true"#, r#""payload":true,"arguments":3"#).replace("open", "completed").into(),
        ..row.clone()
    };
    assert!(fault(split, payload.clone()).ends_with("wrong `arguments`"));
    let span = Row { head: head.replace("[60,0]", "[18446744073709551615,4000000000]").into(), ..row };
    assert!(fault(span, payload).ends_with("wrong `grace`"));
}

/// The form of a row: rows of version 1 are read for ever.
#[test]
fn a_row_of_version_1() {
    let (row, payload) = written(&task(), &Seal::default());
    let head = r#"{"v":1,"updated":5,"ttl":[3600,0],"grace":[60,0],"poll":[1,0],"state":"open","declared":0,"rerun":2,"attempt":0,"payload":true}"#;
    assert_eq!(str::from_utf8(&row.head), Ok(head));
    assert_eq!(row.body.as_deref(), Some(&b"\0{\"message\":\"going\"}"[..]));
    assert_eq!(payload.as_deref(), Some(&b"\0{}"[..]));
}
