//! The names in a folder of a bucket or repository.

use object_store::path::Path;

use crate::{Entry, Error, Location, error, hub, location::LocationKind, runtime::wait, store};

/// Returns the files and folders in a folder, sorted by name, and the location under which they are read: that of a repository
/// names its commit.
///
/// # Errors
/// [unsupported](Error::is_unsupported) for a web server; [io](Error::is_io) if the requests fail.
///
/// ```
/// use tilewright_remote::{Location, list};
/// let page = Location::parse("https://example.com/folder").unwrap();
/// assert!(list(&page).unwrap_err().to_string().contains("cannot be listed"));
/// ```
pub fn list(location: &Location) -> Result<(Location, Vec<Entry>), Error> {
    let (at, mut entries) = match &location.0 {
        LocationKind::Hub(repo) => wait(hub::list(location, repo))??,
        LocationKind::Store(..) => (location.clone(), stored(location)?),
        LocationKind::Web(_) => {
            let said = "folders of web servers cannot be listed; name a file";
            return Err(error::unsupported(location, said));
        }
    };
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok((at, entries))
}

/// Returns whether a location is a folder with something in it. A web server has none.
///
/// # Errors
/// [io](Error::is_io) if the requests fail.
///
/// ```
/// use tilewright_remote::{Location, is_folder};
/// assert!(!is_folder(&Location::parse("https://example.com/folder").unwrap()).unwrap());
/// assert!(is_folder(&Location::parse("hf://owner/name").unwrap()).unwrap());
/// ```
pub fn is_folder(location: &Location) -> Result<bool, Error> {
    match &location.0 {
        LocationKind::Web(_) => Ok(false),
        _ if location.is_root() => Ok(true),
        _ => list(location).map(|(_, entries)| !entries.is_empty()),
    }
}

fn stored(location: &Location) -> Result<Vec<Entry>, Error> {
    let Some((store, path)) = store::of(location)? else { return Ok(Vec::new()) };
    let prefix = Some(&path).filter(|path| !path.as_ref().is_empty());
    let listed = wait(store.objects.list_with_delimiter(prefix))?;
    let listed = listed.map_err(|cause| error::failed(location, "list", error::said(&cause)))?;
    let name = |path: &Path| path.filename().unwrap_or_default().to_owned();
    let files = listed.objects.iter().map(|object| Entry {
        name: name(&object.location),
        len: object.size,
        is_folder: false,
    });
    let folders = listed.common_prefixes.iter();
    let folders = folders.map(|path| Entry { name: name(path), len: 0, is_folder: true });
    Ok(files.chain(folders).filter(|entry| !entry.name.is_empty()).collect())
}
