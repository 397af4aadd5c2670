use super::*;

fn view(workspace: &Path) -> View {
    let metadata = fs::metadata(workspace).unwrap();
    View {
        workspace: workspace.to_str().unwrap().to_owned(),
        identity: (metadata.dev(), metadata.ino()),
        read: Vec::new(),
        programs: Vec::new(),
        write: vec![".".to_owned()],
        deny: Vec::new(),
        executable: false,
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap();
    (folder, path)
}

/// The attributes that a place is bound with.
fn attributes(view: &View, path: &Path) -> Option<u64> {
    let binds = view.binds().unwrap();
    binds.iter().rev().find(|bind| Path::new(&bind.path) == path).map(|bind| bind.attributes)
}

const INNER: u64 = NO_SETUID | NO_DEVICES | NO_EXEC;

#[test]
fn the_workspace_is_written_as_far_as_the_policy_says() {
    let (_folder, root) = folder();
    fs::create_dir_all(root.join("a/b")).unwrap();
    let whole = view(&root);
    assert_eq!(attributes(&whole, &root), Some(INNER));
    assert_eq!(attributes(&View { executable: true, ..whole.clone() }, &root), Some(NO_SETUID | NO_DEVICES));
    let part = View { write: vec!["a/b".to_owned()], ..whole.clone() };
    assert_eq!(attributes(&part, &root), Some(INNER | READ_ONLY));
    assert_eq!(attributes(&part, &root.join("a/b")), Some(INNER));
    let none = View { write: vec![], ..whole };
    assert_eq!(attributes(&none, &root), Some(INNER | READ_ONLY));
}

#[test]
fn what_lies_above_a_denied_path_is_pinned_as_it_was() {
    let (_folder, root) = folder();
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    let deny = vec!["a/b/c/secret".to_owned()];
    let whole = View { deny: deny.clone(), ..view(&root) };
    for place in ["a", "a/b", "a/b/c"] {
        assert_eq!(attributes(&whole, &root.join(place)), Some(INNER), "{place}");
    }
    let part = View { write: vec!["a/b".to_owned()], deny, ..view(&root) };
    assert_eq!(attributes(&part, &root.join("a")), Some(INNER | READ_ONLY));
    assert_eq!(attributes(&part, &root.join("a/b")), Some(INNER));
    assert_eq!(attributes(&part, &root.join("a/b/c")), Some(INNER));
}

#[test]
fn outer_places_come_before_inner_ones() {
    let (_folder, root) = folder();
    fs::create_dir_all(root.join("a/b")).unwrap();
    let view = View { write: vec!["a/b".to_owned()], deny: vec!["a/x".to_owned()], ..view(&root) };
    let depths: Vec<usize> =
        view.binds().unwrap().iter().map(|bind| Path::new(&bind.path).components().count()).collect();
    assert!(depths.is_sorted(), "{depths:?}");
}

#[test]
fn a_place_to_write_that_is_missing_or_leads_out_is_refused() {
    let (_folder, root) = folder();
    std::os::unix::fs::symlink("/usr", root.join("out")).unwrap();
    let missing = View { write: vec!["none".to_owned()], ..view(&root) };
    assert!(missing.binds().unwrap_err().to_string().starts_with("`none`, which commands may write, can't be used"));
    let out = View { write: vec!["out".to_owned()], ..view(&root) };
    assert!(out.binds().unwrap_err().to_string().contains("leads out of the workspace"));
}

#[test]
fn a_denied_path_behind_a_link_is_refused() {
    let (_folder, root) = folder();
    fs::create_dir(root.join("real")).unwrap();
    std::os::unix::fs::symlink("real", root.join("link")).unwrap();
    let view = View { deny: vec!["link/x".to_owned()], ..view(&root) };
    assert!(view.binds().unwrap_err().to_string().contains("is no directory"));
}

#[test]
fn no_more_places_than_a_plan_can_hold() {
    let (_folder, root) = folder();
    let read = (0..MOST_COPIES).map(|_| "/usr".to_owned()).collect();
    assert!(matches!(View { read, ..view(&root) }.plan(), Err(ViewError::TooMany)));
}
