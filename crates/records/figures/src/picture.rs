//! Figures as PNG and PDF, the same on every machine: the font is included, and no other is used.
//!
//! The font is Arimo, which is as wide as Arial, with the letters of Latin, Greek and Cyrillic and the signs that figures have. Its
//! licence is fonts/OFL.txt.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Arimo's regular face.
const FONT: &[u8] = include_bytes!("../fonts/Arimo-Regular-subset.ttf");
const MM_PER_INCH: f32 = 25.4;
const MOST_PIXELS: f32 = 4e8;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    for set in [Database::set_sans_serif_family, Database::set_serif_family, Database::set_monospace_family] {
        set(&mut fonts, "Arimo");
    }
    Arc::new(fonts)
});

fn tree(svg: &str) -> Result<Tree, String> {
    let options =
        Options { fontdb: Arc::clone(&FONTS), font_family: "Arimo".to_owned(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|e| format!("cannot read the drawing: {e}"))
}

/// A PNG of `width` pixels across.
pub fn png(svg: &str, width: u32) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    let size = tree.size();
    let scale = width as f32 / size.width();
    let height = (size.height() * scale).ceil();
    let too_large = || format!("cannot draw {width} x {height} pixels; give a smaller --width");
    if height * width as f32 > MOST_PIXELS {
        return Err(too_large());
    }
    let mut pixels = Pixmap::new(width, height as u32).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| format!("cannot encode the picture: {e}"))
}

/// A PDF as wide as this, its letters as letters.
pub fn pdf(svg: &str, width_mm: f32) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    // Pixels of the drawing per inch of paper.
    let dpi = tree.size().width() * MM_PER_INCH / width_mm;
    let page = svg2pdf::PageOptions { dpi };
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page)
        .map_err(|e| format!("cannot write the PDF: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\">\
        <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/><rect x=\"0\" y=\"0\" width=\"20\" height=\"20\" fill=\"#FF0000\"/>WORDS</svg>";

    fn drawing(words: &str) -> String {
        let text =
            format!("<text x=\"21\" y=\"15\" font-family=\"sans-serif\" font-size=\"12\">{words}</text>");
        SVG.replace("WORDS", &text)
    }

    fn ink(words: &str) -> usize {
        let pixels = Pixmap::decode_png(&png(&drawing(words), 80).unwrap()).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (80, 40));
        assert_eq!(
            pixels.pixel(10, 20).map(|p| (p.red(), p.green())),
            Some((255, 0)),
            "the left half is red"
        );
        (0..40)
            .flat_map(|y| (40..80).map(move |x| (x, y)))
            .filter(|(x, y)| pixels.pixel(*x, *y).unwrap().red() < 128)
            .count()
    }

    #[test]
    fn letters_need_no_font_of_the_system() {
        assert_eq!(ink(""), 0);
        for sign in ["M", "\u{b5}", "\u{3b1}", "\u{2212}", "\u{2265}", "\u{416}"] {
            assert!(ink(sign) > 10, "{sign}");
        }
    }

    #[test]
    fn a_pdf_is_as_wide_as_wanted_and_holds_its_font() {
        let pdf = pdf(&drawing("Mj"), 88.0).unwrap();
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.starts_with("%PDF-") && text.contains("Arimo"), "the font is inside");
        let place = text.split("/MediaBox [").nth(1).unwrap().split(']').next().unwrap();
        let ends: Vec<f32> = place.split_whitespace().map(|v| v.parse().unwrap()).collect();
        // 88 mm are 249.449 pt; the drawing is half as high as it is wide.
        assert!((ends[2] - 249.449).abs() < 0.01 && (ends[3] - 124.724).abs() < 0.01, "{ends:?}");
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(png("<svg", 100).is_err() && pdf("no", 88.0).is_err());
        assert!(png(SVG, u32::MAX).unwrap_err().contains("--width"));
    }
}
