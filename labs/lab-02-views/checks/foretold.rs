//! Wrong ways to foretell the copies of 2.7, each a rule with one flaw.

use super::super::attention::Sizes;

/// What is thought wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// No reshape copies.
    NothingCopies,
    /// Elements, not bytes.
    Elements,
    /// Four bytes a number, whatever the type.
    FourBytes,
    /// The merge of the result is left out.
    NoResult,
    /// Only that merge copies, as if products took any strides.
    OnlyResult,
    /// Keys and values count as many tokens as there are queries.
    KeysAsQueries,
    /// Shared heads are counted once a group.
    Groups,
    /// Repeating by stride 0 is free.
    RepeatIsFree,
    /// Repeated heads are copied again in the product.
    CopiedAgain,
    /// One group is like several.
    OneGroupCopies,
    /// One group is free, in the product too.
    OneGroupIsFree,
    /// A batch of 1 changes nothing.
    Batch,
    /// A batch of 1 spares the copy of the result too.
    BatchOfResult,
    /// One token changes nothing.
    Tokens,
    /// One key spares the repetition too.
    OneKey,
    /// One head changes nothing.
    Heads,
}

/// The bytes that come of it.
pub fn foretold(sizes: &Sizes, flaw: Flaw) -> u64 {
    let one = |size: usize, unseen: Flaw| size == 1 && flaw != unseen;
    let (b, h) = (one(sizes.batch, Flaw::Batch), one(sizes.heads, Flaw::Heads));
    let (l, s) = (one(sizes.queries, Flaw::Tokens), one(sizes.keys, Flaw::Tokens));
    let shared = sizes.kv_heads < sizes.heads;
    let queries = !(b || h || l || flaw == Flaw::OnlyResult);
    let result = !(h || l || flaw == Flaw::NoResult || (b && flaw == Flaw::BatchOfResult));
    let keys = match sizes.kv_heads {
        _ if flaw == Flaw::OnlyResult => 0,
        _ if !shared => 2 * usize::from(!(b || h || s)),
        _ if flaw == Flaw::RepeatIsFree || (s && flaw == Flaw::OneKey) => 0,
        _ if flaw == Flaw::CopiedAgain => 2 + 2 * usize::from(!(b || s)),
        1 if flaw == Flaw::OneGroupIsFree => 0,
        1 if flaw != Flaw::OneGroupCopies => 2 * usize::from(!b),
        _ => 2,
    };
    let heads = if flaw == Flaw::Groups { sizes.kv_heads } else { sizes.heads };
    let asked = if flaw == Flaw::KeysAsQueries { sizes.queries } else { sizes.keys };
    let tokens = (usize::from(queries) + usize::from(result)) * sizes.queries * sizes.heads;
    let numbers = sizes.batch * sizes.head_width * (tokens + keys * asked * heads);
    let bytes = match flaw {
        Flaw::NothingCopies => 0,
        Flaw::Elements => 1,
        Flaw::FourBytes => 4,
        _ => sizes.dtype.size(),
    };
    (numbers * bytes) as u64
}

/// Every flaw with its key and its thought, the common ones first.
pub const THOUGHTS: &[(Flaw, &str, &str)] = &[
    (Flaw::NothingCopies, "2.7-nothing-copies", NOTHING),
    (Flaw::Elements, "2.7-elements", ELEMENTS),
    (Flaw::FourBytes, "2.7-four-bytes", FOUR),
    (Flaw::NoResult, "2.7-result-forgotten", RESULT),
    (Flaw::OnlyResult, "2.7-only-the-result", ONLY),
    (Flaw::KeysAsQueries, "2.7-keys-as-queries", ASKED),
    (Flaw::Groups, "2.7-groups-not-repeated", GROUPS),
    (Flaw::RepeatIsFree, "2.7-repeat-is-free", FREE),
    (Flaw::CopiedAgain, "2.7-copied-again", AGAIN),
    (Flaw::OneGroupCopies, "2.7-one-group-copies", ONE_COPIES),
    (Flaw::OneGroupIsFree, "2.7-one-group-is-free", ONE_FREE),
    (Flaw::Batch, "2.7-one-sequence", BATCH),
    (Flaw::BatchOfResult, "2.7-one-sequence-merges", MERGES),
    (Flaw::Tokens, "2.7-one-token", TOKENS),
    (Flaw::OneKey, "2.7-one-key-repeated", ONE_KEY),
    (Flaw::Heads, "2.7-one-head", HEADS),
];

const NOTHING: &str = "A reshape is a view only where the strides allow it. Split heads are \
    transposed, so tokens lie between batch and heads, and what makes one dimension of both has \
    to copy.";
const ELEMENTS: &str = "Those are elements. Each takes `dtype.size()` bytes.";
const FOUR: &str = "Every number was counted with 4 bytes. The type of the tensors says how many \
    it takes.";
const RESULT: &str = "The last line was left out. The result of the product lies head by head, \
    and its heads are merged into one row a token: a copy.";
const ONLY: &str = "Only the merge of the result was counted. The products reshape, too: batch \
    and heads become one dimension for `bmm`, and the transposed heads do not allow that.";
const ASKED: &str = "Keys and values were counted with the tokens that ask. They have tokens of \
    their own: while an answer is made, one token asks thousands.";
const GROUPS: &str = "Shared keys and values were counted once for each group. The copy is made \
    after the repetition, when there are as many heads as the queries have.";
const FREE: &str = "`expand` is free, and the reshape behind it is not: a group steps through \
    memory and its repetition does not, so no single stride walks through both.";
const AGAIN: &str = "Repeated keys and values were counted twice. The reshape in `repeated` \
    leaves them packed, and the one in `product` finds strides for that.";
const ONE_COPIES: &str = "With one group the dimension of the groups has size 1, and nothing has \
    to merge with the repetition: that reshape is a view of stride 0. What is left is the \
    product, where batch and heads become one dimension.";
const ONE_FREE: &str = "With one group the repetition is a view, and its stride 0 goes on into \
    the product. There batch and heads become one dimension, and a stride of 0 does not merge \
    with that of the batch: a copy, unless there is one sequence.";
const BATCH: &str = "With one sequence the batch has size 1 and merges with anything. The \
    reshapes in the products are views then.";
const MERGES: &str = "With one sequence the products copy nothing, and the result still does: it \
    is heads and width that merge there, and the tokens lie between them.";
const TOKENS: &str = "With one token nothing lies between: between batch and heads, or heads and \
    width. The reshape is a view then.";
const ONE_KEY: &str = "With one key, too, the repetition of several groups copies: it merges \
    groups with stride 0, and no token lies between them anyway.";
const HEADS: &str = "With one head there is nothing to merge. All reshapes are views then.";
