//! Interpreters and their libraries.

use std::fs;

use super::{Tool, alone, bench, run, with};

/// The system's Python, which everybody can read.
fn python(children: &str) -> Tool {
    Tool { name: "python3", keys: format!("file = \"/usr/bin/python3\"\nchildren = {children}") }
}

/// The system's Node.
fn node(children: &str) -> Tool {
    Tool { name: "node", keys: format!("file = \"/usr/bin/node\"\nchildren = {children}") }
}

fn is_there(path: &str) -> bool {
    let there = std::path::Path::new(path).exists();
    if !there {
        crate::support::skip(&format!("{path} is not installed"));
    }
    there
}

#[tokio::test]
async fn python_computes_without_children() {
    if !is_there("/usr/bin/python3") {
        return;
    }
    let Some(bench) = bench(&[python("\"none\"")], |_| ()) else { return };
    for (program, expected) in [
        ("import json; print(json.dumps({'a': [1, None]}))", "{\"a\": [1, null]}\n"),
        ("import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, -2]))", "[1, 2]\n"),
        (
            "import sqlite3\nc = sqlite3.connect('a.db')\nc.execute('create table t(a)')\n\
             c.execute('insert into t values (7)')\nc.commit()\nprint(c.execute('select a from t').fetchall())",
            "[(7,)]\n",
        ),
        (
            "import threading\nt = [threading.Thread(target=print, args=('x',)) for _ in range(3)]\n\
             [a.start() for a in t]; [a.join() for a in t]",
            "x\nx\nx\n",
        ),
        ("import tempfile\nwith tempfile.TemporaryFile() as f: print(f.write(b'abc'))", "3\n"),
        (
            "import ssl, hashlib, zlib, lzma, bz2, ctypes, uuid; print(len(ssl.create_default_context().get_ca_certs()) > 0)",
            "True\n",
        ),
        ("import os, pwd; print(pwd.getpwuid(os.getuid()).pw_uid == os.getuid())", "True\n"),
        ("import asyncio\nasync def f(): await asyncio.sleep(0); return 5\nprint(asyncio.run(f()))", "5\n"),
        ("import socket\na, b = socket.socketpair(); a.send(b'hi'); print(b.recv(9))", "b'hi'\n"),
        ("import os, time; os.environ['TZ'] = 'Europe/Vienna'; time.tzset(); print(time.localtime(0).tm_hour)", "1\n"),
        ("import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.getpreferredencoding())", "UTF-8\n"),
    ] {
        assert_eq!(run(&bench, "python3", &["-c", program]).await, expected, "{program}");
    }
    fs::write(
        bench.workspace().join("test_it.py"),
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n",
    )
    .unwrap();
    run(&bench, "python3", &["-m", "unittest", "-q"]).await;
    run(&bench, "python3", &["-m", "compileall", "-q", "."]).await;
    assert!(bench.workspace().join("__pycache__").is_dir());
}

#[tokio::test]
async fn python_starts_what_is_listed() {
    if !is_there("/usr/bin/python3") {
        return;
    }
    let Some(bench) = bench(&[python("[\"sh\", \"cat\", \"/usr/bin/python3\"]")], |_| ()) else { return };
    for (program, expected) in [
        ("import subprocess as s; print(s.run(['cat'], input=b'in', capture_output=True).stdout)", "b'in'\n"),
        ("import subprocess as s; print(s.check_output('echo $((6 * 7))', shell=True))", "b'42\\n'\n"),
        ("import os; print(os.popen('echo a | cat').read())", "a\n\n"),
        (
            "import multiprocessing as m\nif __name__ == '__main__':\n    m.set_start_method('forkserver')\n    \
             with m.Pool(1) as p: print(p.map(abs, [-3]))",
            "[3]\n",
        ),
        ("import subprocess as s\ntry: s.run(['ls'])\nexcept PermissionError as e: print(e.errno)", "13\n"),
    ] {
        fs::write(bench.workspace().join("program.py"), program).unwrap();
        assert_eq!(run(&bench, "python3", &["program.py"]).await, expected, "{program}");
    }
}

#[tokio::test]
async fn python_makes_a_virtual_environment_that_works() {
    if !is_there("/usr/bin/python3") {
        return;
    }
    // What lies in the environment is executed: links to the interpreter.
    let Some(bench) = bench(&[python("[\"/usr/bin/python3\"]")], |_| ()) else { return };
    run(&bench, "python3", &["-m", "venv", "--without-pip", "own"]).await;
    let program =
        "import subprocess as s; print(s.check_output(['own/bin/python', '-c', 'import sys; print(sys.prefix)']))";
    let printed = run(&bench, "python3", &["-c", program]).await;
    assert!(printed.contains("/own"), "{printed}");
}

#[tokio::test]
async fn node_computes_without_children() {
    if !is_there("/usr/bin/node") {
        return;
    }
    let Some(bench) = bench(&[node("\"none\"")], |_| ()) else { return };
    for (program, expected) in [
        ("require('fs').writeFileSync('a', 'b'); console.log(require('fs').readFileSync('a', 'utf8'))", "b\n"),
        ("console.log(require('crypto').createHash('sha256').update('').digest('hex').slice(0, 8))", "e3b0c442\n"),
        ("require('crypto').generateKeyPairSync('ec', { namedCurve: 'P-256' }); console.log(1)", "1\n"),
        (
            "const { Worker } = require('worker_threads');\
             new Worker('require(\"worker_threads\").parentPort.postMessage(7)', { eval: true }).on('message', console.log)",
            "7\n",
        ),
        ("require('fs').promises.readdir('/usr').then(all => console.log(all.includes('bin')))", "true\n"),
        ("console.log(require('zlib').gunzipSync(require('zlib').gzipSync('z')).toString())", "z\n"),
        ("require('fs').watch('.', () => {}).close(); console.log(2)", "2\n"),
        ("console.log(require('os').cpus().length > 0, require('os').totalmem() > 0)", "true true\n"),
    ] {
        assert_eq!(run(&bench, "node", &["-e", program]).await, expected, "{program}");
    }
}

#[tokio::test]
async fn node_starts_what_is_listed() {
    if !is_there("/usr/bin/node") {
        return;
    }
    let Some(bench) = bench(&[node("[\"sh\", \"cat\", \"/usr/bin/node\"]")], |_| ()) else { return };
    for (program, expected) in [
        ("console.log(require('child_process').execFileSync('cat', { input: 'in' }).toString())", "in\n"),
        ("console.log(require('child_process').execSync('echo $((6 * 7))').toString())", "42\n\n"),
        (
            "const { fork } = require('child_process'); require('fs').writeFileSync('c.js', 'process.send(3)');\
             fork('./c.js').on('message', m => console.log(m))",
            "3\n",
        ),
        ("console.log(require('child_process').spawnSync('ls').error.code)", "EACCES\n"),
    ] {
        assert_eq!(run(&bench, "node", &["-e", program]).await, expected, "{program}");
    }
    fs::write(
        bench.workspace().join("a.test.js"),
        "const test = require('node:test'); test('t', () => require('assert').equal(1, 1));\n",
    )
    .unwrap();
    run(&bench, "node", &["--test", "a.test.js"]).await;
}

#[tokio::test]
async fn perl_uses_its_library() {
    let program =
        "use strict; use File::Temp; use POSIX; use Encode; my $f = File::Temp->new; print {$f} 'a'; print floor(1.5)";
    let Some(alone_bench) = bench(&[alone("perl")], |_| ()) else { return };
    assert_eq!(run(&alone_bench, "perl", &["-e", program]).await, "1");
    let Some(bench) = bench(&[with("perl", "[\"sh\", \"cat\"]")], |_| ()) else { return };
    assert_eq!(run(&bench, "perl", &["-e", "print `echo a | cat`"]).await, "a\n");
}
