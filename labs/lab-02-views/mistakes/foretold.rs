//! Wrong predictions of copied bytes: 2.7.

use super::super::attention::{Sizes, grouped_attention};
use super::super::solution::copied_bytes;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [numbers(), exceptions()].into_iter().flatten().collect()
}

fn bytes(diagnosis: &'static str, name: &'static str, f: fn(&Sizes) -> u64) -> Wrong {
    wrong("2.7", diagnosis, name, |table| table.copied_bytes = f)
}

fn numbers() -> Vec<Wrong> {
    vec![
        bytes("2.7-nothing-copies", "views only", |_| 0),
        bytes("2.7-elements", "elements for bytes", |sizes| {
            copied_bytes(sizes) / sizes.dtype.size() as u64
        }),
        bytes("2.7-four-bytes", "always fp32", |sizes| {
            copied_bytes(sizes) / sizes.dtype.size() as u64 * 4
        }),
        bytes("2.7-32-bits", "a product in u32", |sizes| u64::from(copied_bytes(sizes) as u32)),
        bytes("2.7-runs-the-model", "the counters of a run", |sizes| {
            let input = |tokens: usize, heads: usize| {
                let shape = [sizes.batch, tokens, heads * sizes.head_width];
                engine_room::Tensor::zeros(&shape).to(sizes.dtype)
            };
            let q = input(sizes.queries, sizes.heads);
            let (k, v) = (input(sizes.keys, sizes.kv_heads), input(sizes.keys, sizes.kv_heads));
            engine_room::memory::reset_hidden_copies();
            grouped_attention(&q, &k, &v, sizes);
            engine_room::memory::hidden_copies().iter().map(|copies| copies.bytes).sum()
        }),
        bytes("2.7-result-forgotten", "the products only", |sizes| {
            copied_bytes(sizes) - result(sizes)
        }),
        bytes("2.7-only-the-result", "the merge only", result),
        bytes("2.7-keys-as-queries", "one number of tokens", |sizes| {
            copied_bytes(&Sizes { keys: sizes.queries, ..*sizes })
        }),
        bytes("2.7-groups-not-repeated", "keys as they come", |sizes| {
            let of_keys = copied_bytes(sizes) - of_queries(sizes);
            of_queries(sizes) + of_keys / sizes.heads as u64 * sizes.kv_heads as u64
        }),
        bytes("2.7-repeat-is-free", "expand copies nothing", |sizes| {
            match sizes.kv_heads < sizes.heads {
                true => of_queries(sizes),
                false => copied_bytes(sizes),
            }
        }),
        bytes("2.7-copied-again", "repeated and multiplied", |sizes| {
            let own = Sizes { kv_heads: sizes.heads, ..*sizes };
            match sizes.kv_heads < sizes.heads && sizes.kv_heads > 1 {
                true => copied_bytes(sizes) + copied_bytes(&own) - of_queries(sizes),
                false => copied_bytes(sizes),
            }
        }),
    ]
}

fn exceptions() -> Vec<Wrong> {
    vec![
        bytes("2.7-one-group-copies", "one group like two", |sizes| {
            let heads = sizes.heads;
            copied_bytes(&Sizes { kv_heads: sizes.kv_heads.max(2).min(heads), ..*sizes })
        }),
        bytes("2.7-one-group-is-free", "one group costs nothing", |sizes| {
            match sizes.kv_heads == 1 && sizes.heads > 1 {
                true => of_queries(sizes),
                false => copied_bytes(sizes),
            }
        }),
        bytes("2.7-one-sequence", "one sequence like two", |sizes| {
            copied_bytes(&Sizes { batch: 2 * sizes.batch, ..*sizes }) / 2
        }),
        bytes("2.7-one-sequence-merges", "one sequence spares everything", |sizes| {
            match sizes.batch {
                1 => copied_bytes(sizes) - result(sizes),
                _ => copied_bytes(sizes),
            }
        }),
        bytes("2.7-one-token", "one token like two", |sizes| {
            let more = |tokens: usize| if tokens == 1 { 2 } else { 1 };
            let queries = Sizes { queries: 2 * sizes.queries, ..*sizes };
            let of_keys =
                copied_bytes(&Sizes { keys: 2 * sizes.keys, ..*sizes }) - of_queries(sizes);
            let own = copied_bytes(sizes) - of_queries(sizes);
            let of_keys = if more(sizes.keys) == 2 { of_keys / 2 } else { own };
            of_queries(&queries) / 2 + of_keys
        }),
        bytes("2.7-one-key-repeated", "one key spares everything", |sizes| {
            if sizes.keys == 1 { of_queries(sizes) } else { copied_bytes(sizes) }
        }),
        bytes("2.7-one-head", "one head like two", |sizes| {
            let two = Sizes { heads: 2, kv_heads: 2, ..*sizes };
            if sizes.heads == 1 { copied_bytes(&two) / 2 } else { copied_bytes(sizes) }
        }),
    ]
}

/// The copy of the result.
fn result(sizes: &Sizes) -> u64 {
    // With one sequence and as many tokens in all, only the result is copied.
    let tokens = if sizes.queries == 1 { 1 } else { sizes.queries * sizes.batch };
    copied_bytes(&Sizes { batch: 1, queries: tokens, kv_heads: sizes.heads, ..*sizes })
}

/// The copies of queries and result.
fn of_queries(sizes: &Sizes) -> u64 {
    // One key of its own for each head is never copied.
    copied_bytes(&Sizes { keys: 1, kv_heads: sizes.heads, ..*sizes })
}
