//! One figure as a file.

use weir_plot::{Figure, Theme, draw, print, svg};

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For pages, and to be edited.
    Svg,
    /// For papers.
    Pdf,
    /// For slides and chats.
    Png,
    /// The numbers, in base units.
    Csv,
}

/// How large a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// One column of a two-column paper.
    Column,
    /// Both columns of a two-column paper.
    Wide,
    /// As on the page.
    Page,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Svg, Self::Pdf, Self::Png, Self::Csv];

    /// How file names end.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
            Self::Csv => "csv",
        }
    }

    /// The figure as the content of a file.
    pub fn bytes(self, figure: &Figure, size: Size) -> Vec<u8> {
        /// Pixels per point: 300 to the inch.
        const PIXELS: f64 = 300.0 / 72.0;
        let scene = || draw::scene(figure, &size.points());
        match self {
            Self::Svg => svg::file(&scene(), &figure.title).into_bytes(),
            Self::Pdf => print::pdf(&scene(), &figure.title),
            Self::Png => print::png(&scene(), PIXELS, Theme::Light).unwrap_or_default(),
            Self::Csv => figure.csv().into_bytes(),
        }
    }
}

impl Size {
    fn points(self) -> draw::Size {
        match self {
            Self::Column => draw::Size::COLUMN,
            Self::Wide => draw::Size::WIDE,
            Self::Page => draw::Size::PAGE,
        }
    }
}
