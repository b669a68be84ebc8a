//! Figures as SVG: lines over axes with units, or horizontal bars.
//!
//! Text and axes are drawn in `currentColor`, so that a page in a dark theme shows them light. The
//! series' colours have a contrast of at least 3 to 1 on white and on near-black, and each series
//! has a marker of its own, so that no reader needs the colours.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::axis::{Axis, Scale};
use crate::drawing::{Area, in_text_colour};

const SIZE: (u32, u32) = (720, 420);
const COLOURS: [RGBColor; 4] = [
    RGBColor(0x3b, 0x82, 0xc4),
    RGBColor(0xc2, 0x57, 0x1a),
    RGBColor(0x2e, 0x8b, 0x57),
    RGBColor(0xb0, 0x55, 0x9b),
];

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

/// A figure: series of points, or bars.
pub struct Plot {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<(String, Vec<(f64, f64)>)>,
    bars: Vec<(String, f64)>,
}

impl Plot {
    /// A figure with this title, still without data. `x` and `y` are the axes' titles and units;
    /// the units `bytes` and `seconds` are written as `4 KiB` and `190 ns`.
    pub fn lines(title: &str, x: (&str, &str), y: (&str, &str)) -> Plot {
        let (x, y) = (Axis::new(x.0, x.1), Axis::new(y.0, y.1));
        Plot { title: title.to_string(), x, y, series: Vec::new(), bars: Vec::new() }
    }

    /// Horizontal bars; `x` is the title and the unit of what their length says.
    pub fn bars(title: &str, x: (&str, &str)) -> Plot {
        Plot::lines(title, x, ("", ""))
    }

    /// Makes the horizontal axis logarithmic; points that are not above 0 are left out.
    pub fn log_x(mut self) -> Plot {
        self.x.log = true;
        self
    }

    /// Makes the vertical axis logarithmic; points that are not above 0 are left out.
    pub fn log_y(mut self) -> Plot {
        self.y.log = true;
        self
    }

    /// Adds a line with a marker at each point.
    pub fn series(&mut self, name: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        self.series.push((name.to_string(), points.into_iter().collect()));
    }

    /// Adds a bar.
    pub fn bar(&mut self, label: &str, value: f64) {
        self.bars.push((label.to_string(), value));
    }

    /// The figure as SVG text, the same on every system.
    ///
    /// # Errors
    /// If there is no data, or a series has no point that the axes can show.
    pub fn svg(&self) -> Result<String, String> {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let drawn =
            if self.bars.is_empty() { self.draw_lines(&area) } else { self.draw_bars(&area) };
        drawn.map_err(|e| format!("the figure '{}' cannot be drawn: {e}", self.title))?;
        drop(area);
        Ok(in_text_colour(&text))
    }

    /// Figures one below the other, as one.
    ///
    /// # Errors
    /// As [`Plot::svg`].
    pub fn stacked(plots: &[Plot]) -> Result<String, String> {
        let (width, height) = (SIZE.0, SIZE.1 * plots.len() as u32);
        let mut text = format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n"
        );
        for (i, plot) in plots.iter().enumerate() {
            // What stands between its own `<svg ..>` and `</svg>`, as a group: a page has one text
            // for a whole figure.
            let svg = plot.svg()?;
            let start = svg.find('>').map_or(0, |bracket| bracket + 1);
            let inside = &svg[start..svg.rfind("</svg>").unwrap_or(svg.len())];
            let y = SIZE.1 * i as u32;
            text += &format!("<g transform=\"translate(0,{y})\">{inside}</g>\n");
        }
        Ok(text + "</svg>\n")
    }

    fn draw_lines(&self, area: &Area) -> Result<(), String> {
        let shown = self.shown()?;
        let (head, body) = area.split_vertically(56);
        draw_title(&head, &self.title)?;
        for (i, (name, _)) in self.series.iter().enumerate() {
            let before: usize = self.series[..i].iter().map(|(n, _)| n.chars().count() + 6).sum();
            let at = (78 + 7 * before as i32, 42);
            draw(head.draw(&PathElement::new([(at.0 - 12, at.1), (at.0 + 12, at.1)], stroke(i))))?;
            draw_marker(&head, at, i)?;
            draw(head.draw(&Text::new(name.clone(), (at.0 + 18, at.1), label(HPos::Left))))?;
        }
        let x = self.x.scale(shown.iter().flatten().map(|p| p.0));
        let y = self.y.scale(shown.iter().flatten().map(|p| p.1));
        let mut chart = chart(&body, 74, x, y)?;
        self.mesh(&mut chart)?;
        for (i, points) in shown.iter().enumerate() {
            draw(chart.draw_series(LineSeries::new(points.iter().copied(), stroke(i))))?;
            let plane = chart.plotting_area();
            for point in points {
                draw_marker(area, plane.map_coordinate(point), i)?;
            }
        }
        Ok(())
    }

    /// The points in the axes' own coordinates, without those that a logarithm cannot show.
    fn shown(&self) -> Result<Vec<Vec<(f64, f64)>>, String> {
        let place = |&(x, y): &(f64, f64)| Some((self.x.place(x)?, self.y.place(y)?));
        let mut shown = Vec::new();
        for (name, points) in &self.series {
            let points: Vec<_> = points.iter().filter_map(place).collect();
            if points.is_empty() {
                return Err(format!("series '{name}' has no point that the axes can show"));
            }
            shown.push(points);
        }
        if shown.is_empty() { Err("it has no data".to_string()) } else { Ok(shown) }
    }

    fn mesh(&self, chart: &mut Chart) -> Result<(), String> {
        let grid = BLACK.mix(0.15);
        draw(
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(grid)
                .axis_style(BLACK)
                .label_style(("sans-serif", 14))
                .axis_desc_style(("sans-serif", 15))
                .x_desc(self.x.title())
                .y_desc(self.y.title())
                .x_label_formatter(&|x| self.x.label(*x))
                .y_label_formatter(&|y| self.y.label(*y))
                .draw(),
        )
    }

    fn draw_bars(&self, area: &Area) -> Result<(), String> {
        let (head, body) = area.split_vertically(32);
        draw_title(&head, &self.title)?;
        let longest = self.bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut x = self.x.scale(self.bars.iter().map(|b| b.1).chain([0.0]));
        x.range.end += 0.14 * (x.range.end - x.range.start);
        let rows = self.bars.len() as f64;
        let ticks = (0..self.bars.len()).map(|i| rows - i as f64 - 0.5).collect();
        let y = Scale { range: 0.0..rows, ticks };
        let left = 8 * longest as u32 + 20;
        let mut chart = chart(&body, left, x, y)?;
        let name = |y: &f64| self.bars[(rows - y - 0.5).round() as usize].0.clone();
        draw(
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(BLACK.mix(0.15))
                .disable_y_mesh()
                .label_style(("sans-serif", 14))
                .axis_desc_style(("sans-serif", 15))
                .x_desc(self.x.title())
                .x_label_formatter(&|x| self.x.label(*x))
                .y_label_formatter(&name)
                .draw(),
        )?;
        for (i, &(_, value)) in self.bars.iter().enumerate() {
            let y = rows - i as f64 - 0.5;
            let bar = Rectangle::new([(0.0, y - 0.32), (value, y + 0.32)], COLOURS[0].filled());
            draw(chart.draw_series([bar]))?;
            let (x, y) = chart.plotting_area().map_coordinate(&(value, y));
            let text = Text::new(self.x.label(value), (x + 6, y), label(HPos::Left));
            draw(area.draw(&text))?;
        }
        Ok(())
    }
}

fn chart<'a, 'b>(area: &Area<'b>, left: u32, x: Scale, y: Scale) -> Result<Chart<'a, 'b>, String> {
    ChartBuilder::on(area)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(46)
        .y_label_area_size(left)
        .build_cartesian_2d(x, y)
        .map_err(|e| e.to_string())
}

fn draw<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), String> {
    result.map(|_| ()).map_err(|e| e.to_string())
}

fn stroke(series: usize) -> ShapeStyle {
    COLOURS[series % COLOURS.len()].stroke_width(2)
}

fn label(horizontal: HPos) -> TextStyle<'static> {
    let style = TextStyle::from(("sans-serif", 14).into_font());
    style.pos(Pos::new(horizontal, VPos::Center))
}

/// The series' own marker: a dot, a triangle, a cross, a square.
fn draw_marker(area: &Area, at: (i32, i32), series: usize) -> Result<(), String> {
    let colour = COLOURS[series % COLOURS.len()];
    match series % COLOURS.len() {
        0 => draw(area.draw(&Circle::new(at, 4, colour.filled()))),
        1 => draw(area.draw(&TriangleMarker::new(at, 6, colour.filled()))),
        2 => draw(area.draw(&Cross::new(at, 5, colour.stroke_width(2)))),
        _ => {
            let corners = [(at.0 - 4, at.1 - 4), (at.0 + 4, at.1 + 4)];
            draw(area.draw(&Rectangle::new(corners, colour.filled())))
        }
    }
}

fn draw_title(area: &Area, title: &str) -> Result<(), String> {
    let style = TextStyle::from(("sans-serif", 17).into_font());
    let style = style.pos(Pos::new(HPos::Left, VPos::Center));
    draw(area.draw(&Text::new(title.to_string(), (14, 18), style)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_carries_its_titles_and_units_and_no_black() {
        let mut plot = Plot::lines("Who grows?", ("batch", "images"), ("saved", "bytes")).log_x();
        plot.series("activations", [(1.0, 4096.0), (8.0, 32768.0)]);
        plot.series("parameters", [(0.0, 0.0), (8.0, 8192.0)]);
        let svg = plot.svg().unwrap();
        for text in ["Who grows?", "batch (images)", "saved", "32 KiB", "activations", "viewBox"] {
            assert!(svg.contains(text), "{text} is not in the figure");
        }
        assert!(!svg.contains("#000000") && !svg.contains("NaN"));
        assert_eq!(svg, plot.svg().unwrap());
    }

    #[test]
    fn stacked_figures_stand_one_below_the_other() {
        let plot = |title| {
            let mut plot = Plot::lines(title, ("epoch", ""), ("loss", ""));
            plot.series("training", [(1.0, 2.0), (2.0, 1.0)]);
            plot
        };
        let svg = Plot::stacked(&[plot("Upper"), plot("Lower")]).unwrap();
        let lower = svg.find("translate(0,420)").expect("the second one starts below the first");
        assert!(svg[..lower].contains("Upper") && svg[lower..].contains("Lower"));
        assert_eq!((svg.matches("<svg ").count(), svg.matches("</svg>").count()), (1, 1));
        assert_eq!((svg.matches("<g ").count(), svg.matches("</g>").count()), (2, 2));
        let empty = [plot("Upper"), Plot::lines("Empty", ("x", ""), ("y", ""))];
        assert!(Plot::stacked(&empty).unwrap_err().contains("'Empty'"));
    }

    #[test]
    fn a_figure_without_data_is_an_error() {
        let plot = Plot::lines("Empty", ("x", ""), ("y", ""));
        assert_eq!(plot.svg().unwrap_err(), "the figure 'Empty' cannot be drawn: it has no data");
    }

    #[test]
    fn bars_are_labelled_with_name_and_value() {
        let mut plot = Plot::bars("Where the bytes are", ("saved", "bytes"));
        plot.bar("MatMul", 6144.0);
        plot.bar("Relu", 0.0);
        let svg = plot.svg().unwrap();
        assert!(svg.contains("MatMul") && svg.contains("6 KiB") && svg.contains("0 B"));
    }
}
