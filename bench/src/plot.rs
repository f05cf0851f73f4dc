//! A plot of one series, as SVG.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
const MARGIN: f64 = 40.0;

/// A plot of `(x, y)` points under a title, from zero upwards.
pub fn plot(title: &str, points: &[(f64, f64)]) -> String {
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN_POSITIVE, f64::max);
    let (x_most, y_most) =
        (most(&mut points.iter().map(|p| p.0)), most(&mut points.iter().map(|p| p.1)));
    let x = |value: f64| MARGIN + value / x_most * (WIDTH - 2.0 * MARGIN);
    let y = |value: f64| HEIGHT - MARGIN - value / y_most * (HEIGHT - 2.0 * MARGIN);
    let mut line = String::new();
    for (px, py) in points {
        let _ = write!(line, "{:.1},{:.1} ", x(*px), y(*py));
    }
    let (bottom, right) = (HEIGHT - MARGIN, WIDTH - MARGIN);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>
<text x="{MARGIN}" y="20">{title}</text>
<path d="M{MARGIN},{MARGIN} V{bottom} H{right}" fill="none" stroke="#888"/>
<text x="{MARGIN}" y="{:.0}">0</text>
<text x="{right}" y="{:.0}" text-anchor="end">{x_most:.0}</text>
<text x="{:.0}" y="{:.0}" text-anchor="end">{y_most:.0}</text>
<polyline points="{}" fill="none" stroke="#2563eb" stroke-width="1.5"/>
</svg>
"##,
        bottom + 16.0,
        bottom + 16.0,
        MARGIN - 4.0,
        y(y_most) + 4.0,
        line.trim_end()
    )
}
