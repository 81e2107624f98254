//! A map: named points, lines and areas from a GeoJSON file (RFC 7946), in the scenario's local frame.

use std::path::PathBuf;
use std::str::FromStr as _;

use geojson::{Feature, GeoJson, GeometryValue};
use wayhop_core::Position;
use wayhop_document::{Document, Error, LineColumn, Result, nearest_or, read_text};
use wayhop_world::{GeoOrigin, Geodetic};

use crate::file::Scenario;

/// The longest map, octets: a site is a few kilobytes.
const MAX_MAP_BYTES: usize = 16 * 1024 * 1024;
const MAX_POINTS: usize = 100_000;
/// No feature is farther from the origin, metres: beyond, a plane that touches the globe is no map.
const MAX_DISTANCE_M: f64 = 100_000.0;

/// What a scenario's map holds. Heights in it are ignored: everything lies in the plane of the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    path: PathBuf,
    features: Vec<MapFeature>,
}

/// One feature.
#[derive(Clone, Debug, PartialEq)]
pub struct MapFeature {
    /// Its property `name`.
    pub name: String,
    /// Its property `kind`.
    pub kind: String,
    /// Where it is.
    pub shape: Shape,
}

/// The geometries that a map may have.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `Point`.
    Point(Position),
    /// `LineString`.
    Line(Vec<Position>),
    /// The outer ring of a `Polygon`; the last corner joins the first.
    Area(Vec<Position>),
}

impl Shape {
    /// The name of its type, how many positions it has, and how many it needs.
    fn positions(&self) -> (&'static str, usize, usize) {
        match self {
            Self::Point(_) => ("Point", 1, 1),
            Self::Line(way) => ("LineString", way.len(), 2),
            Self::Area(corners) => ("Polygon", corners.len(), 3),
        }
    }
}

impl Map {
    /// The scenario's map, or none.
    pub fn load(scenario: &Scenario) -> Result<Option<Self>> {
        let doc = &scenario.document;
        let Some(path) = &scenario.map else { return Ok(None) };
        let Some(origin) = scenario.origin else {
            let remedy = "add: origin = { lat = ..., lon = ... }";
            return Err(doc.error("map", "a map requires an origin for the local frame", remedy));
        };
        let full = doc.folder().join(path);
        let mut map = Self::parse(&read_text(&full)?, origin).map_err(|e| e.in_file(&full))?;
        map.path = full;
        Ok(Some(map))
    }

    /// Reads a FeatureCollection. Features with other geometries than Point, LineString and Polygon are ignored.
    pub fn parse(text: &str, origin: Geodetic) -> Result<Self> {
        if text.len() > MAX_MAP_BYTES {
            let reason = format!("the map has {} bytes; the limit is {MAX_MAP_BYTES}", text.len());
            return Err(Error::new(reason, "remove what the scenario does not use"));
        }
        let wrong = |reason: String| Error::new(reason, "use a GeoJSON FeatureCollection (RFC 7946)");
        let collection = match GeoJson::from_str(text) {
            Ok(GeoJson::FeatureCollection(c)) => c,
            Ok(GeoJson::Feature(_)) => return Err(wrong("it is a single Feature".into())),
            Ok(GeoJson::Geometry(_)) => return Err(wrong("it is a geometry without features".into())),
            Err(geojson::Error::MalformedGeoJson(e)) => {
                let place = LineColumn { line: e.line() as u32, column: e.column() as u32 };
                let error = wrong(format!("it is not GeoJSON ({e})"));
                return Err(if place.line > 0 { error.at(place) } else { error });
            }
            Err(e) => return Err(wrong(format!("it is not GeoJSON ({e})"))),
        };
        let frame = GeoOrigin::new(origin);
        let read = |(i, feature)| {
            read_feature(feature, &frame).map_err(|e| e.key(format!("features[{i}]"))).transpose()
        };
        let features = collection.features.iter().enumerate().filter_map(read).collect::<Result<_>>()?;
        Ok(Self { path: PathBuf::new(), features })
    }

    /// All features.
    pub fn features(&self) -> &[MapFeature] {
        &self.features
    }

    /// The points of a kind.
    pub fn points<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, Position)> {
        self.features.iter().filter(move |f| f.kind == kind).filter_map(|f| match f.shape {
            Shape::Point(p) => Some((f.name.as_str(), p)),
            _ => None,
        })
    }

    /// The line with this name; `key` is where the scenario names it.
    pub(crate) fn line(&self, name: &str, key: &str, doc: &Document) -> Result<&[Position]> {
        self.named(name, "LineString", key, doc, |s| match s {
            Shape::Line(l) => Some(l.as_slice()),
            _ => None,
        })
    }

    /// The area with this name; `key` is where the scenario names it.
    pub(crate) fn area(&self, name: &str, key: &str, doc: &Document) -> Result<&[Position]> {
        self.named(name, "Polygon", key, doc, |s| match s {
            Shape::Area(a) => Some(a.as_slice()),
            _ => None,
        })
    }

    fn named<'a, T>(
        &'a self,
        name: &str,
        type_name: &str,
        key: &str,
        doc: &Document,
        of: impl Fn(&'a Shape) -> Option<T>,
    ) -> Result<T> {
        let found = self.features.iter().filter(|f| f.name == name).find_map(|f| of(&f.shape));
        found.ok_or_else(|| {
            let known = self.features.iter().filter(|f| of(&f.shape).is_some()).map(|f| f.name.as_str());
            let otherwise = format!("add a feature of type {type_name} with the property \"name\": {name:?}");
            let remedy = nearest_or(name, known, otherwise);
            doc.error(key, format!("{} has no {type_name} named {name:?}", self.path.display()), remedy)
        })
    }
}

fn read_feature(feature: &Feature, frame: &GeoOrigin) -> Result<Option<MapFeature>> {
    let text = |key: &str| feature.property(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
    let local = |p: &geojson::Position| {
        let [lon, lat] = *p.as_slice().first_chunk().ok_or_else(|| {
            Error::new("a position has fewer than two numbers", "give longitude and latitude")
        })?;
        // Longitude first (RFC 7946 3.1.1); exchanged, they are often out of range or far away.
        let at = frame.to_local(Geodetic { lat, lon, alt: 0.0 });
        let near =
            (-90.0..=90.0).contains(&lat) && at.x.abs() <= MAX_DISTANCE_M && at.y.abs() <= MAX_DISTANCE_M;
        if near {
            return Ok(Position::new(at.x, at.y, 0.0));
        }
        let reason = format!("longitude {lon}, latitude {lat} is not within 100 km of the scenario's origin");
        Err(Error::new(reason, "check the origin, and that longitude comes first"))
    };
    let many = |ps: &[geojson::Position]| {
        if ps.len() > MAX_POINTS {
            let remedy = "simplify the line";
            return Err(Error::new(format!("{} positions; the limit is {MAX_POINTS}", ps.len()), remedy));
        }
        ps.iter().map(local).collect::<Result<Vec<_>, _>>()
    };
    let Some(geometry) = &feature.geometry else { return Ok(None) };
    let shape = match &geometry.value {
        GeometryValue::Point { coordinates } => Shape::Point(local(coordinates)?),
        GeometryValue::LineString { coordinates } => Shape::Line(many(coordinates)?),
        GeometryValue::Polygon { coordinates } => {
            let mut ring = many(coordinates.first().map_or(&[][..], Vec::as_slice))?;
            // The ring repeats its first corner (RFC 7946 3.1.6).
            if ring.len() > 1 && ring.first() == ring.last() {
                ring.pop();
            }
            Shape::Area(ring)
        }
        _ => return Ok(None),
    };
    let feature = MapFeature { name: text("name"), kind: text("kind"), shape };
    let (type_name, given, needed) = feature.shape.positions();
    if given < needed {
        let remedy = format!("give at least {needed}");
        return Err(Error::new(format!("a {type_name} with {given} positions"), remedy));
    }
    Ok(Some(feature))
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
