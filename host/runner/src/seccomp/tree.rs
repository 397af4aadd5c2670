//! Filters as programs of the kernel's classic BPF machine: a binary search over the numbers of system calls.
//!
//! The kernel walks a filter for every number when it is installed, to know which are always allowed, so short paths
//! matter there too: a linear list takes twice as long.

use libc::sock_filter;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const SKIP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets into `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// What a filter answers.
pub(super) type Answer = u32;

pub(super) const ALLOW: Answer = libc::SECCOMP_RET_ALLOW;
pub(super) const KILL: Answer = libc::SECCOMP_RET_KILL_PROCESS;

/// Fails the call with this error; 0 = it seems to have worked.
pub(super) const fn error(errno: i32) -> Answer {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

/// How a system call is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leaf {
    Always(Answer),
    /// By the lower half of an argument: the answer for these values, and for others.
    Among {
        argument: u32,
        values: Vec<u32>,
        then: Answer,
        otherwise: Answer,
    },
    /// By bits of the lower half of an argument: the answer if any of them is set, and if none is.
    Bits {
        argument: u32,
        bits: u32,
        then: Answer,
        otherwise: Answer,
    },
    /// By all of an argument: the answer for this value, and for others.
    Whole {
        argument: u32,
        value: u64,
        then: Answer,
        otherwise: Answer,
    },
}

/// Makes a program for one architecture: `leaves` says from which number on which leaf holds, in ascending order from 0.
pub(super) fn program(audit_architecture: u32, leaves: &[(u32, Leaf)]) -> Vec<sock_filter> {
    let mut program = vec![
        statement(LOAD, ARCHITECTURE),
        jump(EQUAL, audit_architecture, 1, 0),
        // Another architecture's numbers mean other calls.
        statement(RETURN, KILL),
        statement(LOAD, NUMBER),
    ];
    program.extend(search(leaves));
    program
}

fn search(leaves: &[(u32, Leaf)]) -> Vec<sock_filter> {
    let (lower, upper) = leaves.split_at(leaves.len() / 2);
    let Some((first, _)) = upper.first().filter(|_| !lower.is_empty()) else {
        return leaves.first().map(|(_, leaf)| instructions(leaf)).unwrap_or_default();
    };
    let (lower, upper) = (search(lower), search(upper));
    let mut all = match u8::try_from(lower.len()) {
        Ok(over) => vec![jump(AT_LEAST, *first, over, 0)],
        // A conditional jump reaches 255 instructions far.
        Err(_) => vec![jump(AT_LEAST, *first, 0, 1), statement(SKIP, lower.len() as u32)],
    };
    all.extend(lower);
    all.extend(upper);
    all
}

/// Loads the lower half of an argument: both architectures are little-endian.
fn load(argument: u32) -> sock_filter {
    statement(LOAD, ARGUMENTS + 8 * argument)
}

fn instructions(leaf: &Leaf) -> Vec<sock_filter> {
    let (mut all, then, otherwise) = match leaf {
        Leaf::Always(answer) => return vec![statement(RETURN, *answer)],
        Leaf::Among { argument, values, then, otherwise } => {
            let mut all = vec![load(*argument)];
            for (place, value) in values.iter().enumerate() {
                // Over the other values and the answer for none of them.
                all.push(jump(EQUAL, *value, (values.len() - place) as u8, 0));
            }
            (all, then, otherwise)
        }
        Leaf::Bits { argument, bits, then, otherwise } => {
            (vec![load(*argument), jump(ANY_BIT, *bits, 1, 0)], then, otherwise)
        }
        Leaf::Whole { argument, value, then, otherwise } => {
            let upper = statement(LOAD, ARGUMENTS + 8 * argument + 4);
            let all = vec![
                load(*argument),
                jump(EQUAL, *value as u32, 0, 2),
                upper,
                jump(EQUAL, (*value >> 32) as u32, 1, 0),
            ];
            (all, then, otherwise)
        }
    };
    all.extend([statement(RETURN, *otherwise), statement(RETURN, *then)]);
    all
}

const fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// What a program answers to a call, by the rules of the kernel's machine, and in how many steps: for tests.
#[cfg(test)]
pub(super) fn run(program: &[sock_filter], audit_architecture: u32, number: u32, arguments: [u64; 6]) -> (Answer, u32) {
    let mut at = 0;
    let mut loaded = 0_u32;
    let mut steps = 0;
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        steps += 1;
        let then = |holds: bool| usize::from(if holds { jt } else { jf });
        match code {
            LOAD => {
                loaded = match k {
                    NUMBER => number,
                    ARCHITECTURE => audit_architecture,
                    _ => {
                        let argument = arguments[((k - ARGUMENTS) / 8) as usize];
                        if (k - ARGUMENTS).is_multiple_of(8) { argument as u32 } else { (argument >> 32) as u32 }
                    }
                };
            }
            RETURN => return (k, steps),
            EQUAL => at += then(loaded == k),
            AT_LEAST => at += then(loaded >= k),
            ANY_BIT => at += then(loaded & k != 0),
            SKIP => at += k as usize,
            _ => panic!("no such instruction"),
        }
    }
}
