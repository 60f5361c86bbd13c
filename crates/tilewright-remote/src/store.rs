//! Clients of object stores, one for each bucket: their settings come from the environment.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    process,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt, TryStreamExt};
use object_store::{
    BackoffConfig, GetOptions, GetRange, ObjectStore, RetryConfig, aws::AmazonS3Builder,
    azure::MicrosoftAzureBuilder, gcp::GoogleCloudStorageBuilder, multipart::MultipartStore,
    path::Path,
};
use url::Url;

use crate::{
    Error, Location,
    client::{Connector, OutsideRange},
    error,
    location::{LocationKind, Scheme, is_loopback},
    patience::{LONGEST, patience},
    settings::{variable, variables},
    web::{self, Answer, Fault, Range},
};

/// A client of a bucket: its objects, and the parts of its uploads.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) parts: Arc<dyn MultipartStore>,
}

impl Store {
    fn of(client: impl ObjectStore + MultipartStore) -> Store {
        let client = Arc::new(client);
        Store { objects: client.clone(), parts: client }
    }
}

/// Clients by scheme, bucket and settings.
type Stores = HashMap<(Scheme, String, u64), Store>;

/// The clients of this process.
static STORES: Mutex<Option<Stores>> = Mutex::new(None);

/// The variables that name another endpoint of a store; one on this machine needs no encryption.
const ENDPOINTS: [&str; 5] = [
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "GOOGLE_BASE_URL",
    "AZURE_STORAGE_ENDPOINT",
];

/// The longest time of one request, with its body.
const REQUEST: &str = "120 seconds";

/// Returns the client of a location and the object's name in it; `None` for a location that is not in an object store.
pub(crate) fn of(location: &Location) -> Result<Option<(Store, Path)>, Error> {
    let LocationKind::Store(scheme, bucket, key) = &location.0 else { return Ok(None) };
    let path = Path::parse(key).map_err(|cause| error::failed(location, "name it", cause))?;
    let known = (*scheme, bucket.clone(), settings());
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = stores.get_or_insert_default();
    if let Some(store) = stores.get(&known) {
        return Ok(Some((store.clone(), path)));
    }
    web::provide();
    let store = built(*scheme, bucket)
        .map_err(|cause| error::failed(location, "use its store", error::said(&cause)))?;
    stores.insert(known, store.clone());
    Ok(Some((store, path)))
}

/// Returns a number that changes with the settings of clients.
fn settings() -> u64 {
    let mut hasher = DefaultHasher::new();
    for beginning in ["AWS_", "GOOGLE_", "AZURE_"] {
        variables(beginning).hash(&mut hasher);
    }
    patience().hash(&mut hasher);
    // A forked process does not inherit the threads of connections.
    process::id().hash(&mut hasher);
    hasher.finish()
}

/// Gives a builder the settings whose names it knows, with `set`.
fn given<B>(builder: B, beginning: &str, set: impl Fn(B, &str, String) -> B) -> B {
    // Variables replace these.
    let timeout = (format!("{beginning}timeout"), REQUEST.to_owned());
    let local = is_local(beginning).then(|| (format!("{beginning}allow_http"), "true".to_owned()));
    let own = variables(&beginning.to_uppercase()).into_iter();
    let own = own.map(|(name, value)| (name.to_lowercase(), value));
    let all = [timeout].into_iter().chain(local).chain(own);
    all.fold(builder, |builder, (name, value)| set(builder, &name, value))
}

fn built(scheme: Scheme, bucket: &str) -> object_store::Result<Store> {
    Ok(match scheme {
        Scheme::S3 => {
            let set = |builder: AmazonS3Builder, name: &str, value| match name.parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            };
            let builder = AmazonS3Builder::new().with_http_connector(Connector);
            let builder = given(builder, "aws_", set).with_retry(retries());
            let builder = match variable("AWS_ENDPOINT_URL_S3") {
                Some(endpoint) => builder.with_endpoint(endpoint),
                None => builder,
            };
            Store::of(builder.with_bucket_name(bucket).build()?)
        }
        Scheme::Gs => {
            let set = |builder: GoogleCloudStorageBuilder, name: &str, value| match name.parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            };
            let builder = given(
                GoogleCloudStorageBuilder::new().with_http_connector(Connector),
                "google_",
                set,
            );
            // The name that the service's own tools use.
            let builder = match variable("GOOGLE_APPLICATION_CREDENTIALS") {
                Some(path) => builder.with_application_credentials(path),
                None => builder,
            };
            Store::of(builder.with_bucket_name(bucket).with_retry(retries()).build()?)
        }
        Scheme::Az => {
            let set = |builder: MicrosoftAzureBuilder, name: &str, value| match name.parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            };
            let builder =
                given(MicrosoftAzureBuilder::new().with_http_connector(Connector), "azure_", set);
            Store::of(builder.with_container_name(bucket).with_retry(retries()).build()?)
        }
    })
}

/// Returns whether a variable with this beginning names an endpoint on this machine.
fn is_local(beginning: &str) -> bool {
    let own = ENDPOINTS.iter().filter(|name| name.to_lowercase().starts_with(beginning));
    let endpoints = own.filter_map(|name| variable(name));
    endpoints.filter_map(|text| Url::parse(&text).ok()).any(|url| is_loopback(&url))
}

fn retries() -> RetryConfig {
    let patience = patience();
    let backoff = BackoffConfig { init_backoff: patience.first, max_backoff: LONGEST, base: 2. };
    RetryConfig { backoff, max_retries: patience.retries, retry_timeout: patience.total }
}

/// Requests a range of an object in a store.
pub(crate) async fn get(
    (store, path): (&Store, &Path),
    range: &Range,
    tag: Option<&str>,
) -> Result<Answer, Fault> {
    let options = GetOptions {
        range: Some(GetRange::Bounded(range.clone())),
        if_match: tag.map(str::to_owned),
        ..GetOptions::default()
    };
    let got = store.objects.get_opts(path, options).await.map_err(fault)?;
    let meta = got.meta.clone();
    let lasting = meta.e_tag.is_some();
    let body = got.into_stream().map_err(move |cause| match fault(cause) {
        // Without a tag, the client does not repeat a request whose body broke off.
        Fault::Final(said) if !lasting => Fault::Passing(said, None),
        fault => fault,
    });
    Ok(Answer { len: meta.size, tag: meta.e_tag, body: body.boxed() })
}

/// Returns the length of an object and its tag.
pub(crate) async fn head((store, path): (&Store, &Path)) -> Result<(u64, Option<String>), Fault> {
    let options = GetOptions { head: true, ..GetOptions::default() };
    let meta = store.objects.get_opts(path, options).await.map_err(fault)?.meta;
    Ok((meta.size, meta.e_tag))
}

/// Returns the fault of a request, which the client has repeated as often as allowed.
pub(crate) fn fault(cause: object_store::Error) -> Fault {
    let said = error::said(&cause);
    if error::cause::<OutsideRange>(&cause).is_some() {
        return Fault::Outside;
    }
    match cause {
        object_store::Error::NotFound { .. } => Fault::Missing,
        object_store::Error::Precondition { .. } => Fault::Changed("it has another tag".into()),
        object_store::Error::PermissionDenied { .. }
        | object_store::Error::Unauthenticated { .. } => {
            Fault::Final(format!("the store refuses the credentials: {said}"))
        }
        _ => Fault::Final(said),
    }
}
