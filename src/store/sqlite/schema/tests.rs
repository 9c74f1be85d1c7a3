use tempfile::TempDir;

use super::*;

const PATIENCE: Duration = Duration::from_secs(5);

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    (folder, path)
}

fn open(path: &Path) -> Result<Connection, OpenError> {
    make(path)?;
    open_writer(path, PATIENCE, Synchronous::Full).map_err(|fault| fault.at(path))
}

fn number(connection: &Connection, pragma: &str) -> i64 {
    connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).expect("it is a number")
}

/// NEW-01: what is committed is on the disk, and space can be given back.
#[test]
fn a_new_file_is_durable() {
    let (_folder, path) = file();
    let connection = open(&path).expect("it opens");
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("a mode");
    assert_eq!(mode, "wal");
    assert_eq!(number(&connection, "synchronous"), 2);
    assert_eq!(number(&connection, "auto_vacuum"), 2);
    assert_eq!(number(&connection, "user_version"), MIGRATIONS.len() as i64);
    assert_eq!(number(&connection, "application_id"), APPLICATION);
}

/// An older file is brought to the newest version in one step, with what it holds; the second time nothing happens.
#[test]
fn an_older_file_is_upgraded_whole() {
    let (_folder, path) = file();
    drop(open(&path).expect("it opens"));
    let mut connection = connect(&path, PATIENCE).expect("it opens");
    connection.execute("UPDATE total SET held = 7", []).expect("it works");
    let broken = [MIGRATIONS[0], "ALTER TABLE total ADD more INTEGER NOT NULL DEFAULT 1", "no SQL"];
    assert!(migrate(&mut connection, &broken).is_err());
    assert_eq!(number(&connection, "user_version"), 1);
    assert!(connection.prepare("SELECT more FROM total").is_err(), "a half of an upgrade is there");
    for _ in 0..2 {
        migrate(&mut connection, &broken[..2]).expect("it is upgraded");
        let total: (i64, i64) = connection
            .query_row("SELECT held, more FROM total", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("a row");
        assert_eq!(total, (7, 1));
        // As the program of that version would find it.
        assert_eq!(number(&connection, "user_version"), 2);
        connection.pragma_update(None, "user_version", 1).expect("it works");
        connection.execute_batch("ALTER TABLE total DROP more").expect("it works");
    }
}

/// A newer file, and one of something else, are refused and left as they are.
#[test]
fn files_that_are_not_ours_are_left_alone() {
    let (_folder, path) = file();
    drop(open(&path).expect("it opens"));
    let ours = connect(&path, PATIENCE).expect("it opens");
    ours.pragma_update(None, "user_version", 99).expect("it works");
    let newer = open(&path).expect_err("it is newer").to_string();
    assert!(newer.contains("has format 99, and this program knows formats up to 1"), "{newer}");

    let (_folder, path) = file();
    Connection::open(&path).expect("a file").execute_batch("CREATE TABLE theirs (x)").expect("it works");
    assert!(matches!(open(&path), Err(OpenError::Foreign { .. })));
    let theirs = Connection::open(&path).expect("it opens");
    let mode: String = theirs.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("a mode");
    assert_eq!((mode.as_str(), number(&theirs, "application_id")), ("delete", 0));

    let (_folder, path) = file();
    fs::write(&path, "no database at all, but a text that is long enough to be looked at".repeat(20)).expect("a file");
    assert!(matches!(open(&path), Err(OpenError::Foreign { .. })));

    let (folder, _) = file();
    assert!(matches!(open(folder.path()), Err(OpenError::Create { .. })));
}

/// Many processes may open a file for the first time at once.
#[test]
fn a_new_file_is_made_once() {
    let (_folder, path) = file();
    thread::scope(|scope| {
        let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&path).map(drop))).collect();
        for opened in opened {
            opened.join().expect("no panic").expect("it opens");
        }
    });
    let held: i64 =
        open(&path).expect("it opens").query_row("SELECT count(*) FROM total", [], |row| row.get(0)).expect("one");
    assert_eq!(held, 1);
}
