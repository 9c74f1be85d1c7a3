//! TLS to the database, as the URL asks for it.

use tokio_postgres::{NoTls, config::SslMode};

use super::{config::PostgresConfig, open::OpenError};

/// How connections are made.
#[derive(Clone)]
pub(super) enum Tls {
    /// In the clear.
    No(NoTls),
    /// With TLS, where URL and server want it.
    #[cfg(feature = "postgres-tls")]
    Rustls(tokio_postgres_rustls::MakeRustlsConnect),
}

impl Tls {
    /// What the configuration asks for.
    pub fn of(config: &PostgresConfig) -> Result<Self, OpenError> {
        match config.database.get_ssl_mode() {
            SslMode::Disable => Ok(Self::No(NoTls)),
            mode => Self::wanted(config, mode),
        }
    }

    #[cfg(not(feature = "postgres-tls"))]
    fn wanted(_: &PostgresConfig, mode: SslMode) -> Result<Self, OpenError> {
        if mode == SslMode::Prefer { Ok(Self::No(NoTls)) } else { Err(OpenError::NoTls) }
    }

    #[cfg(feature = "postgres-tls")]
    fn wanted(config: &PostgresConfig, mode: SslMode) -> Result<Self, OpenError> {
        let roots = match &config.roots {
            Some(pem) => certified::trusted(pem),
            None => certified::native(),
        };
        match roots {
            Ok(roots) => Ok(Self::Rustls(certified::connector(roots)?)),
            // Nothing to check a certificate with, and none was asked for.
            Err(_) if mode == SslMode::Prefer && config.roots.is_none() => Ok(Self::No(NoTls)),
            Err(error) => Err(error),
        }
    }
}

#[cfg(feature = "postgres-tls")]
mod certified {
    use std::sync::Arc;

    use rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject},
    };
    use tokio_postgres_rustls::MakeRustlsConnect;

    use crate::store::postgres::open::OpenError;

    /// The certificates in a PEM text.
    pub fn trusted(pem: &[u8]) -> Result<RootCertStore, OpenError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| OpenError::Roots(format!("{error:?}").into()))?;
            roots.add(certificate).map_err(|error| OpenError::Roots(error.into()))?;
        }
        some(roots, "no certificate in the PEM text")
    }

    /// The certificates that the operating system trusts.
    pub fn native() -> Result<RootCertStore, OpenError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        some(roots, "the operating system has no root certificates")
    }

    fn some(roots: RootCertStore, without: &str) -> Result<RootCertStore, OpenError> {
        if roots.is_empty() { Err(OpenError::Roots(without.into())) } else { Ok(roots) }
    }

    pub fn connector(roots: RootCertStore) -> Result<MakeRustlsConnect, OpenError> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| OpenError::Roots(error.into()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }
}
