//! The columns of a table of positions, identified by their names, and their units.

use wayhop_document::{Error, Result};

use crate::text::shown;

/// Seconds and metres in units that column names end with.
const TIME_UNITS: [(&str, f64); 4] =
    [("s sec seconds secs", 1.0), ("ms millis", 1e-3), ("us", 1e-6), ("ns", 1e-9)];
const PLACE_UNITS: [(&str, f64); 4] =
    [("m meters metres mps", 1.0), ("km", 1e3), ("cm", 1e-2), ("ft", 0.3048)];
/// What tools put before the names of what they list.
const PREFIXES: [&str; 9] =
    ["timestep_", "vehicle_", "person_", "container_", "position_", "pos_", "location_", "gps_", "coord_"];

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    Time,
    Date,
    Until,
    Node,
    X,
    Y,
    Z,
    Vx,
    Vy,
    Vz,
    Lat,
    Lon,
    Alt,
}

/// What names mean, the better one of several for the same first.
const NAMES: [(Meaning, &str); 13] = [
    (
        Meaning::Time,
        "time t timestamp datetime date_time ts epoch unix_time unixtime utc time_utc utc_time elapsed \
         elapsed_time sim_time simtime seconds sec utc_t recorded_at created_at",
    ),
    (Meaning::Date, "date day utc_d"),
    (Meaning::Until, "until"),
    (
        Meaning::Node,
        "node_name node node_id nodeid name id device device_id deviceid device_name vehicle vehicle_id \
         vehicleid person person_id container_id agent agent_id uav drone drone_id robot user user_id ue track \
         track_id trackid object_id mobile mmsi tag",
    ),
    (Meaning::X, "x x_pos xpos x_position x_coord east easting e"),
    (Meaning::Y, "y y_pos ypos y_position y_coord north northing n"),
    (Meaning::Z, "z z_pos zpos z_position z_coord up u"),
    (Meaning::Vx, "vx"),
    (Meaning::Vy, "vy"),
    (Meaning::Vz, "vz"),
    (Meaning::Lat, "lat latitude lat_deg latitude_deg lat_wgs84"),
    (Meaning::Lon, "lon lng long longitude lon_deg longitude_deg lon_wgs84"),
    (Meaning::Alt, "alt altitude ele elevation height alt_msl altitude_msl height_msl"),
];

/// A column: where it is, and what a one in it is in seconds or metres; `None` if its name does not say.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) at: usize,
    pub(crate) unit: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    found: Vec<(Meaning, usize, Column)>,
    /// The names of those that say nothing of a place.
    pub(crate) unknown: Vec<String>,
}

impl Columns {
    /// By the names in the first line of a table.
    pub(crate) fn of(header: &[String]) -> Result<Self> {
        let mut all = Self::default();
        for (at, written) in header.iter().enumerate() {
            let Some((meaning, rank, unit)) = meaning(written) else {
                all.unknown.push(written.trim().to_owned());
                continue;
            };
            let column = Column { at, unit };
            match all.found.iter_mut().find(|(m, ..)| *m == meaning) {
                Some(known) if known.1 <= rank => all.unknown.push(written.trim().to_owned()),
                Some(known) => {
                    all.unknown.push(header[known.2.at].trim().to_owned());
                    *known = (meaning, rank, column);
                }
                None => all.found.push((meaning, rank, column)),
            }
        }
        // A date without a time beside it has one in it.
        if all.get(Meaning::Time).is_none() {
            all.found.iter_mut().filter(|f| f.0 == Meaning::Date).for_each(|f| f.0 = Meaning::Time);
        }
        let has = |m| all.get(m).is_some();
        if !has(Meaning::Time)
            || !((has(Meaning::X) && has(Meaning::Y)) || (has(Meaning::Lat) && has(Meaning::Lon)))
        {
            let names: Vec<String> = header.iter().take(12).map(|n| shown(n.trim())).collect();
            let what = format!("no columns for the time and the place among {}", names.join(", "));
            let remedy =
                "name the columns in the first line: time, node, and x, y, z in metres or lat, lon, alt";
            return Err(Error::new(what, remedy));
        }
        all.leave_out_second_places(header);
        Ok(all)
    }

    pub(crate) fn get(&self, meaning: Meaning) -> Option<Column> {
        self.found.iter().find(|(m, ..)| *m == meaning).map(|(.., column)| *column)
    }

    /// Degrees, if there are both degrees and metres: metres may count from anywhere.
    pub(crate) fn are_degrees(&self) -> bool {
        self.get(Meaning::Lat).is_some() && self.get(Meaning::Lon).is_some()
    }

    /// Whether the names say that x and y are metres.
    pub(crate) fn says_metres(&self) -> bool {
        self.get(Meaning::X).is_some_and(|c| c.unit.is_some())
    }

    fn leave_out_second_places(&mut self, header: &[String]) {
        let (degrees, has_z) = (self.are_degrees(), self.get(Meaning::Z).is_some());
        let is_unused = |m: Meaning| match m {
            Meaning::X | Meaning::Y | Meaning::Z | Meaning::Vx | Meaning::Vy | Meaning::Vz => degrees,
            Meaning::Lat | Meaning::Lon => !degrees,
            Meaning::Alt => !degrees && has_z,
            _ => false,
        };
        for (m, _, column) in &mut self.found {
            // Heights beside x and y are as good as z.
            if *m == Meaning::Alt && !degrees && !has_z {
                *m = Meaning::Z;
            } else if is_unused(*m) {
                self.unknown.push(header[column.at].trim().to_owned());
            }
        }
        self.found.retain(|(m, ..)| !is_unused(*m));
    }
}

/// What a name means, how good it is, and in what its numbers count.
fn meaning(written: &str) -> Option<(Meaning, usize, Option<f64>)> {
    let short: String = written.trim().chars().take(60).collect();
    let words = short.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let plain = words.collect::<Vec<_>>().join("_").to_ascii_lowercase();
    let by_prefix = PREFIXES.iter().find_map(|p| plain.strip_prefix(p));
    [Some(plain.as_str()), by_prefix].into_iter().flatten().find_map(|name| {
        exact(name).map(|(m, rank)| (m, rank, None)).or_else(|| {
            let (name, unit) = name.rsplit_once('_')?;
            let (m, rank) = exact(name)?;
            let units: &[(&str, f64)] = match m {
                Meaning::Time | Meaning::Until => &TIME_UNITS,
                Meaning::Node | Meaning::Date | Meaning::Lat | Meaning::Lon => &[],
                _ => &PLACE_UNITS,
            };
            let factor = units.iter().find(|(names, _)| names.split(' ').any(|n| n == unit))?.1;
            Some((m, rank, Some(factor)))
        })
    })
}

fn exact(name: &str) -> Option<(Meaning, usize)> {
    NAMES.iter().find_map(|(m, names)| Some((*m, names.split(' ').position(|n| n == name)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &str) -> Result<Columns> {
        Columns::of(&header.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn columns_are_known_by_many_names() {
        use Meaning::{Alt, Lat, Lon, Node, Time, Vx, X, Y, Z};
        // Headers as tools write them, and where things are.
        for (header, places, unknown) in [
            (
                "time_ns,node,x_m,y_m,z_m,vx_mps,vy_mps,vz_mps,until_ns",
                &[(Time, 0, Some(1e-9)), (Node, 1, None), (X, 2, Some(1.0)), (Vx, 5, Some(1.0))][..],
                0,
            ),
            (
                "Timestamp,Device ID,Latitude,Longitude,Altitude (m),Speed",
                &[(Time, 0, None), (Node, 1, None), (Lat, 2, None), (Lon, 3, None), (Alt, 4, Some(1.0))],
                1,
            ),
            (
                "timestep_time,vehicle_angle,vehicle_id,vehicle_x,vehicle_y",
                &[(Time, 0, None), (Node, 2, None), (X, 3, None), (Y, 4, None)],
                1,
            ),
            (
                "t [ms],name,X (km),Y (km),height",
                &[(Time, 0, Some(1e-3)), (X, 2, Some(1e3)), (Z, 4, None)],
                0,
            ),
            ("id,name,node,time,x,y", &[(Node, 2, None)], 2),
            ("time,lat,lng,x,y", &[(Lat, 1, None), (Lon, 2, None)], 2),
        ] {
            let all = columns(header).unwrap();
            for (meaning, at, unit) in places {
                assert_eq!(all.get(*meaning), Some(Column { at: *at, unit: *unit }), "{header}: {meaning:?}");
            }
            assert_eq!(all.unknown.len(), unknown, "{header}: {:?}", all.unknown);
        }
        for header in ["", "x,y", "time,x", "0.0,1,5,7", "time,lat,y"] {
            assert!(columns(header).unwrap_err().remedy.contains("time, node, and x, y, z"), "{header}");
        }
    }
}
