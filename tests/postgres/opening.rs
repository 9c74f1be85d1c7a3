//! Opening a store: tables, their versions, rights, TLS.

use std::{error::Error, sync::Arc};

use mcp_tasks::store::{
    AdminStore, TaskStore,
    admin::Filter,
    postgres::{OpenError, PostgresConfig, PostgresStore},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::support::{LEASE, Schema, commit, completed, create};

/// Nodes that start together on an empty database: one makes the tables, and all work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_together_make_the_tables_once() {
    let Some(schema) = Schema::new() else { return };
    let starts: Vec<_> = (0..4).map(|_| tokio::spawn(PostgresStore::connect(schema.config()))).collect();
    for start in starts {
        create(&start.await.expect("no panic").expect("it opens")).await;
    }
}

/// What a newer version has made is not touched; what there is not is not made where that is not wanted.
#[tokio::test]
async fn tables_of_another_version_are_refused() {
    let Some(schema) = Schema::new() else { return };
    let without = PostgresStore::connect(schema.config().migrate(false)).await;
    assert!(matches!(without, Err(OpenError::Older { found: 0, .. })), "{without:?}");
    drop(schema.store().await);
    schema.run("UPDATE {schema}.version SET version = 9999").await;
    for migrate in [true, false] {
        let newer = PostgresStore::connect(schema.config().migrate(migrate)).await;
        assert!(matches!(newer, Err(OpenError::Newer { found: 9999, .. })), "{newer:?}");
    }
}

/// A step that fails in the middle leaves nothing half made, and the next start begins where the first did.
#[tokio::test]
async fn a_migration_is_done_or_not() {
    let Some(schema) = Schema::new() else { return };
    schema.run("CREATE SCHEMA {schema}; CREATE TABLE {schema}.ledger (mine text)").await;
    assert!(PostgresStore::connect(schema.config()).await.is_err());
    schema.run("DROP TABLE {schema}.ledger").await;
    create(&schema.store().await).await;
}

/// Exactly the rights that the documentation names are enough to serve, and not to make tables.
#[tokio::test]
async fn a_role_with_few_rights_serves() {
    let Some(schema) = Schema::new() else { return };
    drop(schema.store().await);
    let role = format!("mcp_tasks_test_{}", std::process::id());
    schema.run(&format!("CREATE ROLE {role} LOGIN PASSWORD 'weak'; {}", documented_grants(&role))).await;
    let (_, host) = schema.url.split_once('@').expect("a password");
    let url = format!("postgres://{role}:weak@{host}");
    let store = PostgresStore::connect(schema.config_at(&url).migrate(false)).await.expect("it opens");
    everything(&store).await;
    drop(store);
    let elsewhere = PostgresStore::connect(schema.config_at(&url).schema("nobody may make this")).await;
    assert!(matches!(elsewhere, Err(OpenError::NotAllowed { .. })), "{elsewhere:?}");
    schema.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
}

/// The statements in the documentation of `PostgresStore`.
fn documented_grants(role: &str) -> String {
    let source = include_str!("../../src/store/postgres.rs");
    let lines = source.lines().filter_map(|line| line.strip_prefix("/// GRANT "));
    let grants: String = lines.map(|line| format!("GRANT {line} ")).collect();
    assert_eq!(grants.matches("GRANT").count(), 3, "{grants}");
    grants.replace("mcp_tasks.", "{schema}.").replace("SCHEMA mcp_tasks", "SCHEMA {schema}").replace("server", role)
}

/// Every call of a store.
async fn everything(store: &PostgresStore) {
    let task = create(store).await;
    store.get(task.id).await.expect("get");
    store.respond(task.id, &[]).await.expect("respond");
    store.claim(LEASE, &[Arc::clone(&task.target)], 1).await.expect("claim");
    store.renew(LEASE, &[(task.id, task.epoch)]).await.expect("renew");
    store.revs(&[task.id]).await.expect("revs");
    commit(store, &task, completed(&"large".repeat(1000))).await;
    store.request_cancel(task.id).await.expect("request_cancel");
    store.reap(10).await.expect("reap");
    store.stats().await.expect("stats");
    assert_eq!(store.list(&Filter::default(), None, 10).await.expect("list").len(), 1);
    store.abandon(task.id).await.expect("abandon");
    assert_eq!(store.purge(&Filter::default(), 10).await.expect("purge"), 1);
    assert_eq!(store.get(task.id).await.expect("get"), None);
}

/// The whole chain of causes, as a log shows it.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        told = format!("{told}: {cause}");
        next = cause.source();
    }
    told
}

/// A server that has no TLS, as a `sslmode=require` meets it.
async fn without_tls() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("postgres://me:secret@{}/db?sslmode=require", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.read(&mut [0; 8]).await;
            let _ = client.write_all(b"N").await;
        }
    });
    url
}

/// `sslmode=require` never goes on in the clear.
#[tokio::test]
async fn a_server_without_tls_is_refused_where_tls_is_required() {
    let config = PostgresConfig::from_url(&without_tls().await).expect("a URL");
    let error = PostgresStore::connect(config).await.expect_err("no TLS");
    let told = told(&error);
    assert!(told.contains("TLS") || matches!(error, OpenError::NoTls | OpenError::Roots(_)), "{told}");
    assert!(!told.contains("secret"), "{told}");
}

/// With TLS, to a server whose certificate is trusted, and to no other.
#[cfg(feature = "postgres-tls")]
#[tokio::test]
async fn a_certificate_is_checked() {
    let Some(schema) = Schema::new() else { return };
    let Ok(authority) = std::env::var("MCP_TASKS_TEST_POSTGRES_CA") else {
        eprintln!("SKIPPED, for the cluster has no certificate");
        return;
    };
    let pem = std::fs::read(authority).expect("a certificate");
    let config = || {
        let url = format!("{}?sslmode=require&application_name=with-tls", schema.url);
        PostgresConfig::from_url(&url).expect("a URL").schema(&schema.name)
    };
    let store = PostgresStore::connect(config().trust(pem)).await.expect("it is trusted");
    create(&store).await;
    let client = crate::support::client(&schema.url).await;
    let sql = "SELECT bool_and(ssl), count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
        WHERE application_name = 'with-tls'";
    let line = client.query_one(sql, &[]).await.expect("it runs");
    assert!(line.get::<_, bool>(0), "every connection is encrypted");
    assert!(line.get::<_, i64>(1) >= 2, "the pool's and the listener's");
    let stranger = PostgresStore::connect(config()).await;
    assert!(stranger.is_err(), "nobody vouches for it");
}
