//! Figures for pages and papers.
//!
//! ```text
//!   Figure ──► draw::scene ──► Scene ──► svg::inline, svg::file
//!   (data,      (layout at      (shapes   print::pdf
//!    axes)       a Size)         and text) print::png
//! ```
//!
//! A [`Figure`] is data: panels with axes, series with a name and a [`Style`]. [`draw::scene`] lays
//! it out for a page or a column of a paper; the same drawing is then written as SVG, PDF or PNG.
//! The crate has a font of its own, so it knows how wide every label is and no format depends on
//! what is installed.
//!
//! ```
//! use weir_plot::{Across, Axis, Figure, Layout, Panel, Point, Series, Shape, Size, Style, Unit};
//!
//! let points = [(0.4, 2.0), (0.6, 3.5), (0.8, 9.0)];
//! let series = Series {
//!     name: "PFC".into(),
//!     style: Style::new(0, 0),
//!     shape: Shape::Line(points.map(|(x, y)| Point { x, y, error: 0.0 }).to_vec()),
//! };
//! let figure = Figure {
//!     id: "slowdown".into(),
//!     title: "Slowdown over load".into(),
//!     caption: "Mean of all flows.".into(),
//!     panels: vec![Panel {
//!         title: String::new(),
//!         across: Across::Values(Axis::between("load", Unit::Share, 0.4, 0.8)),
//!         up: Axis::linear("slowdown", Unit::Number, 9.0),
//!         series: vec![series],
//!         rules: vec![],
//!     }],
//!     layout: Layout::Grid,
//! };
//! let drawing = weir_plot::draw::scene(&figure, &Size::COLUMN);
//! assert!(weir_plot::svg::file(&drawing, &figure.title).contains("slowdown"));
//! ```

mod axis;
pub mod draw;
mod figure;
pub mod font;
pub mod print;
pub mod scene;
pub mod style;
pub mod svg;

pub use axis::{Axis, Scale, Tick, show};
pub use draw::Size;
pub use figure::{
    Across, Bar, BoxPlot, Data, Figure, Layout, Link, Mark, Panel, Point, Rule, Series, Shape,
};
pub use style::{Paint, Style, Theme};
pub use weir_core::Unit;
