use crate::appender::Appender;
use crate::testing::{Faulty, Home, call, decision, end, intent, outcome, refusal, segment_record, start};
use crate::{Durability, JournalError};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

const EIO: i32 = 5;
/// Far more than any flush takes; only a broken one runs into it.
const PATIENCE: Duration = Duration::from_secs(30);

fn open(home: &Home, durability: Durability, failures: &[i32]) -> (Appender<Faulty>, Receiver<()>) {
    let store = Faulty::open(&home.dir);
    store.syncs.lock().unwrap().extend(failures);
    let synced = store.watch();
    (Appender::open(store, home.segment(), segment_record(), durability).unwrap(), synced)
}

#[test]
fn a_session_without_commands_flushes_nothing() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Record, &[]);
    appender.append(&start()).unwrap();
    appender.append(&end()).unwrap();
    drop(appender);
    assert_eq!(synced.recv(), Err(std::sync::mpsc::RecvError));
}

#[test]
fn a_record_is_flushed_in_the_background_without_anybody_waiting() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Interval, &[]);
    let _ = appender.append_intent(&intent(call(1)), *decision().as_bytes()).unwrap();
    synced.recv_timeout(PATIENCE).unwrap();
    // The thread sleeps again, and is woken again.
    appender.append(&outcome(call(1))).unwrap();
    synced.recv_timeout(PATIENCE).unwrap();
    drop(appender);
    assert_eq!(synced.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn many_records_share_a_flush() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Interval, &[]);
    for number in 1..=500 {
        appender.append(&refusal(number)).unwrap();
    }
    drop(appender);
    let flushes = synced.iter().count();
    assert!((1..100).contains(&flushes), "{flushes}");
}

#[test]
fn the_last_flush_comes_when_the_journal_is_dropped() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Interval, &[]);
    appender.append(&refusal(1)).unwrap();
    drop(appender);
    assert_eq!(synced.iter().count(), 1);
}

#[test]
fn intents_and_outcomes_wait_for_the_disk_where_that_is_asked() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Record, &[]);
    appender.append(&start()).unwrap();
    assert_eq!(synced.try_recv(), Err(TryRecvError::Empty));
    let _ = appender.append_intent(&intent(call(1)), *decision().as_bytes()).unwrap();
    assert_eq!(synced.try_recv(), Ok(()));
    appender.append(&outcome(call(1))).unwrap();
    assert_eq!(synced.try_recv(), Ok(()));
    // Nothing is left to flush.
    appender.flush().unwrap();
    drop(appender);
    assert_eq!(synced.iter().count(), 0);
}

#[test]
fn an_explicit_flush_covers_session_records_and_is_free_the_second_time() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Interval, &[]);
    appender.append(&start()).unwrap();
    appender.flush().unwrap();
    appender.flush().unwrap();
    drop(appender);
    assert_eq!(synced.iter().count(), 1);
}

/// Case A15: after a failure the kernel forgets, and the next fsync succeeds although the data may be gone.
#[test]
fn the_first_failed_flush_is_final() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Record, &[EIO]);
    let first = appender.append_intent(&intent(call(1)), *decision().as_bytes());
    assert!(matches!(first, Err(JournalError::Sync { .. })), "{first:?}");
    assert_eq!(synced.try_recv(), Ok(()));
    let before = home.content();
    for result in [appender.append(&refusal(2)).map(|_| ()), appender.append(&end()).map(|_| ()), appender.flush()] {
        let Err(JournalError::Sync { source, .. }) = result else { panic!("{result:?}") };
        assert_eq!(source.raw_os_error(), Some(EIO));
    }
    drop(appender);
    assert_eq!(home.content(), before);
    assert_eq!(synced.iter().count(), 0);
}

#[test]
fn a_failed_background_flush_stops_the_next_append() {
    let home = Home::new();
    let (appender, synced) = open(&home, Durability::Interval, &[EIO]);
    appender.append(&refusal(1)).unwrap();
    synced.recv_timeout(PATIENCE).unwrap();
    // Waits for the thread, which holds the outcome of the flush.
    assert!(matches!(appender.flush(), Err(JournalError::Sync { .. })));
    assert!(matches!(appender.append(&refusal(2)), Err(JournalError::Sync { .. })));
}
