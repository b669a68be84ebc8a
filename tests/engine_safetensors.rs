//! One file of tensors: what is refused and how. What comes back, and what Python reads, is in
//! engine_safetensors_values.rs.

#[path = "engine/files.rs"]
mod files;

use std::fs;

use engine_room::serialize::{StateDict, deserialize, load_file, save_file, serialize};
use engine_room::{DType, Tensor};
use files::{CPU, Folder, file, golden, golden_json, list, says, shown, state, unhex};
use serde_json::{Value, json};

/// Runs the given cases of one id, from memory and from a file.
#[track_caller]
fn given(id: &str) {
    let folder = Folder::new(&format!("given-{id}"));
    let cases = golden_json("safetensors_cases.json");
    let cases = cases.as_array().expect("a list").iter().filter(|case| case["case"] == id);
    let mut count = 0;
    for case in cases {
        let bytes = unhex(case["hex"].as_str().expect("digits"));
        let path = folder.put("case.safetensors", &bytes);
        let (loaded, mapped) = (deserialize(&bytes, &CPU), load_file(&path, &CPU));
        if let Some(parts) = case["says"].as_array() {
            let parts: Vec<&str> = parts.iter().flat_map(Value::as_str).collect();
            says(loaded, &parts);
            says(mapped, &[&parts[..], &["case.safetensors"]].concat());
        } else {
            for found in [loaded.expect("it is right"), mapped.expect("it is right")] {
                right(&found, &case["right"]);
            }
        }
        count += 1;
    }
    assert!(count > 0, "no case of {id}");
}

/// Compares nested lists of numbers, all `f32`.
#[track_caller]
fn right(found: &StateDict, want: &Value) {
    let want = want.as_object().expect("tensors under names");
    assert_eq!(found.len(), want.len());
    for (name, values) in want {
        let x = found.get(name).expect("it is there");
        assert_eq!(&nested(&x.to_vec::<f32>(), x.shape()), values, "{name}");
    }
}

fn nested(values: &[f32], shape: &[usize]) -> Value {
    let Some((&first, rest)) = shape.split_first() else { return json!(values[0]) };
    let size: usize = rest.iter().product();
    (0..first).map(|i| nested(&values[i * size..(i + 1) * size], rest)).collect()
}

#[test]
fn e01_duplicate_names() {
    given("E01");
    let a = r#""a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    // An escape is another way to write the same name.
    let escaped = a.replace("\"a\"", "\"\\u0061\"");
    says(deserialize(&file(&format!("{{{a},{escaped}}}"), b"x"), &CPU), &["duplicate", "\"a\""]);
    let twice = a.replace("\"shape\"", "\"dtype\":\"U8\",\"shape\"");
    says(deserialize(&file(&format!("{{{twice}}}"), b"x"), &CPU), &["duplicate", "dtype", "\"a\""]);
    for metadata in [r#"{"k":"v","k":"v"}"#, r#"{"k":"v","k":"w"}"#] {
        let header = format!("{{\"__metadata__\":{metadata},{a}}}");
        says(deserialize(&file(&header, b"x"), &CPU), &["duplicate", "\"k\"", "__metadata__"]);
    }
    let both = format!("{{\"__metadata__\":{{}},{a},\"__metadata__\":{{}}}}");
    says(deserialize(&file(&both, b"x"), &CPU), &["duplicate", "__metadata__"]);
}

#[test]
fn e03_the_length_of_the_header() {
    given("E03");
    // A header that would end one byte behind the file; and one longer than the format has.
    let mut bytes = file("{}", b"");
    bytes[0] = 3;
    says(deserialize(&bytes, &CPU), &["3 bytes", "2 behind"]);
    assert!(deserialize(&file("{}", b""), &CPU).expect("no tensor is fine").is_empty());
    says(deserialize(&file("{}", b"x"), &CPU), &["1 bytes"]);
}

#[test]
fn e05_shape_and_range() {
    given("E05");
    let with = |shape: &str, end: u64, data: usize| {
        let header =
            format!(r#"{{"w":{{"dtype":"F16","shape":{shape},"data_offsets":[0,{end}]}}}}"#);
        deserialize(&file(&header, &vec![0; data]), &CPU)
    };
    assert_eq!(with("[2,3]", 12, 12).expect("it is right").len(), 1);
    says(with("[2,3]", 11, 11), &["\"w\"", "11 bytes", "needs 12"]);
    says(with("[2,3]", 12, 11), &["\"w\"", "12", "cut or damaged"]);
    says(with("[2,3]", 12, 13), &["1 bytes stand behind"]);
    // 2^63 * 2 elements of 2 bytes wrap around to 0.
    says(with("[9223372036854775808,2]", 0, 0), &["\"w\"", "memory"]);
    says(with("[4294967296,4294967296]", 0, 0), &["\"w\"", "memory"]);
    says(with("[0,9223372036854775807,3]", 0, 0), &["\"w\"", "memory"]);
    says(with("[1,1,1,1,1,1,1,1,1]", 2, 2), &["\"w\"", "9 dimensions", "8"]);
}

#[test]
fn e05_gaps_and_overlaps() {
    let two = |a: [u64; 2], b: [u64; 2], data: usize| {
        let entry = |name: &str, [begin, end]: [u64; 2]| {
            format!(
                r#""{name}":{{"dtype":"U8","shape":[{}],"data_offsets":[{begin},{end}]}}"#,
                end - begin
            )
        };
        deserialize(
            &file(&format!("{{{},{}}}", entry("a", a), entry("b", b)), &vec![7; data]),
            &CPU,
        )
    };
    // The header may have them in any order.
    assert_eq!(two([4, 8], [0, 4], 8).expect("it is right").len(), 2);
    says(two([0, 4], [5, 8], 8), &["\"b\"", "gap", "byte 5", "byte 4"]);
    says(two([0, 4], [3, 8], 8), &["\"b\"", "overlaps", "byte 3", "byte 4"]);
    says(two([0, 4], [0, 4], 4), &["overlaps"]);
    says(two([1, 4], [4, 8], 8), &["\"a\"", "byte 1"]);
}

#[test]
fn e07_fields_of_the_wrong_kind() {
    given("E07");
    let with = |fields: &str| deserialize(&file(&format!("{{\"a\":{{{fields}}}}}"), &[0; 8]), &CPU);
    let right = r#""dtype":"F32","shape":[2],"data_offsets":[0,8]"#;
    assert_eq!(with(right).expect("it is right").len(), 1);
    let wrong = [
        ("[2]", "2", "shape"),
        ("[2]", "\"2\"", "shape"),
        ("[2]", "[[2]]", "shape"),
        ("[2]", "[null]", "shape"),
        ("[2]", "[2e0]", "shape"),
        ("[2]", "[18446744073709551616]", "shape"),
        ("[0,8]", "{}", "data_offsets"),
        ("[0,8]", "[0,true]", "data_offsets"),
        ("[0,8]", "[0,08]", "JSON"),
        ("[0,8]", "[0,+8]", "JSON"),
        ("[0,8]", "[0,8,]", "JSON"),
        ("\"F32\"", "32", "dtype"),
        ("\"F32\"", "null", "dtype"),
    ];
    for (from, to, part) in wrong {
        says(with(&right.replace(from, to)), &["\"a\"", part]);
    }
    says(with(r#""dtype":"F32","shape":[2]"#), &["\"a\"", "lacks its data_offsets"]);
    says(with(r#""dtype":"F32","data_offsets":[0,8]"#), &["\"a\"", "lacks its shape"]);
    for entry in ["1", "[]", "null", "\"x\"", "true"] {
        says(deserialize(&file(&format!("{{\"a\":{entry}}}"), &[]), &CPU), &["\"a\"", "an object"]);
    }
}

#[test]
fn e07_headers_that_are_no_json() {
    let texts = [
        "",
        " ",
        "{",
        "}",
        "{]",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{}{}",
        "{} x",
        "\u{feff}{}",
        "{\"\u{1}\":1}",
        "{\"\\x\":1}",
        "{\"\\u12\":1}",
        "{\"\\ud800\":1}",
        "{\"\\ud800\\u0041\":1}",
        "{\"\\udc00\":1}",
        "true",
        "1",
        "\"a\"",
        "-",
        "{\"a\":tru}",
    ];
    for text in texts {
        says(deserialize(&file(text, b""), &CPU), &["header"]);
    }
    let deep = format!("{{\"a\":{{\"x\":{}", "[".repeat(100_000));
    says(deserialize(&file(&deep, b""), &CPU), &["nested"]);
    let latin = [&4u64.to_le_bytes()[..], b"{\"\xe9\""].concat();
    says(deserialize(&latin, &CPU), &["UTF-8"]);
    // Spaces behind it fill the header up; the reference does so.
    assert!(deserialize(&file("{}  \n\t ", b""), &CPU).expect("only spaces").is_empty());
}

#[test]
fn e07_types_that_the_engine_lacks_are_named() {
    for dtype in ["U16", "U32", "U64", "I8", "I16", "F8_E4M3", "F8_E5M2", "C64", "F4", "f32", "BF8"]
    {
        let header = format!(r#"{{"odd":{{"dtype":"{dtype}","shape":[2],"data_offsets":[0,2]}}}}"#);
        says(deserialize(&file(&header, b"xx"), &CPU), &["\"odd\"", dtype, "lacks", "BF16"]);
    }
}

#[test]
fn e09_empty_tensors_and_scalars() {
    given("E09");
    let saved = state([
        ("none", Tensor::zeros(&[0])),
        ("rows", Tensor::zeros(&[3, 0])),
        ("one", Tensor::scalar(2.5)),
        ("planes", Tensor::zeros(&[2, 0, 5]).to(DType::I64)),
    ]);
    let loaded = deserialize(&serialize(&saved).unwrap(), &CPU).unwrap();
    let all = |state: &StateDict| -> Vec<String> {
        state.iter().map(|(name, x)| format!("{name} {}", shown(x))).collect()
    };
    assert_eq!(all(&loaded), all(&saved));
}

#[test]
fn e11_every_prefix_is_refused() {
    let cases = golden_json("safetensors_cases.json");
    let control = cases.as_array().unwrap().iter().find(|case| case["what"] == "control").unwrap();
    let control = unhex(control["hex"].as_str().unwrap());
    assert_eq!(control.len(), 70);
    let python = fs::read(golden("checkpoints/python.safetensors")).unwrap();
    let folder = Folder::new("e11");
    for whole in [control, python] {
        assert!(deserialize(&whole, &CPU).is_ok());
        for n in 0..whole.len() {
            assert!(deserialize(&whole[..n], &CPU).is_err(), "{n} bytes");
            let cut = folder.put("cut", &whole[..n]);
            says(load_file(&cut, &CPU), &["cut"]);
        }
        assert!(deserialize(&[&whole[..], b"x"].concat(), &CPU).is_err(), "a byte more");
    }
}

#[test]
fn e13_names() {
    let folder = Folder::new("e13");
    let path = folder.at("names");
    let metadata = state([("__metadata__", Tensor::from_vec(vec![1, 2], &[2]))]);
    says(save_file(&path, &metadata), &["__metadata__", "rename"]);
    says(serialize(&metadata), &["__metadata__"]);
    assert_eq!(folder.names(), [""; 0], "nothing is left of it");
    let odd = [
        "a\"b",
        "c\\d",
        "e\nf",
        "",
        "\u{e9}\u{4e2d}",
        "\u{0}",
        "\u{1f}\u{7f}",
        "a/b",
        "..",
        "\u{1f980}",
        "\u{2028}",
        "__metadata",
        "{\"a\":1}",
        "\t\r",
    ];
    let saved = state(odd.iter().zip(1..).map(|(name, i)| (*name, list(&[i as f32]))));
    save_file(&path, &saved).unwrap();
    let loaded = load_file(&path, &CPU).unwrap();
    assert_eq!(loaded.names().collect::<Vec<_>>(), odd);
    for (name, i) in odd.iter().zip(1..) {
        assert_eq!(loaded.get(name).unwrap().to_vec::<f32>(), [i as f32], "{name:?}");
    }
    let mut twice = state([("a", Tensor::zeros(&[1]))]);
    says(twice.insert("a", Tensor::zeros(&[2])), &["duplicate", "\"a\"", "f32 [1]", "f32 [2]"]);
    assert_eq!((twice.len(), twice.get("a").unwrap().shape()), (1, &[1][..]));
}
