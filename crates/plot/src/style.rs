//! Colours, dashes and markers: what tells one series from another.
//!
//! A series never differs from another by colour alone. The colours can be told apart by readers
//! with the common forms of colour blindness (most of the first eight are close to the set of Okabe
//! and Ito); dashes and markers survive a black and white printer.

/// What something is painted with. Screens choose light or dark shades; paper uses the light ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text and axes.
    Ink,
    /// Text of lesser weight.
    Soft,
    /// Grid lines.
    Grid,
    /// The background.
    Paper,
    /// What a reader must not miss.
    Alarm,
    /// The colour of a series, below [`COLOURS`].
    Series(u8),
}

/// How many colours there are.
pub const COLOURS: u8 = 12;

/// Light and dark shade of every series colour.
const SERIES: [(u32, u32); COLOURS as usize] = [
    (0x0072b2, 0x56a9e0),
    (0xd55e00, 0xff8a3d),
    (0x009e73, 0x2fcf9f),
    (0xb8438a, 0xe58ac2),
    (0x8a6d00, 0xe0b62a),
    (0x7ab648, 0xd8f57a),
    (0x5b4a9e, 0xab9cf0),
    (0x6b6b6b, 0xa8b0b8),
    (0x8c2d04, 0xd9764a),
    (0x1f2328, 0xe6edf3),
    (0x4d8b31, 0x93c96f),
    (0xcc79a7, 0xf2b4d5),
];

/// A set of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// For paper and light screens.
    Light,
    /// For dark screens.
    Dark,
}

impl Paint {
    /// Red, green and blue as `0xRRGGBB`.
    pub const fn rgb(self, theme: Theme) -> u32 {
        let (light, dark) = match self {
            Self::Ink => (0x1f2328, 0xe6edf3),
            Self::Soft => (0x59636e, 0x9198a1),
            Self::Grid => (0xdde3e9, 0x30363d),
            Self::Paper => (0xffffff, 0x0d1117),
            Self::Alarm => (0xcf222e, 0xff7b72),
            Self::Series(i) => SERIES[(i % COLOURS) as usize],
        };
        match theme {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }

    /// The name of its CSS variable and class.
    pub fn css(self) -> String {
        match self {
            Self::Ink => "fg".into(),
            Self::Soft => "soft".into(),
            Self::Grid => "grid".into(),
            Self::Paper => "bg".into(),
            Self::Alarm => "hot".into(),
            Self::Series(i) => format!("c{}", i % COLOURS),
        }
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let fixed = [Self::Ink, Self::Soft, Self::Grid, Self::Paper, Self::Alarm];
        fixed.into_iter().chain((0..COLOURS).map(Self::Series))
    }
}

/// CSS declarations of all colours of a theme: `--fg: #1f2328; …`.
pub fn css_variables(theme: Theme) -> String {
    let one = |p: Paint| format!("--{}: #{:06x};", p.css(), p.rgb(theme));
    Paint::all().map(one).collect::<Vec<_>>().join(" ")
}

/// How a line is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// A dash and a dot in turn.
    DashDot,
}

impl Dash {
    /// Lengths of strokes and gaps, in line widths.
    pub const fn pattern(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[4.0, 2.2],
            Self::Dotted => &[1.1, 1.8],
            Self::DashDot => &[5.0, 2.0, 1.1, 2.0],
        }
    }
}

/// The shape at the points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle that points down.
    Down,
    /// A cross.
    Cross,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Its colour.
    pub paint: Paint,
    /// Its line.
    pub dash: Dash,
    /// Its points.
    pub marker: Marker,
    /// How opaque its areas are: bars of one colour differ in this as lines do in their dashes.
    pub fill: Fill,
}

/// How opaque an area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Fully.
    Full,
    /// About half, with an outline.
    Half,
    /// Faintly, with an outline.
    Faint,
    /// Hardly, with an outline.
    Open,
}

impl Fill {
    /// From 0 to 1.
    pub const fn opacity(self) -> f64 {
        match self {
            Self::Full => 1.0,
            Self::Half => 0.55,
            Self::Faint => 0.3,
            Self::Open => 0.1,
        }
    }
}

const FILLS: [Fill; 4] = [Fill::Full, Fill::Half, Fill::Faint, Fill::Open];

const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::DashDot, Dash::Dotted];
const MARKERS: [Marker; 6] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Down,
    Marker::Cross,
];

impl Style {
    /// The look of variant `variant` of subject `subject`: subjects differ in colour and in marker
    /// or dash, variants of one subject in the dash and the marker.
    pub const fn new(subject: usize, variant: usize) -> Self {
        Self {
            paint: Paint::Series((subject % COLOURS as usize) as u8),
            dash: DASHES[(variant + subject / MARKERS.len()) % DASHES.len()],
            marker: MARKERS[(subject + variant) % MARKERS.len()],
            fill: FILLS[variant % FILLS.len()],
        }
    }

    /// What a reader must not miss.
    pub const ALARM: Self =
        Self { paint: Paint::Alarm, dash: Dash::Solid, marker: Marker::Diamond, fill: Fill::Full };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as of WCAG 2.
    fn luminance(rgb: u32) -> f64 {
        let channel = |shift: u32| {
            let c = f64::from(rgb >> shift & 0xff) / 255.0;
            if c <= 0.03928 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_legible_and_series_stand_out_in_both_themes() {
        for theme in [Theme::Light, Theme::Dark] {
            let paper = Paint::Paper.rgb(theme);
            for text in [Paint::Ink, Paint::Soft, Paint::Alarm] {
                assert!(contrast(text.rgb(theme), paper) >= 4.5, "{text:?} {theme:?}");
            }
            for i in 0..COLOURS {
                let ratio = contrast(Paint::Series(i).rgb(theme), paper);
                assert!(ratio >= 2.2, "series {i} {theme:?}: {ratio:.2}");
            }
        }
    }

    /// Red, green and blue as light, as readers without one kind of cone see it (Machado and
    /// others, 2009, full severity); the first row of matrices is normal vision.
    const SIGHTS: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ];

    /// CIE L*a*b* of a colour under a kind of sight.
    fn lab(rgb: u32, sight: &[[f64; 3]; 3]) -> [f64; 3] {
        let light = [16, 8, 0].map(|shift: u32| {
            let c = f64::from(rgb >> shift & 0xff) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
        });
        let times = |row: &[f64; 3], v: &[f64; 3]| row.iter().zip(v).map(|(a, b)| a * b).sum();
        let seen = sight.map(|row| f64::clamp(times(&row, &light), 0.0, 1.0));
        let white = [
            [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
            [0.2126, 0.7152, 0.0722],
            [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
        ];
        let [x, y, z] = white.map(|row| {
            let t: f64 = times(&row, &seen);
            if t > 0.008856 { libm::cbrt(t) } else { 7.787 * t + 16.0 / 116.0 }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The first colour is PFC's and the sixth OFC's, the two that stand side by side most often.
    /// Two colours that differ by 40 in L*a*b* are no shades of one colour to any reader.
    #[test]
    fn the_first_and_the_sixth_colour_are_far_apart_to_all_readers() {
        for theme in [Theme::Light, Theme::Dark] {
            for sight in &SIGHTS {
                let [a, b] = [0, 5].map(|i| lab(Paint::Series(i).rgb(theme), sight));
                let squares = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b));
                let distance = libm::sqrt(squares.sum());
                assert!(distance > 40.0, "{theme:?}: {distance:.0}");
            }
        }
    }

    #[test]
    fn variants_of_one_subject_share_its_colour_only() {
        let (a, b) = (Style::new(3, 0), Style::new(3, 1));
        assert_eq!(a.paint, b.paint);
        assert!(a.dash != b.dash && a.marker != b.marker);
        assert_ne!(Style::new(3, 0).dash, Style::new(3 + COLOURS as usize, 0).dash);
    }
}
