//! Right answers in other styles than the solution's. The checks must accept every one of them.

#[path = "alternatives/blocks.rs"]
mod blocks;
#[path = "alternatives/copies.rs"]
mod copies;
#[path = "alternatives/headers.rs"]
mod headers;

use grading::Alternative;

use super::checks::{Implementation, implementation};
use super::solution;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Alternative<Implementation>> {
    let of = implementation!(solution);
    let other = |exercise, name, implementation| Alternative { exercise, name, implementation };
    let (contiguous_strides, position) = (headers::by_products, headers::by_sum);
    let by_layout = headers::by_layout;
    let (permute, narrow) = (headers::by_map, headers::rebuilt);
    vec![
        other("2.1", "products", Implementation { contiguous_strides, position, ..of }),
        other("2.1", "the engine's", Implementation { contiguous_strides: by_layout, ..of }),
        other(
            "2.1",
            "grown from the back",
            Implementation { contiguous_strides: headers::grown, ..of },
        ),
        other("2.2", "collected", Implementation { permute, narrow, ..of }),
        other("2.2", "in pairs", Implementation { permute: headers::by_pairs, ..of }),
        other("2.3", "from the back", Implementation { expand: headers::from_the_back, ..of }),
        other("2.3", "PyTorch's strides", Implementation { expand: headers::as_pytorch, ..of }),
        other("2.4", "the definition", Implementation { view_strides: headers::by_places, ..of }),
        other("2.4", "two fingers", Implementation { view_strides: headers::two_fingers, ..of }),
        other("2.4", "runs first", Implementation { view_strides: headers::by_runs, ..of }),
        other("2.5", "tiles", Implementation { gather: copies::in_tiles, ..of }),
        other("2.5", "small tiles", Implementation { gather: copies::in_small_tiles, ..of }),
        other("2.5", "halves", Implementation { gather: copies::in_halves, ..of }),
        other("2.5", "strips of rows", Implementation { gather: copies::in_strips, ..of }),
        other("2.5", "backwards", Implementation { gather: copies::backwards, ..of }),
        other("2.6", "fused attention", Implementation { attend: blocks::fused, ..of }),
        other("2.6", "four dimensions", Implementation { attend: blocks::four_dims, ..of }),
        other("2.6", "queries scaled", Implementation { attend: blocks::scaled_queries, ..of }),
        other("2.6", "keys first", Implementation { attend: blocks::keys_first, ..of }),
        other("2.6", "head by head", Implementation { attend: blocks::head_by_head, ..of }),
        other("2.6", "rows", Implementation { attend: blocks::in_rows, ..of }),
        other("2.7", "by layouts", Implementation { copied_bytes: copies::by_layouts, ..of }),
        other("2.7", "by cases", Implementation { copied_bytes: copies::by_cases, ..of }),
        other("2.7", "by strides", Implementation { copied_bytes: copies::by_strides, ..of }),
    ]
}
