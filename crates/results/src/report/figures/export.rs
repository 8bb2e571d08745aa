//! One figure as a file.

use weir_core::words;
use weir_plot::{Figure, Theme, draw, print, svg};

words! {
    /// What a figure is written as; the word is how file names end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// For web pages and for editing.
        Svg = "svg",
        /// For papers; text as outlines, without fonts.
        Pdf = "pdf",
        /// 300 pixels per inch.
        Png = "png",
        /// The numbers of the figure, in base units.
        Csv = "csv",
    }
}

words! {
    /// How large a figure is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Size {
        /// One column of a two-column paper: 3.33 inches wide.
        Column = "column",
        /// Both columns: 7 inches wide.
        Wide = "wide",
        /// As on the page of `--out`: 10 inches wide, larger text.
        Page = "page",
    }
}

impl Format {
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
