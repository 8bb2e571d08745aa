//! The font of figures: how wide a text is, and its outlines.
//!
//! The font comes with the crate, so a figure has the same lines on every machine, a PDF needs no
//! font of its reader, and a label's width is known when its place is chosen. It holds the
//! characters of Latin-1, Greek letters and some signs; others are shown as a question mark.

use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSansCondensed.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/DejaVuSansCondensed-Bold.ttf");

/// The families to name where text stays text: the font itself, then ones of similar width.
pub const FAMILIES: &str =
    "'DejaVu Sans Condensed', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";

/// Regular or bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// For nearly everything.
    Regular,
    /// For headings.
    Bold,
}

fn face(weight: Weight) -> &'static Face<'static> {
    static FACES: [OnceLock<Face<'static>>; 2] = [OnceLock::new(), OnceLock::new()];
    let (at, data) = match weight {
        Weight::Regular => (0, REGULAR),
        Weight::Bold => (1, BOLD),
    };
    FACES[at].get_or_init(|| Face::parse(data, 0).expect("the font of this crate is valid"))
}

fn glyph(face: &Face<'_>, c: char) -> GlyphId {
    face.glyph_index(c).or_else(|| face.glyph_index('?')).unwrap_or_default()
}

/// How wide `text` is at `size`.
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let face = face(weight);
    let units: u64 = text
        .chars()
        .map(|c| u64::from(face.glyph_hor_advance(glyph(face, c)).unwrap_or_default()))
        .sum();
    units as f64 * size / f64::from(face.units_per_em())
}

/// A piece of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// Begins a contour.
    Move(f64, f64),
    /// A straight line.
    Line(f64, f64),
    /// A quadratic curve: control point and end.
    Quad(f64, f64, f64, f64),
    /// A cubic curve: two control points and the end.
    Cubic(f64, f64, f64, f64, f64, f64),
    /// Closes the contour.
    Close,
}

/// The outlines of `text` at `size`, from the origin to the right, y downwards.
pub fn outlines(text: &str, size: f64, weight: Weight) -> Vec<Segment> {
    let face = face(weight);
    let scale = size / f64::from(face.units_per_em());
    let mut pen = Pen { x: 0.0, scale, out: Vec::new() };
    for c in text.chars() {
        let id = glyph(face, c);
        face.outline_glyph(id, &mut pen);
        pen.x += f64::from(face.glyph_hor_advance(id).unwrap_or_default()) * scale;
    }
    pen.out
}

struct Pen {
    x: f64,
    scale: f64,
    out: Vec<Segment>,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f64, f64) {
        (self.x + f64::from(x) * self.scale, -f64::from(y) * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.out.push(Segment::Move(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.out.push(Segment::Line(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.out.push(Segment::Quad(x1, y1, x, y));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.out.push(Segment::Cubic(x1, y1, x2, y2, x, y));
    }

    fn close(&mut self) {
        self.out.push(Segment::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_and_grow_with_the_size() {
        let one = width("m", 10.0, Weight::Regular);
        assert!(one > 5.0 && (width("mmm", 10.0, Weight::Regular) - 3.0 * one).abs() < 1e-9);
        assert!((width("m", 20.0, Weight::Regular) - 2.0 * one).abs() < 1e-9);
        assert!(width("m", 10.0, Weight::Bold) > one);
    }

    #[test]
    fn unknown_characters_are_question_marks() {
        assert_eq!(outlines("\u{4e2d}", 9.0, Weight::Regular), outlines("?", 9.0, Weight::Regular));
        assert_ne!(outlines("µ±×–", 9.0, Weight::Regular), outlines("????", 9.0, Weight::Regular));
    }
}
