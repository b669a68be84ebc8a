//! `.file` and `.loc` (PTX ISA 11.4): from which line of the CUDA source an instruction comes.

use std::collections::HashMap;

use super::constant::{unsigned, unsigned32};
use super::cursor::Cursor;
use crate::ptx::ast::Position;
use crate::ptx::error::Error;
use crate::ptx::lexer::Kind;

/// File, line and column.
type Place = (u32, u32, u32);

/// The lines that were named so far.
#[derive(Default)]
pub struct Locations {
    /// By the number in the text.
    files: HashMap<u32, u32>,
    paths: Vec<String>,
    /// [`Position::file`] is the number in the text until `finish`: `.file` may come last.
    positions: Vec<Position>,
    known: HashMap<Position, u32>,
    /// The last position at a place: what a call site that is named later refers to.
    latest: HashMap<Place, u32>,
    /// What the next instruction comes from.
    pub current: Option<u32>,
}

impl Locations {
    /// `.file 1 "path", 1234, 567`
    pub fn file(&mut self, cursor: &mut Cursor) -> Result<(), Error> {
        cursor.at += 1;
        let number = unsigned32(cursor)?;
        let path = cursor.string()?;
        self.files.insert(number, self.paths.len() as u32);
        self.paths.push(path.replace("\\\\", "\\"));
        while cursor.eat(b',') {
            unsigned(cursor)?;
        }
        Ok(())
    }

    /// `.loc 1 10 5, function_name $L__info_string0, inlined_at 2 15 3`
    ///
    /// A line 0 is code without a line of its own: it stays with the line before it.
    pub fn line(&mut self, cursor: &mut Cursor) -> Result<(), Error> {
        cursor.at += 1;
        let place = place(cursor)?;
        let mut inlined_at = None;
        while cursor.eat(b',') {
            if cursor.eat_word("function_name") {
                cursor.name()?;
                if cursor.eat(b'+') {
                    unsigned(cursor)?;
                }
            } else if cursor.eat_word("inlined_at") {
                let site = self::place(cursor)?;
                let latest = self.latest.get(&site).copied();
                inlined_at = Some(latest.unwrap_or_else(|| self.position(site, None)));
            } else {
                return Err(cursor.wanted("`function_name` or `inlined_at`"));
            }
        }
        if place.1 != 0 {
            self.current = Some(self.position(place, inlined_at));
        }
        Ok(())
    }

    /// The number of a position; a new one if it was never named. It is always greater than the
    /// number of the call site, so that a chain of them has an end.
    fn position(&mut self, place: Place, inlined_at: Option<u32>) -> u32 {
        let (file, line, column) = place;
        let position = Position { file, line, column, inlined_at };
        let next = self.positions.len() as u32;
        let number = *self.known.entry(position.clone()).or_insert(next);
        if number == next {
            self.positions.push(position);
        }
        self.latest.insert(place, number);
        number
    }

    /// The paths, and the positions with [`Position::file`] among them.
    pub fn finish(mut self) -> (Vec<String>, Vec<Position>) {
        for position in &mut self.positions {
            position.file = *self.files.entry(position.file).or_insert_with(|| {
                self.paths.push(format!("file {}", position.file));
                self.paths.len() as u32 - 1
            });
        }
        (self.paths, self.positions)
    }
}

fn place(cursor: &mut Cursor) -> Result<Place, Error> {
    let (file, line) = (unsigned32(cursor)?, unsigned32(cursor)?);
    // Old compilers leave the column out.
    let column = if cursor.kind() == Kind::Number { unsigned32(cursor)? } else { 0 };
    Ok((file, line, column))
}
