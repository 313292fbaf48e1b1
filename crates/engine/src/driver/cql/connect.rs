//! A session with the cluster: contact points, credentials, TLS, connections, and who coordinates.

use super::options;
use super::patience::{PROBE_AFTER, PROBE_LIMIT};
use super::plan::CqlPlan;
use super::wire::establish::Access;
use crate::driver::OpenError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, MetadataError,
    NewSessionError,
};
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::FallthroughRetryPolicy;
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long the nodes may take to agree about the schema.
pub(super) const SCHEMA_TIMEOUT: Duration = Duration::from_secs(30);

/// Connect; one contact point that answers is enough.
pub(super) async fn session(
    options: &CqlPlan,
    keyspace: &str,
    access: &Access,
) -> Result<Session, OpenError> {
    if options.connections == 0 {
        return Err(OpenError::Option(
            "driver.connections: at least one to each node is needed".into(),
        ));
    }
    let mut builder = SessionBuilder::new()
        .known_nodes(options::contact_points(options)?)
        .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
        .keepalive_interval(PROBE_AFTER)
        .keepalive_timeout(PROBE_LIMIT)
        .schema_agreement_timeout(SCHEMA_TIMEOUT)
        .keyspaces_to_fetch([keyspace])
        .fetch_full_schema_metadata(false)
        .default_execution_profile_handle(profile(options).into_handle())
        .tls_context(access.tls.clone());
    if let Some((user, password)) = access.credentials.clone() {
        builder = builder.user(user, password);
    }
    let session = builder.build().await.map_err(|error| refused(&error))?;
    check_datacenter(&session, options)?;
    Ok(session)
}

/// What the crate itself asks (schema, facts) is tried once, at any node that may coordinate.
fn profile(options: &CqlPlan) -> ExecutionProfile {
    let builder = DefaultPolicy::builder().token_aware(false);
    let policy = match &options.local_datacenter {
        Some(name) => builder.prefer_datacenter(name.clone()),
        None => builder.prefer_no_datacenter(),
    };
    ExecutionProfile::builder()
        .load_balancing_policy(policy.permit_dc_failover(false).build())
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .speculative_execution_policy(None)
        .request_timeout(None)
        .build()
}

/// With a datacenter of another name no node may coordinate: say so before the first operation does.
fn check_datacenter(session: &Session, options: &CqlPlan) -> Result<(), OpenError> {
    let Some(wanted) = &options.local_datacenter else {
        return Ok(());
    };
    let state = session.get_cluster_state();
    let known: BTreeSet<_> = state
        .get_nodes_info()
        .iter()
        .filter_map(|node| node.datacenter.as_deref())
        .collect();
    if known.contains(wanted.as_str()) {
        return Ok(());
    }
    Err(OpenError::Option(format!(
        "driver.local_datacenter: no node is in {wanted:?}; the cluster has {known:?}"
    )))
}

/// User and password, if the plan gives them.
pub(super) fn credentials(options: &CqlPlan) -> Result<Option<(String, String)>, OpenError> {
    match (&options.user, &options.password_file) {
        (None, None) => Ok(None),
        (Some(user), Some(file)) => {
            let text = fs::read_to_string(file)
                .map_err(|error| unreadable("password_file", file, &error))?;
            let password = text.lines().next().unwrap_or_default();
            Ok(Some((user.clone(), password.to_owned())))
        }
        (Some(_), None) => Err(OpenError::Option(
            "driver.user: a password_file is needed too".into(),
        )),
        (None, Some(_)) => Err(OpenError::Option(
            "driver.password_file: a user is needed too".into(),
        )),
    }
}

/// TLS, if the plan asks for it.
pub(super) fn tls(options: &CqlPlan) -> Result<Option<Arc<ClientConfig>>, OpenError> {
    let Some(ca) = &options.tls_ca else {
        if options.tls_cert.is_some() || options.tls_key.is_some() {
            return Err(OpenError::Option(
                "driver.tls_ca: needed where tls_cert or tls_key is given".into(),
            ));
        }
        return Ok(None);
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates("tls_ca", ca)? {
        roots
            .add(certificate)
            .map_err(|error| unreadable("tls_ca", ca, &error))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| OpenError::Option(format!("TLS: {error}")))?
        .with_root_certificates(roots);
    let config = match (&options.tls_cert, &options.tls_key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(cert), Some(key)) => {
            let secret = PrivateKeyDer::from_pem_file(key)
                .map_err(|error| unreadable("tls_key", key, &error))?;
            builder
                .with_client_auth_cert(certificates("tls_cert", cert)?, secret)
                .map_err(|error| unreadable("tls_cert", cert, &error))?
        }
        _ => {
            return Err(OpenError::Option(
                "driver.tls_cert and driver.tls_key: give both or none".into(),
            ));
        }
    };
    Ok(Some(Arc::new(config)))
}

fn certificates(place: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, OpenError> {
    let found: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable(place, file, &error))?;
    if found.is_empty() {
        return Err(unreadable(place, file, &"no certificate in it"));
    }
    Ok(found)
}

fn unreadable(place: &str, file: &Path, error: &dyn std::fmt::Display) -> OpenError {
    OpenError::Option(format!("driver.{place}: {}: {error}", file.display()))
}

/// Wrong credentials are the user's to mend, everything else is the cluster's.
fn refused(error: &NewSessionError) -> OpenError {
    if let NewSessionError::MetadataError(MetadataError::ConnectionPoolError(
        ConnectionPoolError::Broken {
            last_connection_error: ConnectionError::ConnectionSetupRequestError(setup),
        },
    )) = error
    {
        match setup.get_error() {
            ConnectionSetupRequestErrorKind::MissingAuthentication => {
                return OpenError::Option(
                    "driver.user: the server asks for a user and a password".into(),
                );
            }
            ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, message) => {
                return OpenError::Option(format!("driver.user, driver.password_file: {message}"));
            }
            _ => {}
        }
    }
    OpenError::Reach(error.to_string())
}
