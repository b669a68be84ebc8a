//! Variables and what they begin with (PTX ISA 5.4).

use engine_room_sim::ptx::ast::{Initial, Space, Symbol, Type, Value, Variable};

use super::{body, module};

fn variable(text: &str) -> Variable {
    let module = module(text).unwrap_or_else(|error| panic!("{error}"));
    module.globals.last().expect("a variable").clone()
}

/// The values as (element, bits).
fn values(text: &str) -> Vec<(u64, u64)> {
    let bits = |initial: &Initial| match initial.value {
        Value::Bits(bits) => (initial.index, bits),
        Value::Address { .. } => panic!("{text} has an address"),
    };
    variable(text).initial.iter().map(bits).collect()
}

#[test]
fn sizes_and_alignments() {
    let v = variable(".visible .global .align 16 .b8 a[20];");
    assert_eq!(
        (v.space, v.alignment, v.element, v.length),
        (Space::Global, 16, Type::B8, Some(20))
    );
    let v = variable(".const .v4 .f32 b[3];");
    assert_eq!((v.space, v.alignment, v.bytes()), (Space::Const, 16, 48));
    let v = variable(".shared .f64 c;");
    assert_eq!((v.alignment, v.length, v.external), (8, Some(1), false));
    let v = variable(".extern .shared .align 16 .b8 d[];");
    assert_eq!((v.length, v.external, v.bytes()), (None, true, 0));
    assert_eq!(variable(".global .b32 e[2][3];").length, Some(6));
    let v = variable(".global .attribute(.managed, .unified(1, 2)) .align 4 .b8 f[4];");
    assert_eq!((v.alignment, v.length), (4, Some(4)));
}

#[test]
fn initial_values() {
    assert_eq!(values(".global .u32 a = 7;"), [(0, 7)]);
    assert_eq!(values(".global .s8 a = -1;"), [(0, 0xff)]);
    assert_eq!(
        values(".global .f32 a[2] = {0f3F800000, 2.0};"),
        [(0, 0x3f80_0000), (1, 0x4000_0000)]
    );
    assert_eq!(values(".global .f64 a = 1;"), [(0, 1.0_f64.to_bits())]);
    assert_eq!(values(".global .f16 a = 1.0;"), [(0, 0x3c00)]);
    assert_eq!(values(".global .b8 a[] = {1, 2, 3};").len(), 3);
    assert_eq!(variable(".global .b8 a[] = {1, 2, 3};").length, Some(3));
}

#[test]
fn rows_that_are_not_full_leave_zeros() {
    assert_eq!(values(".global .b8 a[2][3] = {{1}, {2, 3}};"), [(0, 1), (3, 2), (4, 3)]);
    assert_eq!(values(".global .v4 .b32 a[2] = {{1}, {2}};"), [(0, 1), (4, 2)]);
    // The zeros between them are not stored.
    assert_eq!(values(".global .b8 a[2][1000000000] = {{1}, {2}};"), [(0, 1), (1_000_000_000, 2)]);
}

#[test]
fn addresses_as_initial_values() {
    let text = ".global .b8 s[4]; .func f() ;\n.global .u64 p[4] = {generic(s), s+2, f, 0};";
    let initial = variable(text).initial;
    let address = |number: usize| match initial[number].value {
        Value::Address { symbol, offset, generic, shift } => (symbol, offset, generic, shift),
        Value::Bits(_) => panic!("{initial:?}"),
    };
    assert_eq!(address(0), (Symbol::Global(0), 0, true, 0));
    assert_eq!(address(1), (Symbol::Global(0), 2, false, 0));
    assert_eq!(address(2), (Symbol::Function(0), 0, false, 0));
    // One byte of an address (PTX ISA 5.4.4, "mask operator").
    let v = variable(".global .b8 s[4];\n.global .u8 p[2] = {0xFF(s), 0xFF00(s)};");
    assert!(matches!(v.initial[1].value, Value::Address { shift: 8, .. }));
}

#[test]
fn a_definition_takes_the_place_of_its_declaration() {
    let module = module(".extern .global .b32 a[];\n.global .b32 a[2] = {1, 2};").expect("right");
    assert_eq!(module.globals.len(), 1);
    assert_eq!(module.globals[0].length, Some(2));
}

#[test]
fn global_variables_of_a_function_join_the_modules() {
    let module = body(".global .b32 a; .shared .b32 b; .local .b32 c;").expect("right");
    assert_eq!(module.globals.len(), 1);
    let spaces: Vec<Space> = module.functions[0].variables.iter().map(|v| v.space).collect();
    assert_eq!(spaces, [Space::Shared, Space::Local]);
}
