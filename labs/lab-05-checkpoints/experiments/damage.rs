//! Files that are not as they should be, and what the engine makes of them.

use engine_room::serialize::{MapLocation, StateDict, deserialize};
use engine_room_labs::{LabArgs, Output};

use crate::experiments::header::file;
use crate::experiments::wrapped;

/// Prints what each file is, and what loading it gives.
pub fn run(_args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let good = file()?;
    let from = |header: &str, numbers: &[u8]| {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), numbers].concat()
    };
    let mut turned = good.clone();
    let sign_and_exponent = turned.last_mut().ok_or("the file is empty")?;
    *sign_and_exponent ^= 0x20;
    output.say("The file of `header`, and files that somebody made:\n");
    for (what, bytes) in [
        ("as it is", good.clone()),
        ("cut in the middle of its header", good[..100].to_vec()),
        ("without its last byte", good[..good.len() - 1].to_vec()),
        ("with a byte behind it", [&good[..], &[0]].concat()),
        ("ten bytes that claim a header of 2^64 - 1", [&[0xff; 8][..], b"{}"].concat()),
        ("a name twice", from(TWICE, &[0; 8])),
        ("two tensors in one place", from(OVERLAP, &[0; 4])),
        ("a shape whose product does not fit", from(HUGE, &[0; 4])),
        ("one bit turned", turned),
    ] {
        output.say(what);
        output.say(&match deserialize(&bytes, &MapLocation::Saved) {
            Ok(state) => format!("    {}", shown(&state)),
            Err(error) => wrapped(&format!("error: {error}"), "    "),
        });
    }
    Ok(())
}

const TWICE: &str = concat!(
    r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"#,
    r#""w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#
);
const OVERLAP: &str = concat!(
    r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"#,
    r#""b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#
);
/// 2^32 rows of 2^32 elements: the product is 2^64, which 64 bits cannot hold.
const HUGE: &str = r#"{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}"#;

fn shown(state: &StateDict) -> String {
    let values = state.iter().map(|(name, x)| {
        let x = x.to(engine_room::DType::F64);
        let values: Vec<String> = x.to_vec::<f64>().iter().map(|x| format!("{x:?}")).collect();
        format!("{name} = [{}]", values.join(", "))
    });
    format!("loads: {}", values.collect::<Vec<String>>().join(", "))
}
