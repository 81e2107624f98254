//! Colours, and the style sheet of a page.

use plotters::style::RGBColor;

/// A colour that the style sheet replaces by the reader's: as a figure has it, and the name of its variable.
pub(crate) struct Ink {
    pub(crate) rgb: RGBColor,
    pub(crate) variable: &'static str,
    dark: &'static str,
}

const fn ink(r: u8, g: u8, b: u8, variable: &'static str, dark: &'static str) -> Ink {
    Ink { rgb: RGBColor(r, g, b), variable, dark }
}

pub(crate) const TEXT: Ink = ink(0x1b, 0x1f, 0x24, "text", "#e6e8eb");
/// Lines behind the data.
pub(crate) const GRID: Ink = ink(0xe3, 0xe6, 0xea, "grid", "#30363d");
/// Rules such as a threshold.
pub(crate) const RULE: Ink = ink(0x6b, 0x72, 0x7c, "rule", "#9aa3ad");
/// The paper, wherever it is drawn beside ours.
pub(crate) const SERIES: [Ink; 6] = [
    // Told apart by readers of any colour vision, in both lights (after Okabe and Ito).
    ink(0x00, 0x6d, 0xae, "s0", "#56b4e9"),
    ink(0xd5, 0x5e, 0x00, "s1", "#ff9142"),
    ink(0x00, 0x8f, 0x68, "s2", "#2fd0a5"),
    ink(0xb0, 0x4f, 0x8a, "s3", "#e597c5"),
    ink(0x8a, 0x6d, 0x00, "s4", "#e9c73b"),
    ink(0x5b, 0x5f, 0x97, "s5", "#a9adf0"),
];

impl Ink {
    pub(crate) fn hex(&self) -> String {
        let RGBColor(r, g, b) = self.rgb;
        format!("#{r:02X}{g:02X}{b:02X}")
    }
}

fn inks() -> impl Iterator<Item = &'static Ink> {
    [&TEXT, &GRID, &RULE].into_iter().chain(&SERIES)
}

pub(crate) fn sheet() -> String {
    let variables = |of: fn(&Ink) -> String| -> String {
        inks().map(|i| format!("--{}:{};", i.variable, of(i))).collect::<Vec<_>>().concat()
    };
    // A figure's own colours are what it has without this page; here they follow the reader's light.
    let figures: String = inks()
        .map(|i| {
            let (hex, v) = (i.hex(), i.variable);
            format!("svg [fill=\"{hex}\"]{{fill:var(--{v})}}svg [stroke=\"{hex}\"]{{stroke:var(--{v})}}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        ":root{{color-scheme:light dark;--page:#fff;--panel:#f6f7f9;--soft:#57606a;--good:#17803d;{}}}\n\
         @media (prefers-color-scheme:dark){{:root{{--page:#14171b;--panel:#1c2126;--soft:#9aa3ad;--good:#4ec77b;{}}}}}\n\
         {BODY}{figures}",
        variables(Ink::hex),
        variables(|i| i.dark.to_owned()),
    )
}

const BODY: &str = "\
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:2.5rem 1.25rem 4rem;background:var(--page);color:var(--text);\
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem;letter-spacing:-.01em}
h2{font-size:1.25rem;margin:3rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--grid)}
p{margin:.5rem 0;max-width:46rem}
p,li,figcaption{overflow-wrap:anywhere}
.lead{font-size:1.05rem;color:var(--soft)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.25rem;margin:1.25rem 0;padding:1rem 1.25rem;\
background:var(--panel);border-radius:.5rem;font-size:.92rem}
.facts dt{color:var(--soft)}
.facts dd{margin:0;overflow-wrap:anywhere}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
nav ul{columns:2;padding-left:1.1rem;margin:1rem 0;font-size:.92rem}
a{color:var(--s0)}
.scroll{overflow-x:auto}
.wide{width:max-content;min-width:100%;max-width:calc(100vw - 2.5rem);position:relative;left:50%;transform:translateX(-50%)}
.wide th{white-space:normal;min-width:3.8rem;max-width:7rem;vertical-align:bottom}
@media print{.wide{position:static;transform:none}}
table{border-collapse:collapse;width:100%;margin:1rem 0;font-size:.9rem;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--soft);border-bottom:1px solid var(--rule)}
th,td{padding:.28rem .6rem;text-align:left;vertical-align:baseline}
td{border-bottom:1px solid var(--grid)}
.n{text-align:right;white-space:nowrap}
.in{color:var(--good)}
.ours{font-weight:600}
sup{font-size:.75em;line-height:0}
.notes{font-size:.85rem;color:var(--soft);padding-left:1.4rem;margin:.4rem 0}
figure{margin:1.5rem 0}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1rem}
.panel h3{font-size:.95rem;margin:0 0 .2rem;font-weight:600}
svg{display:block;width:100%;height:auto}
.narrow{display:none}
@media screen and (max-width:44rem){.narrow{display:block}.wider{display:none}}
svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;list-style:none;margin:.2rem 0;padding:0;font-size:.85rem}
.legend svg{display:inline-block;width:1.5rem;height:.8rem;margin-right:.35rem;vertical-align:-.08rem}
.inset{width:100%;height:44rem;border:1px solid var(--soft);border-radius:4px}
figcaption{margin-top:.5rem;font-size:.9rem;color:var(--soft);max-width:46rem}
figcaption b{color:var(--text)}
@media print{body{max-width:none;padding:0}h2,figure,tr{break-inside:avoid}}
";
