//! Who sees a change in place.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use engine_room::{Misuse, Tensor};
use engine_room_labs::{LabArgs, Output, Table};

/// One line of code that makes y.
type Call = (&'static str, fn(&Tensor) -> Tensor);

const CALLS: [Call; 9] = [
    ("x.select(1, 0)", |x| x.select(1, 0)),
    ("x.reshape(&[12])", |x| x.reshape(&[12])),
    ("x.transpose(0, 1).reshape(&[12])", |x| x.transpose(0, 1).reshape(&[12])),
    ("x.transpose(0, 1).reshape(&[2, 2, 3])", |x| x.transpose(0, 1).reshape(&[2, 2, 3])),
    ("x.contiguous()", |x| x.contiguous()),
    ("x.transpose(0, 1).contiguous()", |x| x.transpose(0, 1).contiguous()),
    ("x.copy()", |x| x.copy()),
    ("x.select(0, 0).expand(&[3, 4])", |x| x.select(0, 0).expand(&[3, 4])),
    ("x.unfold(1, 2, 1)", |x| x.unfold(1, 2, 1)),
];

/// Prints how much of x each change reaches, and what is refused.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say("x: [3, 4] holds 1 to 12. y is made of it, and then y.zero_():\n");
    let mut table =
        Table::new().column("y", "y", "").column("changed", "numbers of x that change", "");
    let mut refused = String::new();
    for (name, call) in CALLS {
        let x = Tensor::arange(12).add_scalar(1).reshape(&[3, 4]);
        let y = call(&x);
        let changed = match refusal(|| y.zero_()) {
            None => zeros(&x).to_string(),
            Some(message) => {
                refused = message;
                "refused".to_string()
            }
        };
        table.row([name.into(), changed.into()]);
    }
    output.table("rows", &table);
    output.say(&format!("The last two say:\n{refused}\n"));
    let z = Tensor::arange(6);
    let message = refusal(|| z.narrow(0, 1, 5).copy_(&z.narrow(0, 0, 5)));
    output.say(&format!(
        "z: [6]. z.narrow(0, 1, 5).copy_(&z.narrow(0, 0, 5)) says:\n{}",
        message.ok_or("it was not refused")?
    ));
    Ok(())
}

fn zeros(x: &Tensor) -> usize {
    x.to_vec::<f32>().iter().filter(|&&number| number == 0.0).count()
}

/// What the engine says if it refuses: here, and not as it would at the end of a program.
fn refusal(call: impl FnOnce()) -> Option<String> {
    let usual = take_hook();
    set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(call));
    set_hook(usual);
    let payload = outcome.err()?;
    let Misuse { op, operands, message, .. } = payload.downcast_ref::<Misuse>()?;
    Some(format!("{op}({}):\n{}", operands.join(", "), message.replace("; ", ";\n")))
}
