use super::table::{Call, Verdict};
use super::tree::{KILL, run};
use super::*;

const EACCES: Answer = error(libc::EACCES);
const ENOSYS: Answer = error(libc::ENOSYS);
const TOKEN: u64 = 0x0123_4567_89ab_cdef;

fn purposes() -> impl Iterator<Item = Purpose> {
    let executions = [Execution::Once(TOKEN), Execution::Listed, Execution::Any];
    let switches = (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0));
    switches.flat_map(move |(group, confine, network)| {
        executions.map(|execution| Purpose { group, confine, network, execution })
    })
}

/// The same in plain words, call by call: what the search must agree with.
fn oracle(purpose: Purpose, call: Option<&Call>, number: u32, arguments: [u64; 6]) -> Answer {
    let Purpose { group, confine, network, execution } = purpose;
    let low = |argument: usize| arguments[argument] as u32;
    let unless = |fine: bool, otherwise: Answer| if fine { ALLOW } else { otherwise };
    if number >= X32 || confine && number > NEWEST {
        return ENOSYS;
    }
    let Some(call) = call else { return ALLOW };
    match call.name {
        "clone3" => return ENOSYS,
        "clone" => {
            let (parent, namespaces) = (0x8000, 0x0200_0000 | 0x0002_0000 | 0x7c00_0000);
            return unless(low(0) & if confine { parent | namespaces } else { parent } == 0, REFUSED);
        }
        "setsid" => return unless(!group, REFUSED),
        "setpgid" => return unless(!group, error(0)),
        _ if !confine => return ALLOW,
        _ => {}
    }
    match call.verdict {
        Verdict::Refuse => REFUSED,
        Verdict::Absent => ENOSYS,
        Verdict::Socket => unless(low(0) == 1 || network && [2, 10, 16].contains(&low(0)), error(97)),
        Verdict::Ioctl => unless(![0x5412, 0x541c].contains(&low(1)), REFUSED),
        Verdict::Personality => unless([0, 0x40000, u32::MAX].contains(&low(0)), REFUSED),
        Verdict::Memfd => unless(execution == Execution::Any || low(1) & 8 != 0, EACCES),
        Verdict::Execve => unless(!matches!(execution, Execution::Once(_)), EACCES),
        Verdict::Execveat => unless(!matches!(execution, Execution::Once(token) if token != arguments[5]), EACCES),
        Verdict::First => unless(!group || low(0) == 0, REFUSED),
        Verdict::Second => unless(!group || low(1) == 0, REFUSED),
        Verdict::CloneFlags | Verdict::Session | Verdict::Group => panic!("answered above"),
    }
}

#[test]
fn the_search_answers_every_call_as_the_plain_words_do() {
    let small = [0, 1, 2, 8, 10, 16, 17, 40, 0x5412, 0x541c, 0x8000, 0x1000_0000, 0x4_0000, 0xffff_ffff];
    let values = small.into_iter().chain([TOKEN, TOKEN ^ 1, TOKEN ^ 1 << 40]);
    for architecture in [Architecture::X86_64, Architecture::Aarch64] {
        for purpose in purposes() {
            let program = program(purpose, architecture);
            assert!(program.len() < 1000, "{}", program.len());
            for number in (0..600).chain([X32 - 1, X32, X32 + 59, u32::MAX]) {
                let call = CALLS.iter().find(|call| call.number(architecture) == Some(number));
                for value in values.clone() {
                    let arguments = [value; 6];
                    let (answer, steps) = run(&program, architecture.audit(), number, arguments);
                    assert_eq!(answer, oracle(purpose, call, number, arguments), "{number} {value:#x} {purpose:?}");
                    assert!(steps <= 20, "{number}: {steps} steps");
                }
            }
        }
    }
}

#[test]
fn another_architecture_ends_the_process() {
    for purpose in purposes() {
        let program = program(purpose, Architecture::X86_64);
        assert_eq!(run(&program, 0x4000_0003, 1, [0; 6]).0, KILL);
        assert_eq!(run(&program, Architecture::Aarch64.audit(), 1, [0; 6]).0, KILL);
    }
}
