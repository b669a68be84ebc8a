//! A whole safetensors file, byte by byte.

use engine_room::Tensor;
use engine_room::serialize::{StateDict, serialize};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;

/// Prints a file of two tensors.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let file = file()?;
    let (length, rest) = file.split_first_chunk::<8>().ok_or("the file has no length")?;
    let length = u64::from_le_bytes(*length) as usize;
    let (header, numbers) = rest.split_at_checked(length).ok_or("the file has no header")?;
    output.say(&format!("`w` = [1.5, -2.0] and `step` = 7 as a file of {} bytes.\n", file.len()));
    let text = String::from_utf8_lossy(header);
    let blanks = text.len() - text.trim_end().len();
    output.say(&format!(
        "Its header is one line of {length} bytes, {blanks} of them blanks at the end:\n"
    ));
    output.say(&format!("{}\n", text.trim_end().replace("},\"", "},\n\"")));
    let mut table = Table::new()
        .column("at", "at byte", "")
        .column("bytes", "bytes", "")
        .column("says", "they say", "");
    let start = 8 + length;
    let text = format!("the header: {length} characters");
    for (at, bytes, says) in [
        (0, hex(&file[..8]), format!("the length of the header, {length}")),
        (8, format!("{} ... {}", hex(&header[..4]), hex(&header[length - 4..])), text),
        (start, hex(&numbers[..8]), "step: 7".to_string()),
        (start + 8, hex(&numbers[8..12]), "w: 1.5".to_string()),
        (start + 12, hex(&numbers[12..]), "w: -2".to_string()),
    ] {
        table.row([Cell::Count(at as u64), bytes.into(), says.into()]);
    }
    output.table("rows", &table);
    if args.mine {
        output.say("What your function of 5.2 reads in it:\n");
        let tensors = exercise::read_header(&file).map_err(|refusal| format!("{refusal:?}"))?;
        tensors.iter().for_each(|tensor| output.say(&format!("{tensor:?}")));
    }
    Ok(())
}

/// The two tensors as a file.
pub fn file() -> Result<Vec<u8>, String> {
    let w = Tensor::from_vec(vec![1.5_f32, -2.0], &[2]);
    let step = Tensor::from_vec(vec![7_i64], &[]);
    let mut state = StateDict::new();
    state.insert("w", w).and_then(|()| state.insert("step", step)).map_err(|e| e.to_string())?;
    serialize(&state).map_err(|error| error.to_string())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<String>>().join(" ")
}
