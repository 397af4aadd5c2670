use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::{Children, KernelLimits, RuleId, Script};

fn allowed() -> Allowed {
    Allowed {
        program: ProgramName::new("git").unwrap(),
        identity: Identity::new("/usr/bin/git", 1, 2),
        arguments: vec!["status".to_owned(), "-s".to_owned()],
        cwd: "sub".to_owned(),
        env: vec![("A".to_owned(), "1".to_owned())],
        merge_stderr: false,
        limits: Limits { wall: Duration::from_secs(30), kernel: Some(KernelLimits::DEFAULT), output_bytes: 1000 },
        confinement: Confinement {
            network: Network::None,
            children: Children::Listed(vec!["sh".to_owned(), "/opt/bin".to_owned()]),
            read: vec!["/opt".to_owned()],
            write: vec![".".to_owned(), "/tmp/cache".to_owned()],
            deny: vec![".git/hooks".to_owned()],
        },
        level: Level::Full,
        rules: vec![RuleId::new("status").unwrap()],
        policy: "00ff".to_owned(),
    }
}

fn script(path: &str, device: u64, inode: u64, argument: Option<&str>) -> Option<Script> {
    let interpreter_argument = argument.map(str::to_owned);
    Some(Script { path: path.to_owned(), device, inode, interpreter_argument })
}

fn kernel(allowed: &mut Allowed) -> &mut KernelLimits {
    allowed.limits.kernel.as_mut().unwrap()
}

/// Each function changes one thing; a new field breaks the destructuring below until it is here too.
const CHANGES: &[fn(&mut Allowed)] = &[
    |allowed| allowed.program = ProgramName::new("gti").unwrap(),
    |allowed| allowed.identity.path.push('2'),
    |allowed| allowed.identity.device += 1,
    |allowed| allowed.identity.inode += 1,
    |allowed| allowed.identity.script = script("/x", 1, 2, None),
    |allowed| allowed.identity.script = script("/y", 1, 2, None),
    |allowed| allowed.identity.script = script("/x", 2, 2, None),
    |allowed| allowed.identity.script = script("/x", 1, 3, None),
    |allowed| allowed.identity.script = script("/x", 1, 2, Some("")),
    |allowed| allowed.identity.script = script("/x", 1, 2, Some("-I")),
    |allowed| allowed.arguments = vec!["status -s".to_owned()],
    |allowed| allowed.arguments = vec!["status".to_owned(), "-s".to_owned(), String::new()],
    |allowed| allowed.arguments = vec!["status\",\"-s".to_owned()],
    |allowed| allowed.arguments.reverse(),
    |allowed| allowed.arguments.clear(),
    |allowed| allowed.cwd.clear(),
    |allowed| allowed.env.clear(),
    |allowed| allowed.env = vec![("A".to_owned(), "2".to_owned())],
    |allowed| allowed.env = vec![("B".to_owned(), "1".to_owned())],
    |allowed| allowed.env.push(("B".to_owned(), String::new())),
    |allowed| allowed.merge_stderr = true,
    |allowed| allowed.limits.wall += Duration::from_nanos(1),
    |allowed| allowed.limits.output_bytes += 1,
    |allowed| allowed.limits.kernel = None,
    |allowed| kernel(allowed).cpu += Duration::from_nanos(1),
    |allowed| kernel(allowed).memory_bytes += 1,
    |allowed| kernel(allowed).processes += 1,
    |allowed| kernel(allowed).file_size_bytes += 1,
    |allowed| kernel(allowed).open_files += 1,
    |allowed| allowed.confinement.network = Network::Host,
    |allowed| allowed.confinement.children = Children::None,
    |allowed| allowed.confinement.children = Children::Any,
    |allowed| allowed.confinement.children = Children::Listed(vec!["any".to_owned()]),
    |allowed| allowed.confinement.children = Children::Listed(vec!["sh".to_owned()]),
    |allowed| allowed.confinement.read.clear(),
    |allowed| allowed.confinement.read.push("/srv".to_owned()),
    |allowed| allowed.confinement.write.clear(),
    |allowed| allowed.confinement.write = vec![".".to_owned()],
    |allowed| allowed.confinement.write = vec!["src".to_owned(), "/tmp/cache".to_owned()],
    |allowed| allowed.confinement.deny.clear(),
    |allowed| allowed.confinement.deny.push(".env".to_owned()),
    |allowed| allowed.level = Level::Landlock,
    |allowed| allowed.rules.push(RuleId::new("other").unwrap()),
    |allowed| allowed.rules = vec![RuleId::new("other").unwrap()],
    |allowed| allowed.policy.push('0'),
];

#[test]
fn the_digest_changes_with_every_field() {
    let Allowed {
        program: _,
        identity: Identity { path: _, device: _, inode: _, script: _ },
        arguments: _,
        cwd: _,
        env: _,
        merge_stderr: _,
        limits: Limits { wall: _, kernel, output_bytes: _ },
        confinement: Confinement { network: _, children: _, read: _, write: _, deny: _ },
        level: _,
        rules: _,
        policy: _,
    } = allowed();
    let KernelLimits { cpu: _, memory_bytes: _, processes: _, file_size_bytes: _, open_files: _ } = kernel.unwrap();
    let mut digests = BTreeSet::from([allowed().digest()]);
    for (index, change) in CHANGES.iter().enumerate() {
        let mut allowed = allowed();
        change(&mut allowed);
        assert!(digests.insert(allowed.digest()), "change {index}");
    }
}

#[test]
fn the_digest_is_the_same_for_equal_values() {
    assert_eq!(allowed().digest(), allowed().clone().digest());
}

/// What is recorded today must be verifiable by later releases.
#[test]
fn the_digest_is_that_of_a_documented_text() {
    let text = r#"portcullis decision 1
{"program":"git","identity":{"path":"/usr/bin/git","device":1,"inode":2},"arguments":["status","-s"],"cwd":"sub","env":[["A","1"]],"merge_stderr":false,"limits":{"wall_ns":30000000000,"cpu_ns":60000000000,"memory_bytes":1073741824,"processes":256,"file_size_bytes":1073741824,"open_files":1024,"output_bytes":1000},"confinement":{"network":"none","children":["sh","/opt/bin"],"read":["/opt"],"write":[".","/tmp/cache"],"deny":[".git/hooks"]},"level":"full","rules":["status"],"policy":"00ff"}"#;
    assert_eq!(allowed().digest(), <[u8; 32]>::from(Sha256::digest(text)));
}

#[test]
fn effects_are_ordered_by_strictness() {
    assert!(Effect::Allow < Effect::Ask && Effect::Ask < Effect::Deny);
}
