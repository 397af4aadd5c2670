//! What a command can reach: files, children, network.

use super::*;

const REACH: &str = r#"
workspace.deny = [".env", ".git/hooks"]
[confinement]
network = "host"
read = ["/opt/rust", "/srv"]
write = [".", "/var/cache"]

[[program]]
name = "git"
children = ["ssh", "/usr/lib/git-core"]
read = ["/opt", "/home/git"]
rule = [
    { id = "any", decision = "allow", why = "w" },
    { id = "log", decision = "allow", why = "w", leading-arguments = ["log"], write = ["log", "doc", "/var/cache/git"] },
    { id = "doc", decision = "allow", why = "w", leading-arguments = ["log", "doc"], write = ["doc/log", "src"] },
    { id = "src", decision = "allow", why = "w", leading-arguments = ["log", "src"], write = ["src"] },
]

[[program]]
name = "wc"
write = ["count"]
rule = [
    { id = "count", decision = "allow", why = "w" },
    { id = "count-nothing", decision = "allow", why = "w", exact-arguments = ["x"], write = [] },
]
"#;

fn writes(request: &Request) -> Vec<String> {
    allowed(&policy(REACH), request).confinement().write.clone()
}

#[test]
fn a_command_gets_what_the_policy_its_program_and_its_rules_say() {
    let confinement = Confinement {
        network: Network::Host,
        children: Children::Listed(vec!["ssh".to_owned(), "/usr/lib/git-core".to_owned()]),
        read: ["/home/git", "/opt", "/srv"].map(str::to_owned).to_vec(),
        write: [".", "/var/cache"].map(str::to_owned).to_vec(),
        deny: [".env", ".git/hooks"].map(str::to_owned).to_vec(),
    };
    let allowed = allowed(&policy(REACH), &git(["fetch"]).network());
    assert_eq!(allowed.confinement(), &confinement);
    assert_eq!(allowed.network(), Network::Host);
    assert!(allowed.confinement().needs_mounts());
}

#[test]
fn a_program_writes_what_it_says_instead_of_what_everybody_may() {
    assert_eq!(writes(&Request::new("wc")), ["count"]);
    assert!(writes(&Request::new("wc").args(["x"])).is_empty());
}

/// Decision by several rules: what each of them lets the command write, and nothing else.
#[test]
fn of_several_rules_that_allow_only_what_all_let_write_is_written() {
    assert_eq!(writes(&git(["log"])), ["doc", "log", "/var/cache/git"]);
    assert_eq!(writes(&git(["log", "doc"])), ["doc/log"]);
    assert!(writes(&git(["log", "src"])).is_empty());
}

#[test]
fn a_command_that_does_not_ask_for_the_network_is_confined_without_it() {
    assert_eq!(allowed(&policy(REACH), &git(["log"])).confinement().network, Network::None);
}
