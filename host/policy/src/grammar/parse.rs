//! Reading arguments under a grammar.

use super::{Flag, FlagValue, Flags, Grammar, Place, Section, Spelling, Stop, Syntax, Value, Why};

/// What a part of an argument turned out to be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'g> {
    /// A word that the rule lists.
    Listed,
    /// A word of the subcommand.
    Subcommand,
    /// An option.
    Flag(&'g Flag),
    /// The value of an option.
    Value(&'g Flag, &'g Value),
    /// An operand, counted from zero in its section.
    Positional(usize, &'g Value),
    /// The `--` that ends the options.
    EndOfOptions,
    /// What the rule says nothing about.
    Unjudged,
}

/// Told of every part that is understood: the argument's index, the part, what it is.
pub(crate) type Sink<'s, 'g, 'a> = dyn FnMut(usize, &'a str, Piece<'g>) + 's;

impl Grammar {
    /// Reads the arguments; stops at the first that the grammar does not know.
    pub(crate) fn read<'g, 'a>(
        &'g self,
        arguments: &'a [String],
        place: &Place<'_>,
        sink: &mut Sink<'_, 'g, 'a>,
    ) -> Result<(), Stop<'g>> {
        let mut reader = Reader { grammar: self, arguments, place, at: 0 };
        if !self.before.flags.is_empty() {
            let mut seen = Seen::default();
            while let Some(text) = reader.next().filter(|text| reader.is_option(text)) {
                if text == "--" {
                    return Err(reader.stop(Why::Word(self.subcommand.first().map_or("", String::as_str))));
                }
                reader.option(&self.before, &mut seen, sink)?;
            }
            reader.required(&self.before, &seen)?;
        }
        for word in &self.subcommand {
            match reader.next() {
                Some(text) if text == word => sink(reader.at, text, Piece::Subcommand),
                Some(_) | None => return Err(reader.stop(Why::Word(word))),
            }
            reader.at += 1;
        }
        // Where a slot depends on the number of operands, they are counted first.
        let start = reader.at;
        let total = |reader: &mut Reader<'g, 'a, '_>, section: &'g Section, ended| {
            if !section.needs_total() {
                return Ok(usize::MAX);
            }
            let start = reader.at;
            let counted = reader.section(section, Operands::Count, ended, &mut |_, _, _| ());
            reader.at = start;
            counted.map(|(count, _)| count)
        };
        let main_total = total(&mut reader, &self.main, Options::Open)?;
        reader.at = start;
        let (_, ended) = reader.section(&self.main, Operands::Judge(main_total), Options::Open, sink)?;
        if let (true, Some(after)) = (ended, &self.after) {
            // Where nothing that follows is an option, what looks like one is an operand.
            let options = if after.flags.is_empty() { Options::Ended } else { Options::Open };
            let total = total(&mut reader, after, options)?;
            reader.section(after, Operands::Judge(total), options, sink)?;
        }
        Ok(())
    }
}

/// Whether what looks like an option is one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Options {
    Open,
    Ended,
}

#[derive(Clone, Copy)]
enum Operands {
    /// There are so many; `usize::MAX` = it does not matter.
    Judge(usize),
    Count,
}

/// Which options of a section have occurred.
#[derive(Default)]
struct Seen([u64; Flags::MAX / 64]);

impl Seen {
    fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|bits| bits & (1 << (index % 64)) != 0)
    }

    fn add(&mut self, index: usize) {
        if let Some(bits) = self.0.get_mut(index / 64) {
            *bits |= 1 << (index % 64);
        }
    }
}

struct Reader<'g, 'a, 'p> {
    grammar: &'g Grammar,
    arguments: &'a [String],
    place: &'p Place<'p>,
    at: usize,
}

impl<'g, 'a> Reader<'g, 'a, '_> {
    fn next(&self) -> Option<&'a str> {
        self.arguments.get(self.at).map(String::as_str)
    }

    fn stop(&self, why: Why<'g>) -> Stop<'g> {
        Stop { at: self.at, why }
    }

    fn is_option(&self, text: &str) -> bool {
        let dashed = text.len() > 1 && text.starts_with('-');
        dashed && self.grammar.syntax != Syntax::None && !(self.grammar.negative_numbers && is_negative(text))
    }

    /// Reads up to the end, or to a `--` behind which another section begins; says how many operands there were, and
    /// whether that section follows.
    fn section(
        &mut self,
        section: &'g Section,
        operands: Operands,
        mut options: Options,
        sink: &mut Sink<'_, 'g, 'a>,
    ) -> Result<(usize, bool), Stop<'g>> {
        let mut seen = Seen::default();
        let mut count = 0;
        let mut next_section = false;
        while let Some(text) = self.next() {
            if options == Options::Open && self.is_option(text) {
                if text != "--" {
                    self.option(section, &mut seen, sink)?;
                    continue;
                }
                let is_main = std::ptr::eq(section, &raw const self.grammar.main);
                next_section = is_main && self.grammar.after.is_some();
                if self.grammar.syntax == Syntax::LongSingleDash && !next_section {
                    // Most programs with such options do not know it.
                    return Err(self.stop(Why::Flag { section, part: 0..text.len() }));
                }
                sink(self.at, text, Piece::EndOfOptions);
                self.at += 1;
                if next_section {
                    break;
                }
                options = Options::Ended;
                continue;
            }
            if let Operands::Judge(total) = operands {
                let Some(slot) = section.slot(count, total) else {
                    return Err(self.stop(Why::TooMany { section }));
                };
                if !slot.value.fits(text, self.place) {
                    return Err(self.stop(Why::Positional(&slot.value)));
                }
                sink(self.at, text, Piece::Positional(count, &slot.value));
            }
            count += 1;
            self.at += 1;
            if self.grammar.syntax == Syntax::Posix {
                options = Options::Ended;
            }
        }
        if let Operands::Judge(_) = operands {
            self.required(section, &seen)?;
            let least: usize = section.slots.iter().map(|slot| slot.min).sum();
            if count < least
                && let Some(slot) = section.slot(count, least)
            {
                return Err(self.stop(Why::Positional(&slot.value)));
            }
        }
        Ok((count, next_section))
    }

    fn required(&self, section: &'g Section, seen: &Seen) -> Result<(), Stop<'g>> {
        match section.flags.required.iter().find(|group| !group.iter().any(|flag| seen.has(*flag))) {
            Some(group) => Err(self.stop(Why::Required { section, group })),
            None => Ok(()),
        }
    }

    /// One argument that is an option, or several in a cluster, and the value.
    fn option(&mut self, section: &'g Section, seen: &mut Seen, sink: &mut Sink<'_, 'g, 'a>) -> Result<(), Stop<'g>> {
        let Some(text) = self.next() else { return Ok(()) };
        let flags = &section.flags;
        let digits = &text[1..];
        if let Some(index) = flags.index(Flags::NUMBER).filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit())) {
            let flag = self.occurs(flags, index, seen)?;
            sink(self.at, &text[..1], Piece::Flag(flag));
            return self.glued(flag, digits, sink);
        }
        if self.grammar.syntax == Syntax::LongSingleDash || text.starts_with("--") {
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let Some(index) = flags.index(name) else {
                return Err(self.stop(Why::Flag { section, part: 0..name.len() }));
            };
            let flag = self.occurs(flags, index, seen)?;
            sink(self.at, name, Piece::Flag(flag));
            return match value {
                Some(value) => self.glued(flag, value, sink),
                None => self.apart(flag, sink),
            };
        }
        for (start, letter) in text.char_indices().skip(1) {
            let end = start + letter.len_utf8();
            let mut name = [b'-', 0];
            let index = u8::try_from(letter).ok().filter(u8::is_ascii).and_then(|letter| {
                name[1] = letter;
                std::str::from_utf8(&name).ok().and_then(|name| flags.index(name))
            });
            let Some(index) = index else {
                return Err(self.stop(Why::Flag { section, part: start..end }));
            };
            let flag = self.occurs(flags, index, seen)?;
            sink(self.at, &text[start..end], Piece::Flag(flag));
            let rest = &text[end..];
            if flag.value.is_none() {
                continue;
            }
            return match rest {
                "" => self.apart(flag, sink),
                // Some programs drop the `=`, `getopt` keeps it: what would be judged is not sure to be what is used.
                rest if rest.starts_with('=') => Err(self.stop(Why::Equals(flag))),
                rest => self.glued(flag, rest, sink),
            };
        }
        self.at += 1;
        Ok(())
    }

    /// The option of this index stands here.
    fn occurs(&self, flags: &'g Flags, index: usize, seen: &mut Seen) -> Result<&'g Flag, Stop<'g>> {
        let flag = &flags.list[index];
        if seen.has(index) && !flag.repeat {
            return Err(self.stop(Why::Repeated(flag)));
        }
        for group in flags.conflicts.iter().filter(|group| group.contains(&index)) {
            if let Some(other) = group.iter().find(|other| **other != index && seen.has(**other)) {
                return Err(self.stop(Why::Conflict(flag, &flags.list[*other])));
            }
        }
        seen.add(index);
        Ok(flag)
    }

    fn glued(&mut self, flag: &'g Flag, text: &'a str, sink: &mut Sink<'_, 'g, 'a>) -> Result<(), Stop<'g>> {
        let Some(FlagValue { value, spelling, optional: _ }) = &flag.value else {
            return Err(self.stop(Why::NoValue(flag)));
        };
        if *spelling == Spelling::Apart {
            return Err(self.stop(Why::Spelling(flag, Spelling::Apart)));
        }
        self.value(flag, value, text, sink)
    }

    /// The option's name fills the argument: its value, if it takes one, is the next.
    fn apart(&mut self, flag: &'g Flag, sink: &mut Sink<'_, 'g, 'a>) -> Result<(), Stop<'g>> {
        let Some(FlagValue { value, spelling, optional }) = &flag.value else {
            self.at += 1;
            return Ok(());
        };
        if *optional {
            self.at += 1;
            return Ok(());
        }
        if *spelling == Spelling::Glued {
            return Err(self.stop(Why::Spelling(flag, Spelling::Glued)));
        }
        self.at += 1;
        match self.next() {
            Some(text) => self.value(flag, value, text, sink),
            None => Err(self.stop(Why::Value(flag, value))),
        }
    }

    fn value(
        &mut self,
        flag: &'g Flag,
        value: &'g Value,
        text: &'a str,
        sink: &mut Sink<'_, 'g, 'a>,
    ) -> Result<(), Stop<'g>> {
        if !value.fits(text, self.place) {
            return Err(self.stop(Why::Value(flag, value)));
        }
        sink(self.at, text, Piece::Value(flag, value));
        self.at += 1;
        Ok(())
    }
}

/// `-5`, `-.5`, `-1.5`.
fn is_negative(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(number) = text.strip_prefix('-') else { return false };
    match number.split_once('.') {
        None => !number.is_empty() && digits(number),
        Some((whole, part)) => !part.is_empty() && digits(whole) && digits(part),
    }
}
