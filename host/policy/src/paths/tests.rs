use proptest::prelude::*;

use super::*;

fn list<const N: usize>(paths: [&str; N]) -> Vec<String> {
    paths.map(str::to_owned).to_vec()
}

#[test]
fn a_path_is_within_itself_and_what_lies_above_it() {
    for (path, outer) in
        [("a", "a"), ("a/b", "a"), ("a", "."), (".", "."), ("/a", "/"), ("/", "/"), ("/a/b", "/a"), ("a/b/c", "a/b")]
    {
        assert!(is_within(path, outer), "{path} in {outer}");
    }
    for (path, outer) in [("ab", "a"), ("a", "a/b"), (".", "a"), ("/a", "."), ("a", "/"), ("/", "/a"), ("/ab", "/a")] {
        assert!(!is_within(path, outer), "{path} in {outer}");
    }
}

#[test]
fn a_list_is_reduced_to_what_matters() {
    let paths = list(["src-2", "src/b", "/var", "src", "a", "/usr/lib", "a", "/usr"]);
    assert_eq!(reduced(paths), ["a", "src", "src-2", "/usr", "/var"]);
    assert_eq!(reduced(list(["b", "/x", ".", "-a"])), [".", "/x"]);
    assert_eq!(reduced(list(["/x", "a", "/"])), ["a", "/"]);
}

#[test]
fn two_lists_have_in_common_what_both_give() {
    assert_eq!(common(&list(["."]), &list(["src", "/var/cache"])), ["src"]);
    assert_eq!(common(&list(["src", "doc/a"]), &list(["src/lib", "doc", "test"])), ["doc/a", "src/lib"]);
    assert!(common(&list(["src"]), &list(["doc"])).is_empty());
    assert!(common(&list([]), &list(["."])).is_empty());
}

/// Few parts, so that paths meet.
fn paths() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("(\\.|/|/?(a|ab|a-)(/(a|ab|a-)){0,2})", 0..6)
}

fn covers(paths: &[String], path: &str) -> bool {
    paths.iter().any(|outer| is_within(path, outer))
}

proptest! {
    #[test]
    fn reducing_changes_nothing_that_a_list_covers(list in paths(), probes in paths()) {
        let reduced = reduced(list.clone());
        for probe in list.iter().chain(&probes) {
            prop_assert_eq!(covers(&reduced, probe), covers(&list, probe), "{}", probe);
        }
        for (index, path) in reduced.iter().enumerate() {
            prop_assert!(reduced.iter().enumerate().all(|(other, outer)| other == index || !is_within(path, outer)));
        }
    }

    #[test]
    fn what_is_common_is_covered_by_both_and_nothing_else_is(one in paths(), other in paths(), probes in paths()) {
        let common = common(&one, &other);
        prop_assert_eq!(&common, &super::common(&other, &one));
        for probe in one.iter().chain(&other).chain(&probes) {
            prop_assert_eq!(covers(&common, probe), covers(&one, probe) && covers(&other, probe), "{}", probe);
        }
    }
}
