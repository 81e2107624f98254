//! A page of a sweep.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use wayhop_report::{Figure, Page, Panel, Section};
use wayhop_sweep::{
    Chart, ChartRequest, Provenance, axis_in_words, capitalised, chart, figure_in_words, made,
};

use super::args::ReportArgs;
use crate::failure::{Failure, usage};

const MOST_METRICS: usize = 12;
/// Plots in one figure.
const MOST_PANELS: usize = 12;

pub(super) fn page(dir: &Path, a: &ReportArgs) -> Result<Page, Failure> {
    let made = made(dir)?.ok_or_else(|| usage!("{}: not the folder of a sweep", dir.display()))?;
    let views = Views::new(&made);
    let mut sections = Vec::new();
    let mut undefined = Vec::new();
    for metric in made.sweep.metrics.iter().take(MOST_METRICS) {
        let name = figure_in_words(metric);
        match views.figures(dir, metric)? {
            Some(figures) => {
                sections.push(Section { heading: capitalised(&name), figures, ..Section::default() });
            }
            None => undefined.push(name),
        }
    }
    let mut text = methods(&made);
    text.extend(views.remark());
    if !undefined.is_empty() {
        text.push(format!(
            "No figure, because undefined in all runs or too large to draw: {}.",
            undefined.join(", ")
        ));
    }
    if made.sweep.metrics.len() > MOST_METRICS {
        let more = made.sweep.metrics.len() - MOST_METRICS;
        text.push(format!("{more} more metrics of the plan are not shown; `wayhop plot sweep` draws them."));
    }
    sections.push(Section { heading: "Methods".to_owned(), text, ..Section::default() });
    let axes: Vec<String> = made.sweep.axes.iter().map(axis_in_words).collect();
    Ok(Page {
        title: format!(
            "{} over {}",
            made.sweep.name,
            if axes.is_empty() { "seeds".to_owned() } else { axes.join(", ") }
        ),
        lead: format!("A sweep: {} of {} runs.", made.done, made.planned),
        facts: Vec::new(),
        command: a.command(),
        sections,
    })
}

/// The axes of the plots, and how the plots of a figure differ.
struct Views {
    x: Option<String>,
    by: Option<String>,
    /// The values to which each plot is restricted.
    only: Vec<Vec<(String, String)>>,
    /// Number of plots without the limit.
    all: usize,
}

impl Views {
    fn new(made: &Provenance) -> Self {
        let varied: Vec<(&str, &[String])> = made
            .sweep
            .axes
            .iter()
            .zip(&made.values)
            .filter(|(axis, values)| !axis.replicate && values.len() > 1)
            .map(|(axis, values)| (axis.name.as_str(), values.as_slice()))
            .collect();
        let is_scale = |(_, values): &&(&str, &[String])| values.iter().all(|v| v.parse::<f64>().is_ok());
        let x = varied.iter().find(is_scale).or(varied.first()).map(|(name, _)| *name);
        let by = varied.iter().map(|(name, _)| *name).find(|name| Some(*name) != x);
        let mut only: Vec<Vec<(String, String)>> = vec![vec![]];
        let mut all = 1;
        for (name, values) in varied.iter().filter(|(name, _)| Some(*name) != x && Some(*name) != by) {
            all *= values.len();
            let with = |one: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
                let more =
                    |v: &String| one.iter().cloned().chain([((*name).to_owned(), v.clone())]).collect();
                values.iter().map(more).collect()
            };
            only = only.iter().flat_map(with).take(MOST_PANELS).collect();
        }
        Self { x: x.map(str::to_owned), by: by.map(str::to_owned), only, all }
    }

    fn remark(&self) -> Option<String> {
        let left = self.all.checked_sub(self.only.len()).filter(|n| *n > 0)?;
        Some(format!(
            "{left} more combinations of values are not shown; `wayhop plot sweep --only` draws them."
        ))
    }

    /// Means and differences of a number; `None` if it is undefined in all runs.
    fn figures(&self, dir: &Path, metric: &str) -> Result<Option<Vec<Figure>>, Failure> {
        if self.x.is_none() {
            return Ok(None);
        }
        let of = |differences: bool| self.figure(dir, metric, differences);
        let Some(means) = of(false)? else { return Ok(None) };
        Ok(Some(std::iter::once(means).chain(of(true)?).collect()))
    }

    /// A plot that cannot be drawn (undefined in all its runs, or no two runs with the same seed) is left out.
    fn figure(&self, dir: &Path, metric: &str, differences: bool) -> Result<Option<Figure>, Failure> {
        let mut panels = Vec::new();
        let mut captions = BTreeSet::new();
        let mut name = String::new();
        for only in &self.only {
            let request = ChartRequest {
                x: self.x.clone(),
                y: Some(metric.to_owned()),
                by: self.by.clone(),
                only: only.clone(),
                differences,
                ..ChartRequest::default()
            };
            let Chart { figure, .. } = match chart(dir, &request) {
                Ok(chart) => chart,
                Err(wayhop_sweep::SweepError::Usage(_)) => continue,
                Err(e) => return Err(e.into()),
            };
            let said: Vec<String> = only.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
            name.clone_from(&figure.name);
            captions.insert(said.iter().fold(figure.caption, |text, s| text.replace(&format!(" {s}."), "")));
            panels.extend(figure.panels.into_iter().map(|p| Panel { title: said.join(", "), ..p }));
        }
        let caption = captions.into_iter().collect::<Vec<_>>().join(" ");
        Ok((!panels.is_empty()).then_some(Figure { name, caption, panels }))
    }
}

/// How the runs were produced, from their plan and their summaries.
fn methods(made: &Provenance) -> Vec<String> {
    let said = |key: &str| {
        made.said.get(key).map_or_else(String::new, |all| all.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    let mut text = format!(
        "{} of {} {} runs of the scenario {:?} ({}) by Wayhop {}. Protocol: {}. Duration: {} s.",
        made.done,
        made.planned,
        wayhop_figures::world_in_words(&said("world")),
        said("scenario"),
        made.sweep.scenario.display(),
        said("wayhop"),
        said("protocol"),
        said("simulated_s"),
    );
    let seeds: Vec<String> = made.seeds.iter().map(u64::to_string).collect();
    _ = write!(text, " Seeds: {}.", seeds.join(", "));
    if !made.sweep.set.is_empty() {
        let set: Vec<String> = made.sweep.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        _ = write!(text, " Set in all runs: {}.", set.join(", "));
    }
    let mut paragraphs = vec![text];
    for (axis, values) in made.sweep.axes.iter().zip(&made.values) {
        let key =
            axis.key.as_deref().filter(|k| *k != axis.name).map_or_else(String::new, |k| format!(" ({k})"));
        let role = if axis.replicate { " (repetitions)" } else { "" };
        paragraphs.push(format!("{}{key}{role}: {}.", axis.name, values.join(", ")));
    }
    paragraphs.push(
        "Means and 95 % intervals are over the runs of each point (Student's t). Differences are between runs with the \
         same seed, which removes their common variation from the interval; runs with different seeds are independent."
            .to_owned(),
    );
    paragraphs
}
