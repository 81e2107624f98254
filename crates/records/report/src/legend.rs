//! Samples of series in a legend.

use crate::plot::{Mark, Series};
use crate::svg::colour;

pub(crate) const SAMPLE: (u32, u32) = (24, 12);

/// A sample of how a series is drawn, as SVG within [`SAMPLE`].
pub(crate) fn sample(s: &Series) -> String {
    let hex = colour(s.colour).hex();
    let stroke = format!("fill=\"none\" stroke=\"{hex}\" stroke-width=\"2\"");
    let fill = format!("fill=\"{hex}\"");
    let line = match s.mark {
        Mark::Line | Mark::Steps => format!("<path d=\"M1 6H23\" {stroke}/>"),
        Mark::Rule => format!("<path d=\"M1 6H23\" stroke-dasharray=\"6 4\" {stroke}/>"),
        Mark::Bars(_) => format!("<rect x=\"5\" y=\"0\" width=\"14\" height=\"12\" {fill}/>"),
        _ => String::new(),
    };
    let mark = match s.beads.unwrap_or(s.mark) {
        Mark::Dot => format!("<circle cx=\"12\" cy=\"6\" r=\"3\" {fill}/>"),
        Mark::Disc => format!("<circle cx=\"12\" cy=\"6\" r=\"4\" {fill}/>"),
        Mark::Square => format!("<path d=\"M8 2H16V10H8Z\" {fill}/>"),
        Mark::Triangle => format!("<path d=\"M12 1L17 10H7Z\" {fill}/>"),
        Mark::Diamond => format!("<path d=\"M12 0L17 6L12 12L7 6Z\" {fill}/>"),
        Mark::Cross => format!("<path d=\"M8 2L16 10M16 2L8 10\" {stroke}/>"),
        Mark::Plus => format!("<path d=\"M7 6H17M12 1V11\" {stroke}/>"),
        Mark::Line | Mark::Steps | Mark::Rule | Mark::Bars(_) => String::new(),
    };
    let mark = line + &mark;
    if s.is_joined { format!("<path d=\"M0 6H24\" stroke=\"{hex}\"/>{mark}") } else { mark }
}
