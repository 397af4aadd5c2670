//! What commands can reach: `workspace.deny`, `confinement.read`, `confinement.write`, and what programs and rules say.

use super::{assert_fails, assert_report, program, rule, top};
use crate::{Children, Confinement, Policy, ProgramEntry};

mod programs;
mod properties;

fn policy(text: &str) -> Policy {
    Policy::parse("policy.toml", text).unwrap()
}

fn git(text: &str) -> ProgramEntry {
    policy(text).programs().next().unwrap().clone()
}

/// Each text stands at this place of a policy, and is refused with the message beside it.
#[track_caller]
fn assert_all_fail(place: (usize, usize), policy: impl Fn(&str) -> String, refused: &[(&str, &str)]) {
    for (text, message) in refused {
        assert_fails(&policy(text), place, message);
    }
}

fn denying(path: &str) -> String {
    top(&format!("workspace.deny = [\"src\", {path}]"))
}

fn reading(path: &str) -> String {
    top(&format!("confinement.read = [\"/opt\", {path}]"))
}

fn writing(path: &str) -> String {
    top(&format!("confinement.write = [\"src\", {path}]"))
}

fn children(item: &str) -> String {
    program(&format!("children = [\"cc\", {item}]"))
}

#[test]
fn the_defaults_give_the_workspace_and_keep_its_hooks() {
    let policy = policy(&rule(""));
    assert!(policy.read().is_empty());
    assert_eq!(policy.write(), Confinement::DEFAULT_WRITE);
    assert_eq!(policy.absolute_writes().count(), 0);
    assert_eq!(policy.deny(), [".git/hooks"]);
    assert!(policy.needs_mounts());
    let git = policy.programs().next().unwrap();
    assert_eq!((git.children(), git.write(), git.runs_workspace_code()), (&Children::None, None, false));
    assert!(git.read().is_empty());
}

#[test]
fn what_is_given_comes_out_in_one_form() {
    let program = program(
        r#"
children = ["sh", "/usr/lib/gcc/", "cc", "/usr/lib/gcc/x"]
read = ["/a/"]
write = ["doc/x/"]
"#,
    );
    let top = r#"
[confinement]
read = ["/usr/share/", "/opt/", "/opt/rust", "/opt"]
write = ["target/", "/var/cache/x/", "doc", "target/debug"]
[workspace]
deny = [".git/hooks/", ".env", ".git"]
"#;
    let policy = policy(&(program + top));
    assert_eq!(policy.read(), ["/opt", "/usr/share"]);
    assert_eq!(policy.write(), ["doc", "target", "/var/cache/x"]);
    assert_eq!(policy.absolute_writes().collect::<Vec<_>>(), ["/var/cache/x"]);
    assert_eq!(policy.deny(), [".env", ".git"]);
    let git = policy.programs().next().unwrap();
    assert_eq!(git.children(), &Children::Listed(["cc", "sh", "/usr/lib/gcc"].map(str::to_owned).to_vec()));
    assert_eq!(git.read(), ["/a"]);
    assert_eq!(git.write().unwrap(), ["doc/x"]);
}

#[test]
fn an_explicit_list_replaces_the_default_and_an_empty_one_switches_it_off() {
    let denying = policy(&top("workspace.deny = [\".env\"]"));
    assert_eq!(denying.deny(), [".env"]);
    let off = policy(&top("workspace.deny = []\nconfinement.write = []"));
    assert!(off.deny().is_empty() && off.write().is_empty() && !off.needs_mounts());
    assert_eq!(git(&program("write = []")).write(), Some(&[][..]));
}

#[test]
fn levels_without_mounts_deny_nothing_unasked() {
    for level in ["none", "limits", "landlock"] {
        let text = top(&format!("confinement.level = \"{level}\"\nworkspace.deny = []"));
        for text in [text.clone(), text.replace("workspace.deny = []", "")] {
            assert!(policy(&text).deny().is_empty(), "{text}");
            assert!(!policy(&text).needs_mounts(), "{text}");
        }
    }
}

#[test]
fn a_level_without_mounts_can_deny_nothing() {
    assert_report(
        &top("confinement.level = \"landlock\"\nworkspace.deny = [\".env\"]"),
        r#"error: confinement level `landlock` can't keep a path from everybody: that takes mounts
 --> policy.toml:3:18
  |
3 | workspace.deny = [".env"]
  |                  ^^^^^^^^
  |
  = help: demand `confinement.level = "full"`, which has them, or write `deny = []`"#,
    );
    for level in ["none", "limits"] {
        let text = top(&format!("confinement.level = \"{level}\"\nworkspace.deny = [\".env\"]"));
        let message = format!("confinement level `{level}` can't keep a path from everybody: that takes mounts");
        assert_fails(&text, (3, 18), &message);
    }
}

#[test]
fn level_none_holds_nothing_of_it() {
    assert_report(
        &top("confinement.level = \"none\"\nconfinement.read = [\"/opt\"]"),
        r#"error: this does not hold at confinement level `none`
 --> policy.toml:3:20
  |
3 | confinement.read = ["/opt"]
  |                    ^^^^^^^^
  |
  = help: leave it out, or write `confinement.level = "landlock"` or better"#,
    );
    let none = |text: String| format!("{text}\n[confinement]\nlevel = \"none\"\n");
    let message = "this does not hold at confinement level `none`";
    assert_fails(&top("confinement.level = \"none\"\nconfinement.write = []"), (3, 21), message);
    assert_fails(&none(program("children = \"any\"")), (4, 12), message);
    assert_fails(&none(program("children = []")), (4, 12), message);
    assert_fails(&none(program("read = [\"/opt\"]")), (4, 8), message);
    assert_fails(&none(program("write = [\"src\"]")), (4, 9), message);
    assert_fails(&none(rule("write = [\"src\"]")), (8, 9), message);
    policy(&none(program("runs-workspace-code = true")));
}

#[test]
fn patterns_are_refused_as_such() {
    assert_report(
        &denying("\"*.pem\""),
        r#"error: `*.pem` is a pattern: paths are taken as they are written
 --> policy.toml:2:26
  |
2 | workspace.deny = ["src", "*.pem"]
  |                          ^^^^^^^
  |
  = help: name each file or directory; this release knows no patterns"#,
    );
    let message = |path: &str| format!("`{path}` is a pattern: paths are taken as they are written");
    for path in ["**/.env", ".env?", "[ab]/c"] {
        assert_fails(&denying(&format!("\"{path}\"")), (2, 26), &message(path));
        assert_fails(&writing(&format!("\"{path}\"")), (2, 29), &message(path));
        assert_fails(&reading(&format!("\"/{path}\"")), (2, 29), &message(&format!("/{path}")));
        assert_fails(&children(&format!("\"/{path}\"")), (4, 19), &message(&format!("/{path}")));
    }
    assert_fails(&children("\"cc-*\""), (4, 19), &message("cc-*"));
    // A bracket that opens no class is a name: `[` is a program.
    assert_eq!(git(&program("children = [\"[\"]")).children(), &Children::Listed(vec!["[".to_owned()]));
}

#[test]
fn what_a_shell_would_expand_is_refused() {
    assert_report(
        &writing("\"~/.cache\""),
        r#"error: `~/.cache` would have to be expanded: paths are taken as they are written
 --> policy.toml:2:29
  |
2 | confinement.write = ["src", "~/.cache"]
  |                             ^^^^^^^^^^
  |
  = help: write the path out"#,
    );
    let message = "`$HOME/x` would have to be expanded: paths are taken as they are written";
    assert_fails(&writing("\"$HOME/x\""), (2, 29), message);
    assert_fails(&children("\"$CC\""), (4, 19), "`$CC` would have to be expanded: paths are taken as they are written");
}

#[test]
fn paths_that_are_not_plain_are_refused_everywhere() {
    let refused = [
        (r#""""#, "a path can't be empty"),
        (r#""a\u0000b""#, "a path can't contain NUL, which no file's name has"),
        (r#""..""#, "`..` has a part that is empty, `.` or `..`"),
        (r#""a/../b""#, "`a/../b` has a part that is empty, `.` or `..`"),
        (r#""./a""#, "`./a` has a part that is empty, `.` or `..`"),
        (r#""a/.""#, "`a/.` has a part that is empty, `.` or `..`"),
        (r#""a//b""#, "`a//b` has a part that is empty, `.` or `..`"),
        (r#""a//""#, "`a//` has a part that is empty, `.` or `..`"),
        (r#""//""#, "`//` has a part that is empty, `.` or `..`"),
        (r#""/a/../b""#, "`/a/../b` has a part that is empty, `.` or `..`"),
        (r#""/..""#, "`/..` has a part that is empty, `.` or `..`"),
    ];
    assert_all_fail((2, 26), denying, &refused);
    assert_all_fail((2, 29), reading, &refused);
    assert_all_fail((2, 29), writing, &refused);
    // What has no slash is a name there.
    assert_all_fail((4, 19), children, &refused[3..]);
    let long = format!("\"{}\"", "a".repeat(Confinement::MAX_PATH_BYTES + 1));
    assert_fails(&writing(&long), (2, 29), "the path has 4096 bytes; a path has at most 4095");
    policy(&writing(&format!("\"{}\"", "a".repeat(Confinement::MAX_PATH_BYTES))));
}

#[test]
fn only_paths_of_the_workspace_can_be_denied_and_not_all_of_it() {
    assert_report(
        &denying("\"/etc/shadow\""),
        r#"error: `/etc/shadow` is absolute; only paths of the workspace can be denied
 --> policy.toml:2:26
  |
2 | workspace.deny = ["src", "/etc/shadow"]
  |                          ^^^^^^^^^^^^^
  |
  = help: write it as it is called from the workspace; what lies outside is out of reach unless `confinement` gives it"#,
    );
    assert_report(
        &denying("\".\""),
        r#"error: denying `.` would leave nothing of the workspace
 --> policy.toml:2:26
  |
2 | workspace.deny = ["src", "."]
  |                          ^^^
  |
  = help: to let commands only read it, write `confinement.write = []`"#,
    );
    assert_fails(&denying("\"./\""), (2, 26), "denying `.` would leave nothing of the workspace");
}

#[test]
fn what_is_read_is_absolute() {
    assert_report(
        &reading("\"src\""),
        r#"error: `src` is relative; `read` takes absolute paths
 --> policy.toml:2:29
  |
2 | confinement.read = ["/opt", "src"]
  |                             ^^^^^
  |
  = help: leave it out if it lies in the workspace, which every command may read"#,
    );
    assert_fails(&reading("\".\""), (2, 29), "`.` is relative; `read` takes absolute paths");
    assert_fails(&program("read = [\"src\"]"), (4, 9), "`src` is relative; `read` takes absolute paths");
    assert_eq!(policy(&reading("\"/\"")).read(), ["/"]);
}

#[test]
fn nobody_may_write_everywhere_or_what_is_denied() {
    assert_report(
        &writing("\"/\""),
        r#"error: commands can't be let write everywhere
 --> policy.toml:2:29
  |
2 | confinement.write = ["src", "/"]
  |                             ^^^
  |
  = help: name the directories that are to be written; the workspace is `.`"#,
    );
    assert_report(
        &writing("\".git/hooks/pre-commit\""),
        r#"error: `.git/hooks/pre-commit` is denied to everybody, by `.git/hooks`
 --> policy.toml:2:29
  |
2 | confinement.write = ["src", ".git/hooks/pre-commit"]
  |                             ^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: take it out here, or out of `workspace.deny`, whose default is `[".git/hooks"]`"#,
    );
    let message = "`.git/hooks` is denied to everybody, by `.git/hooks`";
    assert_fails(&writing("\".git/hooks\""), (2, 29), message);
    assert_fails(&program("write = [\".git/hooks\"]"), (4, 10), message);
    assert_fails(&rule("write = [\".git/hooks/\"]"), (8, 10), message);
    policy(&(writing("\".git/hooks\"") + "\nworkspace.deny = []"));
    policy(&(writing("\".git/hooks\"") + "\nconfinement.level = \"landlock\""));
    // Something denied within what may be written is what denying is for.
    policy(&(writing("\".git\"") + "\nworkspace.deny = [\"src/secret\", \".gitignore\"]"));
}

#[test]
fn programs_and_rules_only_narrow_what_may_be_written() {
    let top = "\n[confinement]\nwrite = [\"src\", \"/var/cache\"]\n";
    assert_report(
        &(program("write = [\"doc\"]") + top),
        r#"error: `doc` does not lie within what the table above lets commands write
 --> policy.toml:4:10
  |
4 | write = ["doc"]
  |          ^^^^^
  |
  = help: give it in `confinement.write` first, or name a path within what is given there"#,
    );
    for wider in [".", "sr", "srcs", "/var", "/var/cached"] {
        let message = format!("`{wider}` does not lie within what the table above lets commands write");
        assert_fails(&(program(&format!("write = [\"{wider}\"]")) + top), (4, 10), &message);
        assert_fails(&(rule(&format!("write = [\"{wider}\"]")) + top), (8, 10), &message);
    }
    let narrow = program("write = [\"src/a\", \"/var/cache\"]") + "write = [\"src/a/b\"]" + top;
    let git = git(&narrow);
    assert_eq!(git.write().unwrap(), ["src/a", "/var/cache"]);
    assert_eq!(git.rules.iter().next().unwrap().write.as_deref().unwrap(), ["src/a/b"]);
    // A rule narrows what its program may write, not what the top gives.
    let message = "`src/b` does not lie within what the table above lets commands write";
    assert_fails(&(program("write = [\"src/a\"]") + "write = [\"src/b\"]" + top), (9, 10), message);
}

#[test]
fn lists_have_an_end() {
    let paths = |count: usize| (0..count).map(|number| format!("\"/p{number}\", ")).collect::<String>();
    let most = Confinement::MAX_PATHS;
    for (key, place) in [("read", (2, 20)), ("write", (2, 21))] {
        let text = |count| top(&format!("confinement.{key} = [{}]", paths(count)));
        policy(&text(most));
        assert_fails(&text(most + 1), place, "at most 256 can be given here");
    }
    let denying = |count| top(&format!("workspace.deny = [{}]", paths(count).replace("\"/", "\"")));
    policy(&denying(most));
    assert_fails(&denying(most + 1), (2, 18), "at most 256 can be given here");
    assert_fails(&program(&format!("children = [{}]", paths(most + 1))), (4, 12), "at most 256 can be given here");
}
