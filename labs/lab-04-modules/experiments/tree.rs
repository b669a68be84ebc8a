//! The tree of a small GPT: what is found in it, under which names, and how often.

use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::rng::Generator;
use engine_room_labs::{Cell, LabArgs, Output, Table};

/// One block, so that the tree fits a page.
const CONFIG: GptConfig =
    GptConfig { vocab: 256, context: 64, width: 32, layers: 1, heads: 4, dropout: 0.1, tied: true };

/// Prints the tree, and what two lists of it contain.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let gpt = Gpt::new(&CONFIG, &mut Generator::new(args.seed));
    output.say(&gpt.summary().to_string());
    let mut table = Table::new()
        .column("list", "list", "")
        .column("entries", "entries", "")
        .column("numbers", "numbers", "")
        .column("bytes", "size", "bytes");
    let parameters: Vec<_> = gpt.parameters().iter().map(|parameter| parameter.get()).collect();
    let state: Vec<_> = gpt.state_dict().iter().map(|(_, tensor)| tensor.clone()).collect();
    for (name, tensors) in [("parameters()", &parameters), ("state_dict()", &state)] {
        table.row([
            name.into(),
            Cell::Count(tensors.len() as u64),
            Cell::Count(tensors.iter().map(|x| x.numel() as u64).sum()),
            Cell::Bytes(tensors.iter().map(|x| x.nbytes()).sum()),
        ]);
    }
    output.table("lists", &table);
    Ok(())
}
