//! The changes: which expressions and statements are changed, and into what.

use syn::{BinOp, Expr, ExprLit, ExprMethodCall, Lit, LitFloat, LitInt, RangeLimits, ReturnType};
use syn::{Stmt, UnOp, parse_quote};

/// Other values for the result of a function.
pub fn other_results(output: &ReturnType) -> Vec<Expr> {
    let ReturnType::Type(_, output) = output else { return Vec::new() };
    let output = crate::mutator::text(output);
    if output.starts_with("Option < usize") {
        vec![parse_quote!(None), parse_quote!(Some(0))]
    } else if output.starts_with("Option") {
        vec![parse_quote!(None)]
    } else if output.starts_with("HashMap") {
        vec![parse_quote!(HashMap::new())]
    } else {
        match output.as_str() {
            "u64" | "u16" | "usize" => vec![parse_quote!(0), parse_quote!(1)],
            "f64" => vec![parse_quote!(0.0), parse_quote!(1.0)],
            "f16" => vec![parse_quote!(f16::ZERO), parse_quote!(f16::ONE)],
            "Outcome" => vec![parse_quote!(Outcome::Fine), parse_quote!(Outcome::UpdateLost)],
            "Vec < Tensor >" | "Vec < usize >" => vec![parse_quote!(Vec::new())],
            "Header" => vec![parse_quote!(header.clone())],
            "Tensor" => vec![parse_quote!(Tensor::zeros(&[]))],
            _ => Vec::new(),
        }
    }
}

/// What an expression can become.
pub fn replacements(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Lit(literal) => literals(literal),
        Expr::Unary(unary) if !matches!(unary.op, UnOp::Deref(_)) => vec![(*unary.expr).clone()],
        Expr::Binary(binary) => operators(&binary.op)
            .into_iter()
            .map(|op| Expr::Binary(syn::ExprBinary { op, ..binary.clone() }))
            .collect(),
        Expr::MethodCall(call) => methods(call),
        Expr::Array(array) if array.elems.len() == 2 => {
            let (first, second) = (&array.elems[0], &array.elems[1]);
            vec![parse_quote!([#second, #first])]
        }
        Expr::Call(call) if crate::mutator::text(&call.func) == "Some" => {
            vec![parse_quote!(None)]
        }
        Expr::Range(range) => match (&range.start, &range.end, &range.limits) {
            (Some(start), Some(end), RangeLimits::HalfOpen(_)) => {
                vec![parse_quote!(#start..(#end).saturating_sub(1))]
            }
            _ => Vec::new(),
        },
        Expr::Continue(_) => vec![parse_quote!(break)],
        Expr::Break(_) => vec![parse_quote!(continue)],
        _ => Vec::new(),
    }
}

fn literals(literal: &ExprLit) -> Vec<Expr> {
    match &literal.lit {
        Lit::Int(number) => integers(number),
        Lit::Float(number) => floats(number),
        Lit::Bool(value) => {
            let other = !value.value;
            vec![parse_quote!(#other)]
        }
        _ => Vec::new(),
    }
}

/// One more, and 0, and 1.
fn integers(number: &LitInt) -> Vec<Expr> {
    let value: u64 = number.base10_parse().unwrap_or_default();
    let mut others = vec![value + 1, 0, 1];
    others.retain(|other| *other != value);
    others.dedup();
    let literal = |other: u64| LitInt::new(&format!("{other}{}", number.suffix()), number.span());
    others
        .into_iter()
        .map(|other| {
            let other = literal(other);
            parse_quote!(#other)
        })
        .collect()
}

/// One more, the opposite, and 0, as far as they differ.
fn floats(number: &LitFloat) -> Vec<Expr> {
    let value: f64 = number.base10_parse().unwrap_or_default();
    let literal =
        |other: f64| LitFloat::new(&format!("{other:?}{}", number.suffix()), number.span());
    let (more, zero) = (literal(value + 1.0), literal(0.0));
    if value == 0.0 {
        return vec![parse_quote!(#more)];
    }
    vec![parse_quote!(#more), parse_quote!(-#number), parse_quote!(#zero)]
}

fn operators(op: &BinOp) -> Vec<BinOp> {
    let plus: BinOp = parse_quote!(+);
    let arithmetic: [BinOp; 4] = [plus, parse_quote!(-), parse_quote!(*), parse_quote!(/)];
    let comparison: [BinOp; 4] =
        [parse_quote!(<), parse_quote!(<=), parse_quote!(>), parse_quote!(>=)];
    let others = |group: &[BinOp]| {
        let same = |other: &&BinOp| std::mem::discriminant(*other) != std::mem::discriminant(op);
        group.iter().filter(same).copied().collect::<Vec<BinOp>>()
    };
    match op {
        BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) => others(&arithmetic),
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => others(&comparison),
        BinOp::Eq(_) => vec![parse_quote!(!=)],
        BinOp::Ne(_) => vec![parse_quote!(==)],
        BinOp::And(_) => vec![parse_quote!(||)],
        BinOp::Or(_) => vec![parse_quote!(&&)],
        BinOp::BitAnd(_) => vec![parse_quote!(|)],
        BinOp::BitOr(_) => vec![parse_quote!(&)],
        BinOp::Shr(_) => vec![parse_quote!(<<)],
        BinOp::Rem(_) => vec![parse_quote!(/)],
        BinOp::AddAssign(_) => vec![parse_quote!(-=)],
        BinOp::SubAssign(_) => vec![parse_quote!(+=)],
        BinOp::MulAssign(_) => vec![parse_quote!(/=)],
        BinOp::DivAssign(_) => vec![parse_quote!(*=)],
        _ => Vec::new(),
    }
}

/// Methods that are exchanged for each other.
const EXCHANGED: &[&[&str]] = &[
    &["add", "sub", "mul", "div"],
    &["max", "min"],
    &["log_softmax", "softmax"],
    &["mean", "sum"],
    &["sum_dims", "mean_dims", "max_dims"],
    &["pop_last", "pop_first"],
    &["product", "sum"],
    &["is_none", "is_some"],
];

/// Methods that are left out: what they are called on stays.
const LEFT_OUT: &[&str] = &[
    "neg",
    "exp",
    "abs",
    "transpose",
    "mul_scalar",
    "mul",
    "add",
    "sub",
    "div",
    "reshape",
    "max",
    "log_softmax",
    "sum_dims",
    "scatter_add",
    "gather",
    "pin_memory",
    "narrow",
];

fn methods(call: &ExprMethodCall) -> Vec<Expr> {
    let name = call.method.to_string();
    if name == "max" && call.args.is_empty() {
        // The largest of something, and not the larger of two.
        return Vec::new();
    }
    let exchanged = EXCHANGED.iter().filter(|group| group.contains(&name.as_str()));
    // An iterator has a sum and no mean.
    let iterates = |it: &ExprMethodCall| ["iter", "map"].iter().any(|name| it.method == name);
    let no_mean = matches!(&*call.receiver, Expr::MethodCall(inner) if iterates(inner));
    let others = exchanged.flat_map(|group| group.iter());
    let others = others.filter(|other| **other != name && !(no_mean && **other == "mean"));
    let mut replaced: Vec<Expr> = others
        .map(|other| {
            let method = syn::Ident::new(other, call.method.span());
            Expr::MethodCall(ExprMethodCall { method, ..call.clone() })
        })
        .collect();
    if LEFT_OUT.contains(&name.as_str()) {
        let receiver = &call.receiver;
        replaced.push(parse_quote!(#receiver.clone()));
    }
    replaced
}

/// The opposite of a condition.
pub fn negated(condition: &Expr) -> Expr {
    parse_quote!(!(#condition))
}

/// Whether the operator assigns to its left side.
pub fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::MulAssign(_) | BinOp::DivAssign(_)
    )
}

/// Whether a block without this statement still makes sense to the compiler.
pub fn can_be_deleted(statement: &Stmt, is_last: bool) -> bool {
    match statement {
        Stmt::Expr(_, Some(_)) => true,
        Stmt::Expr(Expr::If(_) | Expr::ForLoop(_) | Expr::While(_), None) => !is_last,
        _ => false,
    }
}
