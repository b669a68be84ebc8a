//! A pipeline whose results are right, and the copies that it made.

use engine_room::driver::{HostMemory, Route};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor, sim};
use engine_room_labs::cell::thousands;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::experiments::GPU;
use crate::pipeline::Stage;

const DEVICE: Device = Device::Sim(GPU);

/// Runs the whole pipeline and prints what went over each route.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let images = Tensor::rand(&[64, 3, 64, 64], &mut Generator::new(args.seed));
    let stages = stages();
    let names: Vec<&str> = stages.iter().map(|stage| stage.name).collect();
    output.say(&format!(
        "{}, on a batch of {} bytes.\n",
        names.join(", "),
        thousands(images.nbytes())
    ));
    sim::reset(GPU);
    let last = stages.iter().fold(images.clone(), |x, stage| stage.run(&x));
    let mut table = Table::new()
        .column("route", "route", "")
        .column("count", "copies", "")
        .column("bytes", "size", "bytes")
        .column("time", "time", "modelled");
    for memory in [HostMemory::Pageable, HostMemory::Pinned] {
        for route in [Route::ToDevice(memory), Route::ToHost(memory)] {
            let traffic = sim::transfers(GPU).on(route);
            let seconds = Cell::Seconds(traffic.modelled_ns as f64 * 1e-9);
            let (count, bytes) = (Cell::Count(traffic.count), Cell::Bytes(traffic.bytes));
            table.row([route.name().into(), count, bytes, seconds]);
        }
    }
    output.table("rows", &table);
    output.say(&format!("The result lies on {}, as it should.", last.device()));
    if args.mine {
        let found = exercise::find_round_trip(&stages, &images, GPU);
        let named = found.map_or("none of them", |index| names[index]);
        output.say(&format!("Your function says that the round trip is in: {named}."));
    }
    Ok(())
}

/// What prepares a batch of images on the device. Most stages only rearrange; one of them computes
/// on the host.
fn stages() -> Vec<Stage> {
    vec![
        Stage::new("upload", |x| x.pin_memory().to(DEVICE)),
        Stage::new("channels last", |x| x.permute(&[0, 2, 3, 1])),
        Stage::new("crop", |x| x.narrow(1, 4, 56).narrow(2, 4, 56)),
        Stage::new("normalise", |x| x.to(Device::Cpu).sub_scalar(0.5).div_scalar(0.25).to(DEVICE)),
        Stage::new("log a pixel", |x| {
            let _pixel = x.select(0, 0).select(0, 0).select(0, 0).to(Device::Cpu);
            x.clone()
        }),
    ]
}
