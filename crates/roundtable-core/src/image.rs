//! Pictures: what an agent can be shown. Knows their kinds, not what is on them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

/// A picture. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// What it is, like `image/png`.
    pub media_type: String,
    /// Where it is.
    #[serde(flatten)]
    pub source: ImageSource,
}

/// Where a picture is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// Here, as Base64.
    Base64(Arc<str>),
    /// At an address that the provider fetches.
    Url(String),
}

/// Why something is not a picture that an agent can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadImage {
    /// Not one of the formats that providers read.
    #[error("unsupported image type \"{found}\"; use PNG, JPEG, GIF or WebP")]
    Kind {
        /// What it says it is, or what its first bytes are.
        found: String,
    },
    /// Not Base64.
    #[error("the image is not valid Base64; use the standard alphabet with padding")]
    NotBase64,
    /// Its bytes are of another kind than it says.
    #[error("the image is declared as {said}, but its bytes are {found}")]
    Mismatch {
        /// What it says.
        said: String,
        /// What it is.
        found: String,
    },
    /// Its address is none that a provider fetches.
    #[error("invalid image URL \"{address}\"; use https:// or http://, or send the bytes")]
    Address {
        /// The address, shortened.
        address: String,
    },
}

impl Image {
    /// A picture from the bytes of its file.
    ///
    /// # Errors
    /// [`BadImage::Kind`] when it is none of the formats that providers read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadImage> {
        let media_type = media_type(bytes).ok_or_else(|| BadImage::Kind {
            found: String::from_utf8_lossy(&bytes[..bytes.len().min(8)]).escape_debug().collect(),
        })?;
        let source = ImageSource::Base64(BASE64.encode(bytes).into());
        Ok(Self { media_type: media_type.to_owned(), source })
    }

    /// A picture at an address that the provider fetches.
    ///
    /// # Errors
    /// [`BadImage`] when the kind or the address is none that providers know.
    pub fn at(address: &str, media_type: &str) -> Result<Self, BadImage> {
        let source = ImageSource::Url(address.to_owned());
        let image = Self { media_type: media_type.to_owned(), source };
        image.check()?;
        Ok(image)
    }

    /// Whether a provider could read it.
    ///
    /// # Errors
    /// [`BadImage`] says what is wrong.
    pub fn check(&self) -> Result<(), BadImage> {
        if !MEDIA_TYPES.contains(&self.media_type.as_str()) {
            return Err(BadImage::Kind { found: self.media_type.chars().take(64).collect() });
        }
        match &self.source {
            ImageSource::Base64(data) => self.check_data(data),
            ImageSource::Url(url) => check_address(url),
        }
    }

    fn check_data(&self, data: &str) -> Result<(), BadImage> {
        let bytes = BASE64.decode(data).map_err(|_| BadImage::NotBase64)?;
        match media_type(&bytes) {
            Some(found) if found == self.media_type => Ok(()),
            found => Err(BadImage::Mismatch {
                said: self.media_type.clone(),
                found: found.unwrap_or("of an unknown type").to_owned(),
            }),
        }
    }

    /// Its bytes; none for one at a URL.
    pub(crate) fn decoded(&self) -> Option<Vec<u8>> {
        match &self.source {
            ImageSource::Base64(data) => BASE64.decode(data.as_bytes()).ok(),
            ImageSource::Url(_) => None,
        }
    }

    /// How many bytes it has; none for one at a URL.
    pub(crate) fn size(&self) -> usize {
        match &self.source {
            ImageSource::Base64(data) => {
                let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
                (data.len() / 4 * 3).saturating_sub(padding)
            }
            ImageSource::Url(_) => 0,
        }
    }

    /// How many bytes it takes in the log.
    pub fn bytes(&self) -> usize {
        match &self.source {
            ImageSource::Base64(data) => data.len(),
            ImageSource::Url(url) => url.len(),
        }
    }
}

/// What every provider that reads pictures reads.
const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The kind of a picture, by its first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn check_address(url: &str) -> Result<(), BadImage> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let plain = |rest: &str| {
        !rest.is_empty() && rest.chars().all(|c| !c.is_control() && !c.is_whitespace())
    };
    if url.len() <= 2048 && rest.is_some_and(plain) {
        return Ok(());
    }
    Err(BadImage::Address { address: url.chars().take(100).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

    #[test]
    fn the_kind_of_a_picture_is_read_from_its_bytes() {
        let png = Image::from_bytes(PNG).unwrap();
        assert_eq!((png.media_type.as_str(), png.check()), ("image/png", Ok(())));
        let kinds = [(&b"\xff\xd8\xff\xe0"[..], "image/jpeg"), (b"GIF89a", "image/gif")];
        for (bytes, kind) in kinds {
            assert_eq!(Image::from_bytes(bytes).unwrap().media_type, kind);
        }
        assert_eq!(Image::from_bytes(b"RIFF1234WEBPVP8 ").unwrap().media_type, "image/webp");
    }

    #[test]
    fn what_no_model_reads_is_refused_with_the_reason() {
        let refused = |bytes: &[u8]| Image::from_bytes(bytes).unwrap_err().to_string();
        let unsupported =
            |kind: &str| format!("unsupported image type \"{kind}\"; use PNG, JPEG, GIF or WebP");
        assert_eq!(refused(b"%PDF-1.7 x"), unsupported("%PDF-1.7"));
        assert_eq!(refused(b""), unsupported(""));
        let svg = Image::at("https://x/y.svg", "image/svg+xml").unwrap_err().to_string();
        assert_eq!(svg, unsupported("image/svg+xml"));
        for bad in
            ["file:///etc/passwd", "javascript:alert(1)", "https://", "https://a b", "data:x"]
        {
            let refused = Image::at(bad, "image/png");
            assert!(matches!(refused, Err(BadImage::Address { .. })), "{bad}");
        }
    }

    #[test]
    fn data_has_to_be_what_it_says() {
        let image = |data: &str| Image {
            media_type: "image/jpeg".to_owned(),
            source: ImageSource::Base64(data.into()),
        };
        assert_eq!(image("not base64!").check(), Err(BadImage::NotBase64));
        let png = Image::from_bytes(PNG).unwrap();
        let ImageSource::Base64(data) = &png.source else { panic!("{png:?}") };
        let refused = image(data).check().unwrap_err().to_string();
        assert_eq!(refused, "the image is declared as image/jpeg, but its bytes are image/png");
    }
}
