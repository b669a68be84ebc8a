//! `.pt` files that are wrong in one way, or made to harm: each is an error that says what it is.

#[path = "engine/archive.rs"]
mod archive;
#[path = "engine/failed.rs"]
mod failed;

use archive::{Entry, dict, entries_of, entry, int, one, pt, slow_crc, storage, tensor, text, zip};
use engine_room::serialize::{MapLocation, PtFile, StateDict, pickle_opcodes, serialize};
use engine_room::{Device, Error, Tensor};
use failed::fails;

fn open(bytes: &[u8]) -> Result<PtFile, Error> {
    PtFile::from_bytes(bytes.to_vec(), &MapLocation::Device(Device::Cpu))
}

fn load(bytes: &[u8]) -> Result<StateDict, Error> {
    open(bytes)?.root().state_dict()
}

/// A pickle that builds one value by these instructions.
fn pickled(body: &[u8]) -> Vec<u8> {
    pt(&[b"\x80\x02", body, b"."].concat(), &[("0", &[0; 16]), ("1", &[0; 8])])
}

#[test]
fn an_archive_made_by_hand_is_read() {
    let state = load(&one(6, 1, &[2, 2], &[3, 1])).expect("it is right");
    assert_eq!(state.get("w").expect("it is there").to_vec::<f32>(), [1.0, 2.0, 4.0, 5.0]);
}

type Change = fn(&mut Entry);

#[test]
fn an_archive_that_says_two_things_is_refused() {
    let good = || entries_of(b"\x80\x02}.", &[("0", &[7; 300])]);
    assert!(open(&zip(&good())).is_ok());
    let wrong: [(Change, &str); 14] = [
        (|it| it.method = 8, "compressed (deflate)"),
        (|it| it.method = 93, "compressed (method 93)"),
        (|it| it.flags = 1, "encrypted"),
        (|it| it.flags = 1 << 13, "kind that is not read"),
        (|it| it.name = "a/data.pkl".to_string(), "duplicate"),
        (|it| it.local_name = Some("a/data/1".to_string()), "different things"),
        (|it| it.local_crc = Some(1), "different things"),
        (|it| it.local_size = Some(299), "different things"),
        (|it| it.size = Some(299), "300 bytes in the file and 299 unpacked"),
        (|it| (it.size, it.packed) = (Some(1 << 30), Some(1 << 30)), "different things"),
        (|it| (it.size, it.packed) = (Some(u32::MAX), Some(u32::MAX)), "lacks its zip64 sizes"),
        (|it| it.header = Some(7), "overlaps"),
        (|it| it.header = Some(0x7fff_ffff), "does not begin where"),
        (|it| it.extra = vec![1, 0, 200, 0], "extra field is cut short"),
    ];
    for (change, says) in wrong {
        let mut entries = good();
        change(&mut entries[2]);
        fails(open(&zip(&entries)), &[says]);
    }
    // Its size of 4 GiB stands in both headers, and in the directory in the field of zip64.
    let mut entries = good();
    let huge = [vec![1, 0, 16, 0], vec![0xff; 7], vec![0], vec![0xff; 7], vec![0]].concat();
    let it = &mut entries[2];
    (it.size, it.packed, it.local_size) = (Some(u32::MAX), Some(u32::MAX), Some(u32::MAX));
    it.extra = huge;
    fails(open(&zip(&entries)), &["beyond the last byte"]);
    let mut entries = good();
    entries[0].crc ^= 1;
    fails(open(&zip(&entries)), &["checksum", "a/data.pkl", "damaged"]);
}

#[test]
fn bytes_around_an_archive_are_refused() {
    let file = one(1, 0, &[1], &[1]);
    let cut = "cut short";
    fails(load(&[&file[..], b"x"].concat()), &[cut, "appended"]);
    fails(load(&[b"PK-before", &file[..]].concat()), &["not where it says"]);
    let mut comment = [&file[..], b"hi"].concat();
    let end = file.len() - 2;
    comment[end] = 2;
    fails(load(&comment), &["cut short"]);
    let mut entries = entries_of(b"\x80\x02}.", &[]);
    entries[0].name = "data.pkl".to_string();
    fails(open(&zip(&entries)), &["not one of torch.save"]);
    fails(open(&zip(&[])), &["not one of torch.save"]);
    let mut count = file.clone();
    let at = file.len() - 14;
    count[at..at + 4].copy_from_slice(&[0xff; 4]);
    fails(load(&count), &["cannot hold 65535 entries"]);
    fails(open(&zip(&[entry("a/x.npy", b"")])), &["NumPy"]);
    fails(open(&[]), &["empty"]);
    let safetensors = serialize(&StateDict::new()).expect("it can be written");
    fails(open(&safetensors), &["safetensors", "load_file"]);
    fails(open(b"version https://git-lfs.github.com/spec/v1\n"), &["git lfs pull"]);
    fails(open(b"<!DOCTYPE html>"), &["web page"]);
    let big = entries_of(b"\x80\x02}.", &[]).into_iter().map(|it| match it.name.as_str() {
        "a/byteorder" => entry("a/byteorder", b"middle"),
        _ => it,
    });
    fails(open(&zip(&big.collect::<Vec<_>>())), &["byteorder"]);
}

#[test]
fn a_tensor_that_does_not_lie_in_its_storage_is_refused() {
    let out = "does not lie in storage";
    let far = 1 << 62;
    for (offset, sizes, strides) in [
        (0, &[7][..], &[1][..]),
        (1, &[6], &[1]),
        (0, &[2, 2], &[5, 1]),
        (7, &[0], &[1]),
        (far, &[0], &[1]),
        (far, &[1], &[1]),
        (0, &[far, far], &[0, 0]),
        (0, &[far, far, 0], &[1, 1, 1]),
        (0, &[far, 4], &[far, far]),
        (0, &[2, 2], &[1]),
        (i64::MAX, &[2], &[i64::MAX]),
    ] {
        fails(load(&one(6, offset, sizes, strides)), &[out, "6 float32"]);
    }
    for (offset, sizes, strides) in [(-1, &[1][..], &[1][..]), (0, &[-2], &[1]), (0, &[2], &[-1])] {
        fails(load(&one(6, offset, sizes, strides)), &["below 0", "REDUCE at position"]);
    }
    fails(load(&one(6, 0, &[1; 9], &[1; 9])), &["9 dimensions", "at most 8"]);
    // Steps that are never made may be anything; an empty tensor may begin where the storage ends.
    for (offset, sizes, strides) in [(5, &[1][..], &[far][..]), (6, &[3, 0], &[far, far])] {
        let state = load(&one(6, offset, sizes, strides)).expect("it is right");
        let x = state.get("w").expect("it is there");
        assert_eq!(x.copy().numel(), sizes.iter().product::<i64>() as usize);
    }
}

#[test]
fn a_storage_that_is_not_what_the_pickle_says_is_refused() {
    let of = |numel: i64, bytes: usize| {
        let w = tensor(storage("FloatStorage", "0", "cpu", numel), 0, &[1], &[1]);
        load(&pt(&dict(&[("w", w)]), &[("0", &vec![0; bytes])]))
    };
    fails(of(2, 4), &["storage \"0\" of 2 float32 on \"cpu\"", "4 bytes"]);
    fails(of(1, 8), &["8 bytes"]);
    fails(of(i64::MAX, 4), &["4 bytes"]);
    fails(of(-1, 4), &["-1 float32"]);
    let twice = |second: Vec<u8>| {
        let own = |storage| tensor(storage, 0, &[1], &[1]);
        let first = own(storage("FloatStorage", "0", "cpu", 1));
        load(&pt(&dict(&[("a", first), ("b", own(second))]), &[("0", &[0; 4])]))
    };
    assert_eq!(twice(storage("FloatStorage", "0", "cpu", 1)).expect("it is right").len(), 2);
    fails(twice(storage("IntStorage", "0", "cpu", 1)), &["both storage", "int32"]);
    fails(twice(storage("FloatStorage", "0", "cuda:1", 1)), &["both storage", "cuda:1"]);
    fails(twice(storage("FloatStorage", "7", "cpu", 1)), &["not in the archive", "\"7\""]);
    fails(twice(storage("system", "0", "cpu", 1)), &["\"system\" of the module \"torch\""]);
    let same = |name: &str| {
        (name.to_string(), tensor(storage("FloatStorage", "0", "cpu", 1), 0, &[], &[]))
    };
    let [(_, a), (_, b)] = [same("a"), same("a")];
    fails(load(&pt(&dict(&[("a", a), ("a", b)]), &[("0", &[0; 4])])), &["duplicate", "\"a\""]);
}

/// The opcodes that are carried out, by their bytes: what PyTorch writes in protocols 2 to 5.
const CARRIED_OUT: &[u8] = b"\x80\x95.(})]tNJKMGXaesuqrhjcRbQCB\
      \x85\x86\x87\x88\x89\x8a\x8c\x8d\x8e\x8f\x90\x91\x93\x94\x96";

#[test]
fn every_other_opcode_is_refused_by_name() {
    for opcode in 0..=255u8 {
        // An argument for each form there is: a length of 0, or two lines.
        let body = [&[opcode][..], b"0\n0\n", &[0; 12]].concat();
        let file = pickled(&body);
        let name = pickle_opcodes(&[&body[..], b"."].concat()).map(|ops| ops[0].name);
        if CARRIED_OUT.contains(&opcode) {
            continue;
        }
        match name {
            Ok(name) => fails(open(&file), &[&format!("{name} at position 2: this instruction")]),
            Err(_) => match open(&file) {
                Err(error) => {
                    let shown = error.to_string();
                    let known = shown.contains(&format!("byte 0x{opcode:02x} at position 2"))
                        || shown.contains("at position 2");
                    assert!(known, "{opcode:02x}: {shown}");
                }
                Ok(_) => panic!("opcode {opcode:02x} went through"),
            },
        }
    }
    assert_eq!(CARRIED_OUT.len(), 43);
}

#[test]
fn names_and_calls_beside_the_list_are_refused() {
    for (module, name) in [
        ("posix", "system"),
        ("os", "system"),
        ("builtins", "eval"),
        ("__builtin__", "exec"),
        ("builtins", "getattr"),
        ("copy_reg", "_reconstructor"),
        ("subprocess", "Popen"),
        ("torch", "load"),
        ("torch", ""),
        ("torch.cuda", "init"),
        ("torch._utils", "_rebuild_qtensor"),
        ("torch.storage", "_load_from_bytes"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("collections", "OrderedDict.fromkeys"),
        ("torch\u{e9}", "FloatStorage"),
    ] {
        let says = [&format!("\"{}\"", name.escape_default())[..], "nothing of it was run"];
        let global = format!("c{module}\n{name}\n");
        fails(open(&pickled(global.as_bytes())), &[&["GLOBAL at position 2"], &says[..]].concat());
        let stacked = [text(module), text(name), vec![0x93]].concat();
        fails(open(&pickled(&stacked)), &[&["STACK_GLOBAL"], &says[..]].concat());
    }
    let float = b"ctorch\nFloatStorage\n";
    let calls: [(&[u8], &str); 14] = [
        (b"})R", "a dict cannot be called"),
        (b"NR", "needs more values"),
        (b"ccollections\nOrderedDict\n]R", "arguments are a tuple"),
        (b"ccollections\nOrderedDict\nN\x85R", "cannot be called with 1"),
        (b"ctorch\nTensor\n)R", "cannot be called"),
        (&[float, &b")R"[..]].concat(), "cannot be called"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n)R", "6 arguments"),
        (b"ctorch._utils\n_rebuild_parameter\nN\x85R", "made of a tensor"),
        (b"}}b", "only an OrderedDict"),
        (b"]NNs", "only a dict"),
        (b"}Na", "only a list or a set"),
        (b"}(Nu", "a key has no value"),
        (b"NQ", "by a tuple"),
        (b"c_codecs\nencode\nX\x01\0\0\0aX\x04\0\0\0utf8\x86R", "does not stand for bytes"),
    ];
    for (body, says) in calls {
        fails(open(&pickled(body)), &[says, " at position "]);
    }
}

#[test]
fn a_stream_that_is_no_program_is_refused() {
    for (body, says) in [
        (&b"a"[..], "needs more values"),
        (b"t", "no MARK"),
        (b"]((a", "needs more values"),
        (b"NN", "more than one value"),
        (b"N(", "needs more values"),
        (b"h\x07", "nothing was put"),
        (b"q\x00", "needs more values"),
        (b"\x80\x06N", "protocol 6"),
        (b"\x95\xff\xff\xff\xff\xff\xff\xff\x7fN", "frame"),
        (b"X\xff\xff\xff\xffN", "beyond the end"),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffN", "larger than any file"),
        (b"X\x01\0\0\0\xffN", "not UTF-8"),
        (b"cos", "beyond the end"),
        (b"N.N", "behind STOP"),
    ] {
        fails(open(&pickled(body)), &[says, "data.pkl"]);
    }
    fails(open(&pt(b"", &[])), &["after 0 bytes"]);
    let long = "x".repeat(5000);
    let names = [text(&long), text("f"), vec![0x93]].concat();
    fails(open(&pickled(&names)), &["5000 bytes"]);
}

#[test]
fn the_checksum_is_that_of_zip() {
    assert_eq!(slow_crc(b"123456789"), 0xcbf4_3926, "the check value of ISO 3309");
    for length in 0..40 {
        let data: Vec<u8> = (0..length).map(|i| (i * 37) as u8).collect();
        let file = pt(&dict(&[("n", int(1))]), &[("0", &data)]);
        assert!(open(&file).is_ok(), "{length}");
        let bytes = [&data[..], &[0; 8]].concat();
        let w = tensor(storage("ByteStorage", "0", "cpu", bytes.len() as i64), 0, &[1], &[1]);
        let state = load(&pt(&dict(&[("w", w)]), &[("0", &bytes)])).expect("its checksum is right");
        let first: Tensor = state.get("w").expect("it is there").clone();
        assert_eq!(first.to_vec::<u8>()[0], bytes[0]);
    }
}
