//! Prints `hello`, and then each argument on a line of its own. Imports nothing but WASI.

fn main() {
    println!("hello");
    for argument in std::env::args().skip(1) {
        println!("{argument}");
    }
}
