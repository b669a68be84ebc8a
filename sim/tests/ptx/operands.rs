//! Operands, labels and scopes, one at a time.

use engine_room_sim::ptx::ast::{Base, Operand, Symbol, Table, Type};

use super::{body, module};

/// The operands of the first instruction behind these declarations.
fn operands(text: &str) -> Vec<Operand> {
    let registers = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f64 %fd<9>;\n";
    let module = body(&format!("{registers}{text}")).unwrap_or_else(|error| panic!("{error}"));
    module.functions[0].body[0].operands.clone()
}

fn constant(text: &str) -> Operand {
    operands(&format!("mov.b64 %rd1, {text};")).pop().expect("two operands")
}

#[test]
fn integers_in_every_base() {
    // PTX ISA 4.5.1.
    for (text, value) in [
        ("0", 0),
        ("42", 42),
        ("0x2A", 42),
        ("0XC1EFU", 0xc1ef),
        ("052", 42),
        ("0b101010", 42),
        ("42U", 42),
        ("0xFFFFFFFFFFFFFFFF", u64::MAX),
        ("-1", u64::MAX),
        ("-9223372036854775808", 1 << 63),
        ("WARP_SZ", 32),
    ] {
        assert_eq!(constant(text), Operand::Integer(value), "{text}");
    }
}

#[test]
fn floats_by_their_bits_and_as_decimals() {
    // PTX ISA 4.5.2.
    assert_eq!(constant("0f3F800000"), Operand::Single(1.0_f32.to_bits()));
    assert_eq!(constant("0F7FC00000"), Operand::Single(0x7fc0_0000));
    assert_eq!(constant("0d3FF8000000000000"), Operand::Double(1.5_f64.to_bits()));
    assert_eq!(constant("1.5"), Operand::Double(1.5_f64.to_bits()));
    assert_eq!(constant("-1.5e-3"), Operand::Double((-1.5e-3_f64).to_bits()));
    assert_eq!(constant("2e3"), Operand::Double(2e3_f64.to_bits()));
    assert_eq!(constant("-0f3F800000"), Operand::Single((-1.0_f32).to_bits()));
}

#[test]
fn addresses() {
    let address = |text: &str| operands(&format!("ld.b32 %r1, {text};")).pop();
    let wanted = |base, offset| Some(Operand::Address { base, offset });
    // %r1 is register 0: it was used first.
    assert_eq!(address("[%rd3]"), wanted(Base::Register(1), 0));
    assert_eq!(address("[%rd3+8]"), wanted(Base::Register(1), 8));
    assert_eq!(address("[%rd3+-8]"), wanted(Base::Register(1), -8));
    assert_eq!(address("[%rd3-8]"), wanted(Base::Register(1), -8));
    assert_eq!(address("[n+0]"), wanted(Base::Symbol(Symbol::Parameter(1)), 0));
    assert_eq!(address("[n+2]"), wanted(Base::Symbol(Symbol::Parameter(1)), 2));
    assert_eq!(address("[16]"), wanted(Base::Zero, 16));
}

#[test]
fn vectors_pairs_sinks_and_negations() {
    use Operand::{Not, Pair, Register, Sink, Vector};
    assert_eq!(
        operands("mov.b64 %rd1, {%r1, %r2};"),
        [Register(0), Vector(vec![Register(1), Register(2)])]
    );
    assert_eq!(
        operands("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;"),
        [Pair(Box::new(Register(0)), Box::new(Register(1))), Register(2), Register(3), Not(4)]
    );
    assert_eq!(operands("atom.add.u32 _, [%rd1], %r1;")[0], Sink);
    assert_eq!(
        operands("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;")[4],
        Operand::Integer(u64::MAX)
    );
}

#[test]
fn special_registers_keep_their_names() {
    for name in ["%tid.x", "%nctaid.z", "%laneid", "%lanemask_lt", "%clock64", "%envreg3"] {
        assert_eq!(constant(name), Operand::Special(name.into()));
    }
}

#[test]
fn what_is_unknown_is_kept_as_text() {
    assert_eq!(constant("%r1.b0"), Operand::Other("%r1.b0".into()));
    let texture = operands("tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4}, [%rd1, {%r5, %r6}];");
    assert_eq!(texture[1], Operand::Other("[%rd1, {%r5, %r6}]".into()));
}

#[test]
fn opcodes_are_cut_at_their_dots() {
    let module = body(".reg .b32 %r<3>;\n ld.shared::cta.u32 %r1, [%r2];").expect("right");
    let pieces: Vec<&str> = module.functions[0].body[0].pieces().collect();
    assert_eq!(pieces, ["ld", "shared::cta", "u32"]);
}

#[test]
fn an_inner_block_has_names_of_its_own() {
    let module = body(
        ".reg .b32 %r<3>, t;\n mov.b32 t, 1;\n { .reg .f32 t; mov.f32 t, 0f00000000;\n\
         L: bra L; }\n { .reg .f64 t; L: mov.f64 t, 1.0; bra L; }\n mov.b32 t, 2;",
    )
    .expect("right");
    let function = &module.functions[0];
    let kinds: Vec<Type> = function
        .body
        .iter()
        .filter(|instruction| instruction.opcode.starts_with("mov"))
        .map(|instruction| match instruction.operands[0] {
            Operand::Register(number) => function.registers[number as usize].kind,
            _ => panic!("{instruction:?}"),
        })
        .collect();
    assert_eq!(kinds, [Type::B32, Type::F32, Type::F64, Type::B32]);
    let labels: Vec<u32> = function.labels.iter().map(|label| label.at).collect();
    assert_eq!(labels, [2, 3]);
    assert_eq!(function.body[2].operands, [Operand::Symbol(Symbol::Label(0), 0)]);
    assert_eq!(function.body[4].operands, [Operand::Symbol(Symbol::Label(1), 0)]);
}

#[test]
fn a_range_declares_its_registers_and_no_other() {
    assert!(body(".reg .b32 %r<3>;\n mov.b32 %r2, %r0;").is_ok());
    for wrong in ["%r3", "%r01", "%r", "%rx"] {
        let error = body(&format!(".reg .b32 %r<3>;\n mov.b32 %r2, {wrong};")).unwrap_err();
        assert_eq!(error.message, format!("`{wrong}` is not declared"));
        assert_eq!(error.line, 6);
    }
    // The prefix itself may end in a digit.
    assert!(body(".reg .b32 %r1<30>;\n mov.b32 %r129, %r10;").is_ok());
}

#[test]
fn vector_registers_have_elements() {
    let module = body(".reg .v4 .f32 v;\n mov.f32 v.y, v.w;\n st.v4.f32 [out], v;").expect("right");
    let function = &module.functions[0];
    assert_eq!(function.body[0].operands, [Operand::Register(1), Operand::Register(3)]);
    let all = (0..4).map(Operand::Register).collect();
    assert_eq!(function.body[1].operands[1], Operand::Vector(all));
    assert_eq!(&*function.registers[1].name, "v.y");
}

#[test]
fn calls_have_one_form() {
    let text = ".func (.param .b32 r) f(.param .b32 a) ;\n.func g() ;\n.entry k() {\n\
                .reg .b64 %rd<2>; .param .b32 a; .param .b32 r;\n\
                call.uni (r), f, (a);\n call g;\n call g, ();\n\
                P: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
                T: .calltargets f;\n call (r), %rd1, (a), P;\n call (r), %rd1, (a), T; }";
    let module = module(text).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &module.functions[2];
    let list = |variable| Operand::List(vec![Operand::Symbol(Symbol::Variable(variable), 0)]);
    let none = Operand::List(Vec::new());
    let function = |number| Operand::Symbol(Symbol::Function(number), 0);
    let table = |number| Operand::Symbol(Symbol::Table(number), 0);
    let calls: Vec<&[Operand]> = kernel.body.iter().map(|call| &call.operands[..]).collect();
    assert_eq!(calls[0], [list(1), function(0), list(0)]);
    assert_eq!(calls[1], [none.clone(), function(1), none.clone()]);
    assert_eq!(calls[1], calls[2]);
    assert_eq!(calls[3], [list(1), Operand::Register(0), list(0), table(0)]);
    assert_eq!(calls[4], [list(1), Operand::Register(0), list(0), table(1)]);
    assert!(matches!(&kernel.tables[0], Table::Prototype { params, .. } if params.len() == 1));
    assert_eq!(kernel.tables[1], Table::Calls(vec![0]));
}
