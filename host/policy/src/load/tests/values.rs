//! Values of the wrong type, unreadable, or out of bounds.

use super::{assert_fails, assert_report, error, program, rule, top};

#[test]
fn a_number_where_a_table_belongs() {
    assert_fails(&top("limits = 5"), (2, 10), "invalid type: integer `5`, expected a table");
}

#[test]
fn a_list_where_a_table_belongs() {
    assert_report(
        &top(r#"confinement = ["none", "host"]"#),
        r#"error: invalid type: list, expected a table
 --> policy.toml:2:15
  |
2 | confinement = ["none", "host"]
  |               ^^^^^^^^^^^^^^^^"#,
    );
}

#[test]
fn a_table_where_a_list_of_tables_belongs() {
    assert_report(
        &top(r#"[program]
name = "git"
"#),
        r#"error: invalid type: table, expected tables headed `[[program]]` or `[[program.rule]]`
 --> policy.toml:2:1
  |
2 | [program]
  | ^^^^^^^^^"#,
    );
}

#[test]
fn lists_where_tables_belong() {
    assert_fails(&top("program = [[\"git\"]]"), (2, 12), "invalid type: list, expected a table");
}

#[test]
fn a_number_where_a_time_belongs() {
    assert_report(
        &top("limits.wall = 30"),
        r#"error: invalid type: integer `30`, expected a span of time in quotes, such as "30s"
 --> policy.toml:2:15
  |
2 | limits.wall = 30
  |               ^^"#,
    );
}

#[test]
fn a_time_without_a_unit() {
    assert_report(
        &top("limits.wall = \"30\""),
        r#"error: `30` is no span of time above zero; write it as "500ms", "30s", "10m" or "1h 30m"
 --> policy.toml:2:15
  |
2 | limits.wall = "30"
  |               ^^^^"#,
    );
}

#[test]
fn a_time_of_zero() {
    assert_fails(
        &top("limits.wall = \"0s\""),
        (2, 15),
        r#"`0s` is no span of time above zero; write it as "500ms", "30s", "10m" or "1h 30m""#,
    );
}

#[test]
fn a_time_below_zero() {
    assert_fails(
        &top("limits.wall = \"-30s\""),
        (2, 15),
        r#"`-30s` is no span of time above zero; write it as "500ms", "30s", "10m" or "1h 30m""#,
    );
}

#[test]
fn a_time_of_days() {
    assert_fails(
        &top("limits.wall = \"1 day\""),
        (2, 15),
        r#"`1 day` is no span of time above zero; write it as "500ms", "30s", "10m" or "1h 30m""#,
    );
}

#[test]
fn a_time_above_all_ceilings() {
    assert_report(
        &top("limits.wall = \"25h\""),
        r#"error: at most 24h can be given here
 --> policy.toml:2:15
  |
2 | limits.wall = "25h"
  |               ^^^^^"#,
    );
}

#[test]
fn a_component_may_not_run_for_days() {
    assert_fails(&top("component.wall = \"1000h\""), (2, 18), "at most 24h can be given here");
}

#[test]
fn computing_has_a_ceiling() {
    assert_fails(&top("component.compute = \"25h\""), (2, 21), "at most 24h can be given here");
}

#[test]
fn a_size_with_an_unknown_unit() {
    assert_report(
        &top("limits.output = \"1 potato\""),
        r#"error: `1 potato` is no number of bytes above zero; write it as "100KB", "64KiB" or "256MiB"
 --> policy.toml:2:17
  |
2 | limits.output = "1 potato"
  |                 ^^^^^^^^^^"#,
    );
}

#[test]
fn a_size_of_zero() {
    assert_fails(
        &top("limits.output = \"0\""),
        (2, 17),
        r#"`0` is no number of bytes above zero; write it as "100KB", "64KiB" or "256MiB""#,
    );
}

#[test]
fn a_size_below_zero() {
    assert_fails(
        &top("limits.output = \"-1KB\""),
        (2, 17),
        r#"`-1KB` is no number of bytes above zero; write it as "100KB", "64KiB" or "256MiB""#,
    );
}

#[test]
fn a_size_beyond_all_numbers() {
    assert_fails(&top("limits.output = \"99999999999999EiB\""), (2, 17), "1 to 268435456 bytes can be given here");
}

#[test]
fn a_size_above_all_ceilings() {
    assert_fails(&top("limits.output = \"257MiB\""), (2, 17), "1 to 268435456 bytes can be given here");
}

/// Each limit that the kernel enforces, as a key and a value that is fine.
const OF_THE_KERNEL: [(&str, &str); 5] =
    [("cpu", "\"1s\""), ("memory", "\"64MiB\""), ("processes", "8"), ("file-size", "\"1MB\""), ("open-files", "64")];

#[test]
fn limits_of_the_kernel_do_not_hold_at_level_none() {
    assert_report(
        &top("confinement.level = \"none\"\nlimits.memory = \"64MiB\""),
        r#"error: this limit does not hold at confinement level `none`
 --> policy.toml:3:17
  |
3 | limits.memory = "64MiB"
  |                 ^^^^^^^
  |
  = help: leave it out, or write `confinement.level = "limits"` or better"#,
    );
    let message = "this limit does not hold at confinement level `none`";
    for (key, value) in OF_THE_KERNEL {
        let limit = format!("limits.{key} = {value}");
        let column = "limits. = ".len() + key.len() + 1;
        let level = "confinement = { level = \"none\" }";
        assert_fails(&format!("{}\n{level}", top(&limit)), (2, column), message);
        let with_level = |text: String| text.replacen("version = 1", &format!("version = 1\n{level}"), 1);
        assert_fails(&with_level(program(&limit)), (5, column), message);
        assert_fails(&with_level(rule(&limit)), (9, column), message);
    }
}

#[test]
fn limits_of_the_kernel_out_of_bounds() {
    for (limit, column, message) in [
        ("limits.cpu = \"169h\"", 14, "at most 168h can be given here"),
        ("limits.memory = \"1MB\"", 17, "1048576 to 4398046511104 bytes can be given here"),
        ("limits.memory = \"5TiB\"", 17, "1048576 to 4398046511104 bytes can be given here"),
        ("limits.processes = 0", 20, "1 to 1048576 can be given here"),
        ("limits.processes = 1048577", 20, "1 to 1048576 can be given here"),
        ("limits.processes = -1", 20, "invalid value: integer `-1`, expected a whole number"),
        ("limits.file-size = \"2PiB\"", 20, "1 to 1125899906842624 bytes can be given here"),
        ("limits.open-files = 4294967297", 21, "1 to 1048576 can be given here"),
    ] {
        assert_fails(&top(limit), (2, column), message);
    }
}

#[test]
fn limits_of_the_kernel_above_those_of_the_table_above() {
    for (limit, column, message) in [
        ("limits.cpu = \"61s\"", 14, "at most 1m can be given here"),
        ("limits.memory = \"1025MiB\"", 17, "1048576 to 1073741824 bytes can be given here"),
        ("limits.processes = 257", 20, "1 to 256 can be given here"),
        ("limits.file-size = \"1025MiB\"", 20, "1 to 1073741824 bytes can be given here"),
        ("limits.open-files = 1025", 21, "1 to 1024 can be given here"),
    ] {
        for (text, line) in [(program(limit), 4), (rule(limit), 8)] {
            assert_fails(&text, (line, column), message);
            assert!(error(&text).to_string().contains("help: raise the limit of the table above first"), "{text}");
        }
    }
}

#[test]
fn a_components_memory_above_its_ceiling() {
    assert_report(
        &top("component.memory = \"5GiB\""),
        r#"error: 65536 to 4294967296 bytes can be given here
 --> policy.toml:2:20
  |
2 | component.memory = "5GiB"
  |                    ^^^^^^"#,
    );
}

#[test]
fn a_components_memory_below_its_floor() {
    assert_fails(&top("component.memory = \"1KiB\""), (2, 20), "65536 to 4294967296 bytes can be given here");
}

#[test]
fn no_calls_at_all() {
    assert_fails(&top("session.calls = 0"), (2, 17), "1 to 1000000000 can be given here");
}

#[test]
fn calls_below_zero() {
    assert_fails(&top("session.calls = -1"), (2, 17), "invalid value: integer `-1`, expected a whole number");
}

#[test]
fn calls_in_quotes() {
    assert_fails(&top("session.calls = \"1000\""), (2, 17), "invalid type: string \"1000\", expected a whole number");
}

#[test]
fn too_many_commands_at_once() {
    assert_report(
        &top("session.concurrent = 1025"),
        r#"error: 1 to 1024 can be given here
 --> policy.toml:2:22
  |
2 | session.concurrent = 1025
  |                      ^^^^"#,
    );
}

#[test]
fn no_denials_at_all() {
    assert_fails(&top("session.denials = 0"), (2, 19), "1 to 1000000000 can be given here");
}

#[test]
fn too_little_journal() {
    assert_fails(&top("session.journal = \"1KB\""), (2, 19), "1048576 to 1099511627776 bytes can be given here");
}

#[test]
fn an_unknown_level() {
    assert_report(
        &top("confinement.level = \"max\""),
        r#"error: unknown value `max`, expected one of `none`, `limits`, `landlock`, `full`
 --> policy.toml:2:21
  |
2 | confinement.level = "max"
  |                     ^^^^^"#,
    );
}

#[test]
fn a_level_that_is_no_word() {
    assert_fails(&top("confinement.level = true"), (2, 21), "invalid type: boolean `true`, expected a word in quotes");
}

#[test]
fn a_level_as_a_table() {
    assert_fails(&top("confinement.level = { none = {} }"), (2, 21), "invalid type: table, expected a word in quotes");
}

#[test]
fn hosts_are_no_network_yet() {
    assert_report(
        &top("confinement.network = [\"example.org:443\"]"),
        r#"error: invalid type: list, expected a word in quotes
 --> policy.toml:2:23
  |
2 | confinement.network = ["example.org:443"]
  |                       ^^^^^^^^^^^^^^^^^^^"#,
    );
}

#[test]
fn an_unknown_use_of_guest_files() {
    assert_fails(
        &top("workspace.guest-files = \"append\""),
        (2, 25),
        "unknown value `append`, expected one of `none`, `read`, `write`",
    );
}

#[test]
fn a_relative_search_path() {
    assert_report(
        &top(r#"programs.path = ["/usr/bin", "bin"]"#),
        r#"error: programs are looked up in absolute directories only, without `.` and `..`
 --> policy.toml:2:30
  |
2 | programs.path = ["/usr/bin", "bin"]
  |                              ^^^^^
  |
  = help: write it out, such as "/usr/bin""#,
    );
}

#[test]
fn a_search_path_that_climbs() {
    assert_fails(
        &top("programs.path = [\"/usr/../home\"]"),
        (2, 18),
        "programs are looked up in absolute directories only, without `.` and `..`",
    );
}

#[test]
fn an_empty_search_path_entry() {
    assert_fails(
        &top("programs.path = [\"\"]"),
        (2, 18),
        "programs are looked up in absolute directories only, without `.` and `..`",
    );
}

#[test]
fn a_search_path_as_in_a_shell() {
    assert_fails(
        &top("programs.path = \"/usr/bin:/bin\""),
        (2, 17),
        "invalid type: string \"/usr/bin:/bin\", expected a list in `[` and `]`",
    );
}

#[test]
fn nul_in_a_variables_value() {
    assert_report(
        &top(r#"env.set = { A = "a\u0000b" }"#),
        r#"error: the value of a variable can't contain NUL, which no program can receive
 --> policy.toml:2:17
  |
2 | env.set = { A = "a\u0000b" }
  |                 ^^^^^^^^^^
  |
  = help: take it out"#,
    );
}

#[test]
fn an_equals_sign_in_a_variables_name() {
    assert_fails(
        &top(r#"env.set = { "A=B" = "x" }"#),
        (2, 13),
        "the name of an environment variable can't contain `=`",
    );
}

#[test]
fn a_variable_without_a_name() {
    assert_fails(&top("env.pass = [\"\"]"), (2, 13), "the name of an environment variable can't be empty");
}

#[test]
fn nul_in_a_variables_name() {
    assert_fails(&top(r#"env.guest = ["A\u0000"]"#), (2, 14), "the name of an environment variable can't contain NUL");
}

#[test]
fn a_number_as_a_variables_value() {
    assert_fails(&top("env.set = { A = 5 }"), (2, 17), "invalid type: integer `5`, expected a string");
}

#[test]
fn a_variable_that_makes_programs_run_code_is_never_the_guests() {
    assert_report(
        &top(r#"env.guest = ["CI", "LD_PRELOAD"]"#),
        r#"error: guests can never set `LD_PRELOAD`: it can make programs run other code (LD_*)
 --> policy.toml:2:20
  |
2 | env.guest = ["CI", "LD_PRELOAD"]
  |                    ^^^^^^^^^^^^
  |
  = help: set it here, under `env.set`, if every command should have it"#,
    );
}

#[test]
fn not_in_a_program_either() {
    assert_fails(
        &program("env.guest = [\"GIT_SSH_COMMAND\"]"),
        (4, 14),
        "guests can never set `GIT_SSH_COMMAND`: it can make programs run other code (GIT*)",
    );
}
