//! GPX and KML of phones, watches and converters.

use wayhop_import::{Heights, gpx, kml};

use crate::{Outcome, expected, outcome};

/// A point every second north of 51.2 degrees by a ten-thousandth of a degree, which is 11.125 m (WGS 84: 111,252 m a degree there).
fn gpx_point(i: u32, time: &str, more: &str) -> String {
    format!(
        "<trkpt lat=\"{:.6}\" lon=\"9.500000\">{more}<time>{time}</time></trkpt>\n",
        51.2 + f64::from(i) * 1e-4
    )
}

fn second(s: u32) -> String {
    format!("2024-03-07T08:15:{s:02}Z")
}

/// A file with one track of these points, in lines 3 and following.
fn gpx_file(points: &[String]) -> String {
    format!("<?xml version=\"1.0\"?>\n<gpx><trk><trkseg>\n{}</trkseg></trk></gpx>\n", points.concat())
}

/// Ten points, a second apart.
fn plain() -> Vec<String> {
    (0..10).map(|i| gpx_point(i, &second(i), "")).collect()
}

/// The same with another one at one place.
fn replaced(at: usize, by: String) -> String {
    let mut all = plain();
    all[at] = by;
    gpx_file(&all)
}

fn north(m: i64) -> Vec<[i64; 3]> {
    vec![[0, m, 0]]
}

fn check_gpx(cases: Vec<(&str, String, Outcome)>) {
    for (name, text, wanted) in cases {
        let made =
            gpx(&[("dir/walk.gpx".as_ref(), &text)], Heights::Read).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut got = outcome(&made);
        got.duration_s = got.duration_s.round();
        assert_eq!(got, wanted, "{name}");
    }
}

#[test]
fn gpx_with_places_that_cannot_be() {
    let cases: Vec<(&str, String, Outcome)> = vec![
        (
            "a phone that writes whole seconds and has two points in one",
            replaced(4, gpx_point(4, &second(3), "")),
            expected("walk", 9.0, &north(100), &["1 place with the same time as the next one (line 6)"]),
        ),
        (
            "a Garmin Vista with a date 1024 weeks ahead",
            replaced(4, gpx_point(4, "2043-10-22T08:15:04Z", "")),
            expected("walk", 9.0, &north(100), &["1 place out of order in time (line 7)"]),
        ),
        (
            "the same at the last point",
            replaced(9, gpx_point(9, "2043-10-22T08:15:09Z", "")),
            expected("walk", 8.0, &north(89), &["1 place dated 30 days or more from the others (line 12)"]),
        ),
        (
            "a receiver that begins in 1980",
            replaced(0, gpx_point(0, "1980-01-06T00:00:00Z", "")),
            // The first place that counts is the second one.
            expected("walk", 8.0, &north(100), &["1 place dated 30 days or more from the others (line 3)"]),
        ),
        (
            "a logger that begins at 0, 0",
            replaced(0, "<trkpt lat=\"0.0\" lon=\"0.0\"><time>2024-03-07T08:15:00Z</time></trkpt>\n".to_owned()),
            expected("walk", 8.0, &north(89), &["1 place 200 km or more from the others (line 3)"]),
        ),
        (
            "a phone whose battery went empty while it wrote the time of the tenth point",
            gpx_file(&plain()).split("9Z</time>").next().unwrap().to_owned(),
            expected(
                "walk",
                8.0,
                &north(89),
                &["1 unfinished element at the end of the file (line 12)", "1 point without <time> (line 12)"],
            ),
        ),
        (
            "GPSBabel: a point without a time, one with an empty place",
            replaced(5, "<trkpt lat=\"51.2\" lon=\"9.5\"/> <trkpt lat=\"\" lon=\"9.5\"><time>2024-03-07T08:15:05Z</time></trkpt>\n".to_owned()),
            expected(
                "walk",
                9.0,
                &north(100),
                &["1 point without <time> (line 8)", "1 point without a place on the globe (line 8)"],
            ),
        ),
    ];
    check_gpx(cases);
}

#[test]
fn gpx_of_many_programs() {
    let cases: Vec<(&str, String, Outcome)> = vec![
        (
            "Garmin Connect: heart rates, heights, milliseconds",
            gpx_file(
                &(0..10)
                    .map(|i| {
                        let more = format!(
                            "<ele>{}.0</ele><extensions><ns3:hr xmlns:ns3=\"x\">90</ns3:hr></extensions>",
                            100 + i
                        );
                        gpx_point(i, &format!("2024-03-07T08:15:{i:02}.000Z"), &more)
                    })
                    .collect::<Vec<_>>(),
            ),
            expected("walk", 9.0, &[[0, 100, 9]], &[]),
        ),
        (
            "OpenTracks: zones, two segments with a pause",
            format!(
                "<gpx><trk><name><![CDATA[my ride]]></name><trkseg>{}</trkseg><trkseg>{}</trkseg></trk></gpx>",
                gpx_point(0, "2024-03-07T09:15:00.100+01:00", ""),
                gpx_point(9, "2024-03-07T09:15:30.100+01:00", "")
            ),
            expected("my ride", 30.0, &north(100), &[]),
        ),
        (
            "segments with the newest first",
            format!(
                "<gpx><trk><trkseg>{}</trkseg><trkseg>{}</trkseg></trk></gpx>",
                [5, 6, 7, 8, 9].map(|i| gpx_point(i, &second(i), "")).concat(),
                [0, 1, 2, 3, 4].map(|i| gpx_point(i, &second(i), "")).concat()
            ),
            expected("walk", 9.0, &north(100), &[]),
        ),
        (
            "a list that is written from its end",
            // The place of the list's first line, which is the last one in time, is the origin.
            gpx_file(&plain().into_iter().rev().collect::<Vec<_>>()),
            expected("walk", 9.0, &north(0), &[]),
        ),
    ];
    check_gpx(cases);
}

/// A track from 9.5 to 9.502 degrees east at 51.2 degrees, 139.77 m (WGS 84: 69,884 m a degree there), in 20 s.
const TRACK: &str = "<Placemark><name>rider</name><gx:Track>\n\
    <when>2024-03-07T08:15:00Z</when><when>2024-03-07T08:15:10Z</when><when>2024-03-07T08:15:20Z</when>\n\
    <gx:coord>9.500 51.200 100</gx:coord><gx:coord>9.501 51.200 100</gx:coord><gx:coord>9.502 51.200 110</gx:coord>\n\
    </gx:Track></Placemark>\n";

fn kml_file(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\" xmlns:gx=\"http://www.google.com/kml/ext/2.2\">\n\
         <Document><name>ride</name>\n{content}</Document></kml>\n"
    )
}

#[test]
fn kml_of_many_programs() {
    let timed = |name: &str, s: u32, lon: &str| {
        format!(
            "<Placemark><name>{name}</name><TimeStamp><when>{}</when></TimeStamp>\
             <Point><coordinates>{lon},51.200,100</coordinates></Point></Placemark>\n",
            second(s)
        )
    };
    let line = "<Placemark><name>path</name><LineString><coordinates>9.5,51.2,100 9.502,51.2,100</coordinates></LineString></Placemark>\n";
    let area = "<Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>9,51 9,52 10,51</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>\n";
    let rider = || vec![[140, 0, 0]];
    let cases: Vec<(&str, String, Outcome)> = vec![
        (
            "My Tracks and OpenTracks: start and end beside the track",
            kml_file(&[timed("start", 0, "9.500"), TRACK.to_owned(), timed("end", 20, "9.502")].concat()),
            expected("rider", 20.0, &rider(), &["2 timed points next to tracks (lines 4 and 9)"]),
        ),
        (
            "GPSBabel -o kml,track=1: the path beside the track",
            kml_file(&[line, TRACK].concat()),
            expected("rider", 20.0, &rider(), &["1 line, area or model, which has no times (line 4)"]),
        ),
        (
            "Google Earth: an area, a picture and a place with a pin",
            kml_file(&[area, "<GroundOverlay/>\n", TRACK, "<Placemark><name>pin</name><Point><coordinates>9.5,51.2</coordinates></Point></Placemark>\n"].concat()),
            expected("rider pin", 20.0, &[[140, 0, 0], [0, 0, 0]], &["1 line, area or model, which has no times (line 4)"]),
        ),
        (
            "a track of Google Earth with a model of the car, absolute heights",
            kml_file(&TRACK.replace("<gx:Track>", "<gx:Track><altitudeMode>absolute</altitudeMode><Model><Link/></Model>")),
            expected("rider", 20.0, &[[140, 0, 10]], &[]),
        ),
        (
            "a gx:MultiTrack of two parts",
            kml_file(
                "<Placemark><name>rider</name><gx:MultiTrack>\n\
                 <gx:Track><when>2024-03-07T08:15:00Z</when><gx:coord>9.500 51.200 0</gx:coord></gx:Track>\n\
                 <gx:Track><when>2024-03-07T08:15:20Z</when><gx:coord>9.502 51.200 0</gx:coord></gx:Track>\n\
                 </gx:MultiTrack></Placemark>\n",
            ),
            expected("rider", 20.0, &rider(), &[]),
        ),
        (
            "GPSBabel without track=1: a folder of points with times, and the path",
            kml_file(&format!(
                "<Folder><name>Tracks</name><Folder><name>bike</name><Folder><name>Points</name>\n{}{}</Folder>\n{line}</Folder></Folder>",
                timed("bike-0", 0, "9.500"),
                timed("bike-1", 20, "9.502")
            )),
            expected("bike", 20.0, &rider(), &["1 line, area or model, which has no times (line 8)"]),
        ),
        (
            "a tracker that lists each message as a point",
            kml_file(&[timed("msg 1", 0, "9.500"), timed("msg 2", 20, "9.502")].concat()),
            expected("ride", 20.0, &rider(), &[]),
        ),
    ];
    for (name, text, wanted) in cases {
        let made =
            kml(&[("dir/ride.kml".as_ref(), &text)], Heights::Read).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(outcome(&made), wanted, "{name}");
    }
}
