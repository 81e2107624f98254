//! The picture below the map: read for the page, and taken from it into the scenario's folder.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use data_encoding::BASE64;
use serde::Deserialize;

/// The largest picture that is read, octets.
const MAX_OCTETS: u64 = 32 << 20;
/// The largest that a page can hand over: its request is a third longer.
const MAX_TAKEN: usize = 8 << 20;
/// Sides and area at most, pixels: a browser needs four octets for each.
const MAX_SIDE: usize = 16_384;
const MAX_PIXELS: usize = 64 << 20;
const MOST_NAMES: u32 = 1_000;

/// Which picture the page wants to see.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureQuery {
    /// As the scenario names it.
    picture: std::path::PathBuf,
}

/// A picture that somebody has chosen in the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureUpload {
    name: String,
    /// In base64.
    octets: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureInfo {
    pub(crate) mime: &'static str,
    ending: &'static str,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// What octets are, if a browser shows them and they are not too large. Only the head is looked at.
pub(crate) fn about(octets: &[u8]) -> Result<PictureInfo, String> {
    let (mime, ending) = match imagesize::image_type(octets) {
        Ok(imagesize::ImageType::Png) => ("image/png", "png"),
        Ok(imagesize::ImageType::Jpeg) => ("image/jpeg", "jpg"),
        Ok(imagesize::ImageType::Gif) => ("image/gif", "gif"),
        Ok(imagesize::ImageType::Webp) => ("image/webp", "webp"),
        _ => return Err("not a PNG, JPEG, GIF or WebP image".to_owned()),
    };
    let size = imagesize::blob_size(octets).map_err(|_| "the image's header is damaged".to_owned())?;
    let (width, height) = (size.width, size.height);
    let is_large = width > MAX_SIDE || height > MAX_SIDE || width.saturating_mul(height) > MAX_PIXELS;
    if width == 0 || height == 0 || is_large {
        return Err(format!(
            "{width} x {height} pixels: use an image with sides of 1 to {MAX_SIDE} pixels, and at most {} million pixels",
            MAX_PIXELS >> 20
        ));
    }
    Ok(PictureInfo { mime, ending, width, height })
}

impl PictureQuery {
    /// The picture; its path counts from the scenario's folder.
    pub(crate) fn read(&self, scenario: &Path) -> Result<(&'static str, Vec<u8>), String> {
        let path = scenario.parent().unwrap_or(Path::new("")).join(&self.picture);
        let wrong = |what: String| {
            format!("{}: {what}; change background.picture, or remove the key", path.display())
        };
        let about_file = fs::metadata(&path).map_err(|e| wrong(format!("cannot read: {e}")))?;
        // A pipe or a device would never end.
        if !about_file.is_file() || about_file.len() > MAX_OCTETS {
            return Err(wrong(format!("not a file of at most {} MiB", MAX_OCTETS >> 20)));
        }
        let mut octets = Vec::new();
        let read = File::open(&path).and_then(|f| f.take(MAX_OCTETS).read_to_end(&mut octets));
        read.map_err(|e| wrong(format!("cannot read: {e}")))?;
        let about = about(&octets).map_err(wrong)?;
        Ok((about.mime, octets))
    }
}

impl PictureUpload {
    /// Writes the image to the scenario's folder, and returns its name. Files are not replaced; an identical one is used.
    pub(crate) fn keep(&self, scenario: &Path) -> Result<(String, PictureInfo), String> {
        let wrong = |what: String| format!("{}: {what}", self.name);
        if self.octets.len() > MAX_TAKEN / 3 * 4 {
            return Err(wrong(format!(
                "larger than {} MiB; make it smaller, or copy it to the scenario's folder and name it in background.picture",
                MAX_TAKEN >> 20
            )));
        }
        let octets = BASE64.decode(self.octets.as_bytes()).map_err(|e| wrong(format!("not base64: {e}")))?;
        let about = about(&octets).map_err(wrong)?;
        let folder = scenario.parent().unwrap_or(Path::new(""));
        for n in 1..=MOST_NAMES {
            let name = file_name(&self.name, n, about.ending);
            let path = folder.join(&name);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let written = file.write_all(&octets).and_then(|()| file.sync_all());
                    written.map_err(|e| {
                        // Its remains are useless.
                        let _ = fs::remove_file(&path);
                        wrong(format!("cannot write to the scenario's folder: {e}"))
                    })?;
                    return Ok((name, about));
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                    if is_same(&path, &octets) {
                        return Ok((name, about));
                    }
                }
                Err(e) => return Err(wrong(format!("cannot write to the scenario's folder: {e}"))),
            }
        }
        Err(wrong(format!(
            "the scenario's folder already has {MOST_NAMES} images with this name; remove some"
        )))
    }
}

fn is_same(path: &Path, octets: &[u8]) -> bool {
    let is_as_long = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() == octets.len() as u64);
    is_as_long && fs::read(path).is_ok_and(|there| there == octets)
}

/// A plain name in one folder: letters, digits, `-` and `_`, with the ending that the octets ask for.
fn file_name(given: &str, n: u32, ending: &str) -> String {
    let stem = given.rsplit_once('.').map_or(given, |(stem, _)| stem);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let stem: String = stem.chars().take(64).map(plain).collect();
    let stem = if stem.chars().all(|c| c == '_') { "picture" } else { &stem };
    if n == 1 { format!("{stem}.{ending}") } else { format!("{stem}-{n}.{ending}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A PNG's signature and the head of its first chunk.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut octets = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        octets.extend(width.to_be_bytes());
        octets.extend(height.to_be_bytes());
        octets.extend([8, 2, 0, 0, 0]);
        octets
    }

    #[test]
    fn only_pictures_of_a_bearable_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let scenario = dir.path().join("net.toml");
        let read = |name: &str| PictureQuery { picture: name.into() }.read(&scenario);
        fs::write(dir.path().join("plan.png"), png(640, 480)).unwrap();
        assert_eq!(read("plan.png").unwrap(), ("image/png", png(640, 480)));
        for (name, octets, says) in [
            ("bomb.png", png(100_000, 100_000), "pixels"),
            ("flat.png", png(0, 5), "pixels"),
            ("text.png", b"root:x:0:0:root:/root:/bin/sh\n".to_vec(), "not a PNG"),
            ("empty.png", Vec::new(), "not a PNG"),
            ("cut.png", png(5, 5)[..18].to_vec(), "header is damaged"),
            ("page.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), "not a PNG"),
        ] {
            fs::write(dir.path().join(name), octets).unwrap();
            let e = read(name).unwrap_err();
            assert!(e.contains(says) && e.contains("background.picture"), "{name}: {e}");
        }
        for name in ["missing.png", ".", "/dev/zero", "../../../../../../etc/passwd"] {
            assert!(read(name).is_err(), "{name}");
        }
        let large = File::create(dir.path().join("large.png")).unwrap();
        large.set_len(MAX_OCTETS + 1).unwrap();
        assert!(read("large.png").unwrap_err().contains("32 MiB"));
    }

    #[test]
    fn a_picture_that_is_taken_replaces_none_and_stays_in_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let scenario = dir.path().join("net.toml");
        let take = |name: &str, octets: &[u8]| {
            PictureUpload { name: name.into(), octets: BASE64.encode(octets) }
                .keep(&scenario)
                .map(|(name, _)| name)
        };
        let (one, two) = (png(10, 10), png(20, 10));
        assert_eq!(take("plan of site.jpeg", &one).unwrap(), "plan_of_site.png");
        assert_eq!(take("plan of site.png", &one).unwrap(), "plan_of_site.png");
        assert_eq!(take("plan of site.png", &two).unwrap(), "plan_of_site-2.png");
        assert_eq!(fs::read(dir.path().join("plan_of_site.png")).unwrap(), one);
        assert_eq!(take("../../evil.png", &one).unwrap(), "______evil.png");
        assert_eq!(take("..", &two).unwrap(), "picture.png");
        assert!(take("net.toml", b"duration_s = 1").unwrap_err().contains("not a PNG"));
        assert!(PictureUpload { name: "a".into(), octets: "?".into() }.keep(&scenario).is_err());
        let long = PictureUpload { name: "a".into(), octets: "A".repeat(MAX_TAKEN / 3 * 4 + 4) };
        assert!(long.keep(&scenario).unwrap_err().contains("8 MiB"));
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(
            head in prop::sample::select(vec![&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 ", b"RIFF\0\0\0\0WEBPVP8L", b""]),
            rest in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let octets = [head, &rest[..]].concat();
            if let Ok(found) = about(&octets) {
                prop_assert!(found.width <= MAX_SIDE && found.height <= MAX_SIDE);
            }
        }

        #[test]
        fn names_stay_in_their_folder(name in ".{0,80}", n in 1_u32..5) {
            let plain = file_name(&name, n, "png");
            prop_assert!(!plain.starts_with('.') && plain.is_ascii() && !plain.contains(['/', '\\', '\0']));
            prop_assert_eq!(plain.matches('.').count(), 1);
        }
    }
}
