//! What holds for all lists.

use proptest::prelude::*;

use crate::{Children, Policy, paths};

/// Text like that of the keys: paths, nearly paths, words of the wrong kind.
fn list() -> impl Strategy<Value = String> {
    let path = "(~|/|\\./)?(a|b|\\.|\\.\\.|\\*|\\[|\\]|\\$|é|\u{202e}|\\\\u0000)?(/(a|b|\\.|\\.\\.|)){0,3}";
    prop_oneof![
        8 => prop::collection::vec(path, 0..4).prop_map(|paths| {
            let quoted: Vec<String> = paths.iter().map(|path| format!("\"{path}\"")).collect();
            format!("[{}]", quoted.join(", "))
        }),
        1 => prop::sample::select(&["\"any\"", "\"none\"", "\"\"", "1", "true", "{}", "[1]", "[[]]"][..])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Whatever stands there: a report that points into the file, or lists that are plain and agree with each other.
    #[test]
    fn no_list_panics_and_what_is_accepted_holds(
        lists in prop::collection::vec(prop::option::weighted(0.3, list()), 7),
        level in prop::sample::select(&["full", "landlock", "limits", "none"][..]),
        files in prop::sample::select(&["write", "read"][..]),
        says in any::<bool>(),
    ) {
        let line = |index: usize, key: &str| {
            lists[index].as_ref().map_or_else(String::new, |list| format!("{key} = {list}\n"))
        };
        let text = format!(
            "version = 1\nconfinement.level = \"{level}\"\nworkspace.guest-files = \"{files}\"\n{}{}{}\
             [[program]]\nname = \"git\"\nruns-workspace-code = {says}\n{}{}{}\
             [[program.rule]]\nid = \"r\"\ndecision = \"allow\"\nwhy = \"w\"\n{}",
            line(0, "workspace.deny"),
            line(1, "confinement.read"),
            line(2, "confinement.write"),
            line(3, "children"),
            line(4, "read"),
            line(5, "write"),
            line(6, "write"),
        );
        match Policy::parse("policy.toml", &text) {
            Err(error) => {
                prop_assert!(error.to_string().starts_with("error: "));
                prop_assert!(error.line() > 3, "{}", error);
                let deceives = error.to_string().contains('\u{202e}');
                prop_assert!(!deceives);
            }
            Ok(policy) => {
                let git = policy.programs().next().unwrap();
                let rule = git.rules.iter().next().unwrap();
                let narrowed = git.write().unwrap_or(policy.write());
                let least = rule.write.as_deref().unwrap_or(narrowed);
                for path in policy.read().iter().chain(git.read()) {
                    prop_assert!(path.starts_with('/'));
                }
                for path in [policy.write(), narrowed, least].concat() {
                    prop_assert!(path != "/" && policy.write().iter().any(|outer| paths::is_within(&path, outer)));
                    prop_assert!(!policy.deny().iter().any(|denied| paths::is_within(&path, denied)));
                }
                for path in [policy.deny(), policy.read(), policy.write(), git.read(), narrowed, least].concat() {
                    let parts = path.strip_prefix('/').unwrap_or(&path);
                    let plain = parts.split('/').all(|part| !["", ".", ".."].contains(&part));
                    prop_assert!(plain || path == "/" || path == ".", "{}", path);
                }
                prop_assert!(policy.deny().is_empty() || level == "full");
                prop_assert!(files == "read" || says || *git.children() != Children::Any);
            }
        }
    }
}
