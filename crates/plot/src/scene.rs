//! A drawing as a list of shapes and texts, in points, y downwards. Charts make scenes; SVG, PDF
//! and PNG are ways to write one down.

use crate::font::{self, Weight};
use crate::style::{Marker, Paint};

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
    /// What is drawn, in this order.
    pub items: Vec<Item>,
}

/// A piece of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Begins a new piece here.
    Move(f64, f64),
    /// Goes straight to here.
    Line(f64, f64),
    /// Goes back to where the piece began.
    Close,
}

/// How a path is stroked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// With what.
    pub paint: Paint,
    /// How wide.
    pub width: f64,
    /// Strokes and gaps in line widths; empty for a solid line.
    pub dash: &'static [f64],
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its begin.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A shape or a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Lines and areas.
    Path {
        /// Where it goes.
        steps: Vec<Step>,
        /// Its line, if it has one.
        stroke: Option<Stroke>,
        /// What fills it, and how opaque that is.
        fill: Option<(Paint, f64)>,
        /// Shown where a pointer rests.
        title: String,
    },
    /// A line of text.
    Text {
        /// Where its base line is.
        at: (f64, f64),
        /// What it says.
        text: String,
        /// How large.
        size: f64,
        /// Regular or bold.
        weight: Weight,
        /// With what.
        paint: Paint,
        /// Which part of it is at `at`.
        anchor: Anchor,
        /// Whether it runs upwards.
        upwards: bool,
    },
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Area {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// Whether two areas share more than an edge.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

impl Item {
    /// A text that runs to the right.
    pub fn text(at: (f64, f64), text: &str, size: f64, anchor: Anchor) -> Self {
        let (weight, paint) = (Weight::Regular, Paint::Ink);
        Self::Text { at, text: text.into(), size, weight, paint, anchor, upwards: false }
    }

    /// A straight line.
    pub fn line(from: (f64, f64), to: (f64, f64), paint: Paint, width: f64) -> Self {
        Self::Path {
            steps: vec![Step::Move(from.0, from.1), Step::Line(to.0, to.1)],
            stroke: Some(Stroke { paint, width, dash: &[] }),
            fill: None,
            title: String::new(),
        }
    }

    /// A filled rectangle.
    pub fn rect(area: Area, paint: Paint, opacity: f64) -> Self {
        let Area { x, y, w, h } = area;
        Self::Path {
            steps: vec![
                Step::Move(x, y),
                Step::Line(x + w, y),
                Step::Line(x + w, y + h),
                Step::Line(x, y + h),
                Step::Close,
            ],
            stroke: None,
            fill: Some((paint, opacity)),
            title: String::new(),
        }
    }

    /// A marker of radius `r`.
    pub fn marker(marker: Marker, (x, y): (f64, f64), r: f64, paint: Paint) -> Self {
        let round = |corners: usize, turn: f64, r: f64| {
            let angle = |i: usize| (i as f64 / corners as f64 + turn) * 2.0 * std::f64::consts::PI;
            let point = |i: usize| (x + r * libm::sin(angle(i)), y - r * libm::cos(angle(i)));
            (0..corners).map(point).collect::<Vec<_>>()
        };
        let corners = match marker {
            Marker::Circle => round(16, 0.0, r),
            Marker::Square => round(4, 0.125, r * 1.2),
            Marker::Triangle => round(3, 0.0, r * 1.3),
            Marker::Diamond => round(4, 0.0, r * 1.3),
            Marker::Down => round(3, 0.5, r * 1.3),
            Marker::Cross => {
                let steps = vec![
                    Step::Move(x - r, y - r),
                    Step::Line(x + r, y + r),
                    Step::Move(x - r, y + r),
                    Step::Line(x + r, y - r),
                ];
                let stroke = Some(Stroke { paint, width: r * 0.6, dash: &[] });
                return Self::Path { steps, stroke, fill: None, title: String::new() };
            }
        };
        let mut steps: Vec<Step> = corners.iter().map(|&(x, y)| Step::Line(x, y)).collect();
        steps[0] = Step::Move(corners[0].0, corners[0].1);
        steps.push(Step::Close);
        Self::Path { steps, stroke: None, fill: Some((paint, 1.0)), title: String::new() }
    }

    /// Sets the paint of a text.
    #[must_use]
    pub fn painted(mut self, with: Paint) -> Self {
        if let Self::Text { paint, .. } = &mut self {
            *paint = with;
        }
        self
    }

    /// Makes a text bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        if let Self::Text { weight, .. } = &mut self {
            *weight = Weight::Bold;
        }
        self
    }

    /// Lets a text run upwards.
    #[must_use]
    pub fn upwards(mut self) -> Self {
        if let Self::Text { upwards, .. } = &mut self {
            *upwards = true;
        }
        self
    }

    /// The area a text covers; `None` for paths.
    pub fn text_area(&self) -> Option<Area> {
        let Self::Text { at, text, size, weight, anchor, upwards, .. } = self else { return None };
        let w = font::width(text, *size, *weight);
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => w / 2.0,
            Anchor::End => w,
        };
        // capital letters reach three quarters of the size above the base line
        let (up, down) = (size * 0.75, size * 0.2);
        Some(match upwards {
            false => Area { x: at.0 - before, y: at.1 - up, w, h: up + down },
            true => Area { x: at.0 - up, y: at.1 + before - w, w: up + down, h: w },
        })
    }
}

impl Scene {
    /// Adds an item.
    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Texts that overlap each other or leave the drawing, two by two: for tests.
    pub fn clashes(&self) -> Vec<(String, String)> {
        let texts: Vec<(&str, Area)> = self
            .items
            .iter()
            .filter_map(|i| match i {
                Item::Text { text, .. } if !text.is_empty() => {
                    Some((text.as_str(), i.text_area()?))
                }
                _ => None,
            })
            .collect();
        let mut found = Vec::new();
        for (i, (text, area)) in texts.iter().enumerate() {
            let inside = area.x >= -0.5
                && area.y >= -0.5
                && area.right() <= self.width + 0.5
                && area.bottom() <= self.height + 0.5;
            if !inside {
                found.push(((*text).to_owned(), "the edge".to_owned()));
            }
            for (other, there) in &texts[i + 1..] {
                if area.overlaps(there) {
                    found.push(((*text).to_owned(), (*other).to_owned()));
                }
            }
        }
        found
    }
}
