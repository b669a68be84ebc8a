//! Whole files of NVRTC and nvcc: `mixed.cu` by both, and the programs of this crate.

use std::path::{Path, PathBuf};

use engine_room_sim::ptx::ast::{Function, Module, Operand, Symbol, Table};
use engine_room_sim::ptx::parse;
use engine_room_sim::ptx::source::{chain, is_toolkit};

/// Every PTX file in the folders of this crate.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["tests/ptx", "programs/ptx"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|ending| ending == "ptx")));
    }
    found.sort();
    found
}

fn read(path: &Path) -> (String, Module) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let module = parse(&path.display().to_string(), text.as_bytes());
    (text, module.unwrap_or_else(|error| panic!("{error}")))
}

fn mixed(name: &str) -> Module {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx").join(name)).1
}

fn function<'a>(module: &'a Module, name: &str) -> &'a Function {
    module.functions.iter().find(|function| function.name == name).expect("the function is there")
}

/// Instructions by another way than the parser's: statements that begin neither with a dot nor
/// with a bracket, once comments, labels, `.loc` lines and DWARF are gone.
fn count_instructions(text: &str) -> usize {
    let code = text.split(".section").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let kept = lines.filter(|line| !line.starts_with(".loc") && !line.starts_with(".file"));
    let joined: String = kept.map(|line| format!("{line} ")).collect();
    let statements = joined.split(';').map(|statement| {
        let begin = statement.trim_start_matches(|c: char| " {}".contains(c));
        let label = begin.split_once(": ").filter(|(name, _)| !name.trim().contains(' '));
        label.map_or(begin, |(_, rest)| rest)
    });
    let mut count = 0;
    for statement in statements {
        // A body begins in the statement of its header.
        let last = statement.rsplit(['{', '}', ':']).next().unwrap_or_default().trim();
        let first = statement.trim_start_matches(|c: char| " {}".contains(c));
        let opcode = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase() || c == '@');
        count += usize::from(opcode(first) || opcode(last));
    }
    count
}

#[test]
fn every_instruction_of_every_file_is_read() {
    let files = files();
    assert!(files.len() >= 6, "the files are missing: {files:?}");
    for path in files {
        let (text, module) = read(&path);
        let read: usize = module.functions.iter().map(|function| function.body.len()).sum();
        assert!(read > 0, "{}", path.display());
        assert_eq!(read, count_instructions(&text), "{}", path.display());
    }
}

#[test]
fn compilers_write_no_operand_that_is_unknown() {
    for path in files() {
        for function in read(&path).1.functions {
            for instruction in &function.body {
                let unknown = |operand: &Operand| matches!(operand, Operand::Other(_));
                assert!(!instruction.operands.iter().any(unknown), "{path:?} {instruction:?}");
            }
        }
    }
}

#[test]
fn both_compilers_give_the_kernel_its_parameters_and_bounds() {
    for name in ["nvrtc-lineinfo.ptx", "nvrtc-debug.ptx", "nvcc-lineinfo.ptx", "nvcc-debug.ptx"] {
        let module = mixed(name);
        let kernel = function(&module, "k");
        let sizes: Vec<u64> = kernel.params.iter().map(|param| param.bytes()).collect();
        assert_eq!(sizes, [8, 24, 4], "{name}: a pointer, a struct by value, an int");
        assert_eq!(kernel.params[1].alignment, 8, "{name}");
        assert_eq!(kernel.bounds.maxntid.map(|most| most[0]), Some(256), "{name}");
        assert_eq!(kernel.bounds.minnctapersm, Some(2), "{name}");
    }
}

#[test]
fn the_shared_memory_of_a_kernel_is_listed() {
    for name in ["nvrtc-lineinfo.ptx", "nvcc-lineinfo.ptx", "nvcc-unoptimised.ptx"] {
        let module = mixed(name);
        let listed = engine_room_sim::ptx::listing::kernels(&module);
        let kernel = listed.iter().find(|kernel| kernel.function.name == "k").expect("k");
        assert_eq!(kernel.offsets, [0, 8, 32], "{name}");
        assert_eq!(kernel.parameter_bytes, 36, "{name}");
        assert_eq!(kernel.shared_bytes, 32 * 33 * 4, "{name}");
        assert!(kernel.dynamic_shared, "{name}");
    }
}

#[test]
fn inlined_code_knows_the_line_that_called_it() {
    // Line 9 is the body of sq(), which line 18 of the kernel calls.
    let source = include_str!("mixed.cu");
    let line = |text: &str| 1 + source.lines().position(|line| line.contains(text)).expect(text);
    let (inner, outer) = (line("float sq(float x)") as u32, line("sq(x[i]) : 0") as u32);
    let module = mixed("nvcc-lineinfo.ptx");
    let chains = module.positions.iter().map(|position| {
        let outer = position.inlined_at.map(|at| &module.positions[at as usize]);
        (position.line, outer.map(|outer| outer.line))
    });
    assert!(chains.into_iter().any(|chain| chain == (inner, Some(outer))));
}

#[test]
fn toolkit_headers_are_told_from_the_readers_files() {
    let module = mixed("nvcc-lineinfo.ptx");
    let kernel = function(&module, "k");
    let mut toolkit = 0;
    for instruction in &kernel.body {
        let lines: Vec<&str> = chain(&module, instruction.position)
            .map(|position| module.files[position.file as usize].as_str())
            .collect();
        if let Some((outermost, inner)) = lines.split_last() {
            assert_eq!(*outermost, "mixed.cu");
            toolkit += usize::from(inner.iter().any(|path| is_toolkit(path)));
        }
    }
    assert!(toolkit > 0, "atomicAdd and the shuffle come from headers");
    for path in ["kernel.cu", "project/include/kernel.cuh", "include/my_math.h"] {
        assert!(!is_toolkit(path), "{path}");
    }
}

#[test]
fn a_switch_becomes_a_table_or_branches_with_all_its_labels_placed() {
    for path in files() {
        for function in read(&path).1.functions {
            for table in &function.tables {
                if let Table::Branches(labels) = table {
                    assert!(!labels.is_empty(), "{}", path.display());
                }
            }
            let length = function.body.len() as u32;
            assert!(function.labels.iter().all(|label| label.at <= length));
        }
    }
}

#[test]
fn a_recursive_function_calls_itself_by_number() {
    let module = mixed("nvrtc-lineinfo.ptx");
    let number = module.functions.iter().position(|f| f.name == "_Z3fibi").expect("fib is there");
    let calls = module.functions[number].body.iter().filter(|i| i.opcode.starts_with("call"));
    let callees: Vec<&Operand> = calls.map(|call| &call.operands[1]).collect();
    assert_eq!(callees, [&Operand::Symbol(Symbol::Function(number as u32), 0); 2]);
}

#[test]
fn ptx_of_2008_is_read_too() {
    let text = "\t.version 1.4\n\t.target sm_10, map_f64_to_f32\n\t.file 1 \"old.cu\"\n\
                @@DWARF .section .debug_pubnames, \"\", @progbits\n\
                .entry _Z3addPf (.param .u32 __cudaparm_out)\n{\n.reg .u16 %rh<4>;\n\
                .reg .u32 %r<5>;\n.loc 1 3\n$LBB1:\n\tmov.u16 %rh1, %ctaid.x;\n\
                \tcvt.u32.u16 %r1, %tid.x;\n\t.loc 1 0 0\n\tld.param.u32 %r2, [__cudaparm_out];\n\
                \texit;\n$LDWend:\n}\n";
    let module = parse("old.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((module.version, module.address_size), ((1, 4), 32));
    assert_eq!(module.target, "sm_10, map_f64_to_f32");
    let kernel = &module.functions[0];
    assert_eq!(kernel.labels.iter().map(|label| label.at).collect::<Vec<u32>>(), [0, 4]);
    // Line 0 is no line: the code stays with the line before it.
    let lines: Vec<u32> = kernel
        .body
        .iter()
        .flat_map(|instruction| chain(&module, instruction.position).map(|place| place.line))
        .collect();
    assert_eq!(lines, [3; 4]);
}
