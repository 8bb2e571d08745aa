//! Scenes as PDF and PNG. Text becomes outlines: nothing depends on fonts of the reader or printer.

use crate::font::{self, Segment};
use crate::scene::{Anchor, Item, Scene, Step, Stroke};
use crate::style::{Paint, Theme};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref};
use tiny_skia::{FillRule, LineCap, LineJoin, PathBuilder, Pixmap, StrokeDash, Transform};

/// The outlines of a text item at its place.
fn placed(item: &Item) -> Vec<Segment> {
    let Item::Text { at, text, size, weight, anchor, upwards, .. } = item else {
        return Vec::new();
    };
    let before = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font::width(text, *size, *weight) / 2.0,
        Anchor::End => font::width(text, *size, *weight),
    };
    let put = |x: f64, y: f64| match upwards {
        false => (at.0 + x - before, at.1 + y),
        true => (at.0 + y, at.1 - x + before),
    };
    let segment = |s: Segment| match s {
        Segment::Move(x, y) => {
            let (x, y) = put(x, y);
            Segment::Move(x, y)
        }
        Segment::Line(x, y) => {
            let (x, y) = put(x, y);
            Segment::Line(x, y)
        }
        Segment::Quad(a, b, x, y) => {
            let ((a, b), (x, y)) = (put(a, b), put(x, y));
            Segment::Quad(a, b, x, y)
        }
        Segment::Cubic(a, b, c, d, x, y) => {
            let ((a, b), (c, d), (x, y)) = (put(a, b), put(c, d), put(x, y));
            Segment::Cubic(a, b, c, d, x, y)
        }
        Segment::Close => Segment::Close,
    };
    font::outlines(text, *size, *weight).into_iter().map(segment).collect()
}

/// A PDF of one page of the scene's size.
pub fn pdf(scene: &Scene, title: &str) -> Vec<u8> {
    let [catalog, pages, page, content, info] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut sheet = pdf.page(page);
    sheet.parent(pages).contents(content);
    sheet.media_box(Rect::new(0.0, 0.0, scene.width as f32, scene.height as f32));
    // one graphics state for each opacity in use, in percent
    let mut opacities: Vec<u8> = scene.items.iter().filter_map(opacity).collect();
    opacities.sort_unstable();
    opacities.dedup();
    let mut resources = sheet.resources();
    let mut states = resources.ext_g_states();
    for percent in &opacities {
        let name = format!("A{percent}");
        states
            .insert(Name(name.as_bytes()))
            .start::<pdf_writer::writers::ExtGraphicsState<'_>>()
            .non_stroking_alpha(f32::from(*percent) / 100.0);
    }
    states.finish();
    resources.finish();
    sheet.finish();
    let drawing = miniz_oxide::deflate::compress_to_vec_zlib(&pdf_content(scene), 6);
    pdf.stream(content, &drawing).filter(pdf_writer::Filter::FlateDecode);
    pdf.document_info(info).title(pdf_writer::TextStr(title));
    pdf.finish()
}

fn opacity(item: &Item) -> Option<u8> {
    match item {
        Item::Path { fill: Some((_, opacity)), .. } => Some(libm::round(opacity * 100.0) as u8),
        Item::Path { .. } => None,
        Item::Text { .. } => Some(100),
    }
}

fn channels(paint: Paint) -> [f32; 3] {
    let rgb = paint.rgb(Theme::Light);
    [16, 8, 0].map(|shift| (rgb >> shift & 0xff) as f32 / 255.0)
}

fn pdf_content(scene: &Scene) -> Vec<u8> {
    let mut c = Content::new();
    // PDF counts upwards
    c.transform([1.0, 0.0, 0.0, -1.0, 0.0, scene.height as f32]);
    for item in &scene.items {
        if let Some(percent) = opacity(item) {
            c.set_parameters(Name(format!("A{percent}").as_bytes()));
        }
        match item {
            Item::Path { steps, stroke, fill, .. } => {
                for step in steps {
                    match *step {
                        Step::Move(x, y) => c.move_to(x as f32, y as f32),
                        Step::Line(x, y) => c.line_to(x as f32, y as f32),
                        Step::Close => c.close_path(),
                    };
                }
                if let Some((paint, _)) = fill {
                    let [r, g, b] = channels(*paint);
                    c.set_fill_rgb(r, g, b).fill_nonzero();
                } else if let Some(Stroke { paint, width, dash }) = stroke {
                    let [r, g, b] = channels(*paint);
                    let lengths = dash.iter().map(|d| (d * width) as f32);
                    c.set_dash_pattern(lengths, 0.0).set_line_width(*width as f32);
                    c.set_stroke_rgb(r, g, b).stroke();
                }
            }
            Item::Text { paint, .. } => {
                pdf_outlines(&mut c, &placed(item));
                let [r, g, b] = channels(*paint);
                c.set_fill_rgb(r, g, b).fill_nonzero();
            }
        }
    }
    c.finish().into_vec()
}

fn pdf_outlines(c: &mut Content, segments: &[Segment]) {
    let mut last = (0.0, 0.0);
    for segment in segments {
        match *segment {
            Segment::Move(x, y) => {
                c.move_to(x as f32, y as f32);
                last = (x, y);
            }
            Segment::Line(x, y) => {
                c.line_to(x as f32, y as f32);
                last = (x, y);
            }
            Segment::Quad(a, b, x, y) => {
                // PDF has cubic curves only: control points two thirds of the way
                let third = |from: f64, to: f64| (from + 2.0 * (to - from) / 3.0) as f32;
                let (p, q) = (third(last.0, a), third(last.1, b));
                c.cubic_to(p, q, third(x, a), third(y, b), x as f32, y as f32);
                last = (x, y);
            }
            Segment::Cubic(a, b, e, d, x, y) => {
                let [a, b, e, d] = [a, b, e, d].map(|v| v as f32);
                c.cubic_to(a, b, e, d, x as f32, y as f32);
                last = (x, y);
            }
            Segment::Close => {
                c.close_path();
            }
        }
    }
}

/// A PNG with `scale` pixels per point, at most 16 000 pixels either way; `None` for a scene
/// without an extent.
pub fn png(scene: &Scene, scale: f64, theme: Theme) -> Option<Vec<u8>> {
    let pixels = |x: f64| libm::ceil(x * scale).clamp(0.0, 16_000.0) as u32;
    let mut map = Pixmap::new(pixels(scene.width), pixels(scene.height))?;
    map.fill(colour(Paint::Paper, 1.0, theme));
    let to_pixels = Transform::from_scale(scale as f32, scale as f32);
    for item in &scene.items {
        let mut paint = tiny_skia::Paint { anti_alias: true, ..Default::default() };
        match item {
            Item::Path { steps, stroke, fill, .. } => {
                let Some(path) = outline(steps.iter().map(|s| match *s {
                    Step::Move(x, y) => Segment::Move(x, y),
                    Step::Line(x, y) => Segment::Line(x, y),
                    Step::Close => Segment::Close,
                })) else {
                    continue;
                };
                if let Some((with, opacity)) = fill {
                    paint.set_color(colour(*with, *opacity, theme));
                    map.fill_path(&path, &paint, FillRule::Winding, to_pixels, None);
                } else if let Some(Stroke { paint: with, width, dash }) = stroke {
                    paint.set_color(colour(*with, 1.0, theme));
                    let lengths = dash.iter().map(|d| (d * width) as f32).collect();
                    let stroke = tiny_skia::Stroke {
                        width: *width as f32,
                        line_cap: LineCap::Butt,
                        line_join: LineJoin::Round,
                        dash: StrokeDash::new(lengths, 0.0),
                        ..Default::default()
                    };
                    map.stroke_path(&path, &paint, &stroke, to_pixels, None);
                }
            }
            Item::Text { paint: with, .. } => {
                let Some(path) = outline(placed(item).into_iter()) else { continue };
                paint.set_color(colour(*with, 1.0, theme));
                map.fill_path(&path, &paint, FillRule::Winding, to_pixels, None);
            }
        }
    }
    map.encode_png().ok()
}

fn colour(paint: Paint, opacity: f64, theme: Theme) -> tiny_skia::Color {
    let rgb = paint.rgb(theme);
    let [r, g, b] = [16, 8, 0].map(|shift| (rgb >> shift & 0xff) as u8);
    tiny_skia::Color::from_rgba8(r, g, b, libm::round(opacity * 255.0) as u8)
}

fn outline(segments: impl Iterator<Item = Segment>) -> Option<tiny_skia::Path> {
    let mut p = PathBuilder::new();
    for segment in segments {
        match segment {
            Segment::Move(x, y) => p.move_to(x as f32, y as f32),
            Segment::Line(x, y) => p.line_to(x as f32, y as f32),
            Segment::Quad(a, b, x, y) => p.quad_to(a as f32, b as f32, x as f32, y as f32),
            Segment::Cubic(a, b, c, d, x, y) => {
                let [a, b, c, d] = [a, b, c, d].map(|v| v as f32);
                p.cubic_to(a, b, c, d, x as f32, y as f32);
            }
            Segment::Close => p.close(),
        }
    }
    p.finish()
}
