use crate::{Facts, Identity, Policy, ProgramFact, Request};

const POLICY: &str = r#"
version = 1
[[program]]
name = "git"
[[program.rule]]
id = "log"
decision = "allow"
why = "w"
subcommand = "log"
flags = { "-n, --max-count" = { value = "int" }, "-p, --patch" = {} }
positionals = { type = "git-revision" }
after-double-dash = { positionals = { type = "path-read" } }
[[program.rule]]
id = "show"
decision = "ask"
why = "w"
leading-arguments = ["show"]
[[program.rule]]
id = "no-push"
decision = "deny"
why = "w"
subcommand = "push"
flags = { "-f" = {} }
"#;

fn parsed(arguments: &[&str]) -> String {
    let policy = Policy::parse("policy.toml", POLICY).unwrap();
    let facts = Facts::new(ProgramFact::Found(Identity::new("/usr/bin/git", 1, 2)));
    let request = Request::new("git").args(arguments.iter().copied());
    serde_json::to_string(&policy.parsed(&request.validate().unwrap(), &facts)).unwrap()
}

#[test]
fn every_part_is_told() {
    assert_eq!(
        parsed(&["log", "-pn5", "--patch", "main"]),
        r#"{"rule":"log","parts":[{"argument":0,"text":"log","role":"subcommand"},{"argument":1,"text":"p","role":"flag","name":"-p"},{"argument":1,"text":"n","role":"flag","name":"-n"},{"argument":1,"text":"5","role":"value","of":"-n","type":"int"}],"stopped":{"argument":2,"wanted":"`-p` once at most"}}"#
    );
    assert_eq!(
        parsed(&["log", "--max-count", "5", "main", "--", "-x"]),
        r#"{"rule":"log","parts":[{"argument":0,"text":"log","role":"subcommand"},{"argument":1,"text":"--max-count","role":"flag","name":"-n"},{"argument":2,"text":"5","role":"value","of":"-n","type":"int"},{"argument":3,"text":"main","role":"positional","number":0,"type":"git-revision"},{"argument":4,"text":"--","role":"end-of-options"},{"argument":5,"text":"-x","role":"positional","number":0,"type":"path-read"}]}"#
    );
}

#[test]
fn rules_that_ask_or_deny_show_their_reading_too() {
    assert_eq!(
        parsed(&["show", "x"]),
        r#"{"rule":"show","parts":[{"argument":0,"text":"show","role":"listed"},{"argument":1,"text":"x","role":"unjudged"}]}"#
    );
    assert_eq!(
        parsed(&["push", "-xf"]),
        r#"{"rule":"no-push","parts":[{"argument":0,"text":"push","role":"unjudged"},{"argument":1,"text":"-xf","role":"listed"}]}"#
    );
}

#[test]
fn where_no_rule_fits_the_nearest_shows_where_it_stopped() {
    assert_eq!(
        parsed(&["log", "--output=x"]),
        r#"{"rule":"log","parts":[{"argument":0,"text":"log","role":"subcommand"}],"stopped":{"argument":1,"wanted":"one of `-n` or `-p`, or a git revision"}}"#
    );
    assert_eq!(parsed(&[]), r#"{"rule":"log","parts":[],"stopped":{"wanted":"`log`"}}"#);
}
