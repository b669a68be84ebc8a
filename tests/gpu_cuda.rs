//! The CUDA driver, where there is an NVIDIA GPU; where there is none this says so, and is content.
//!
//! What costs the process its GPU, or is about a driver that is not right, happens in a process of
//! its own: this program, called again with a scene to play.

#[path = "gpu/driver.rs"]
mod driver;
#[path = "gpu/scenes.rs"]
mod scenes;

use engine_room::{Device, cuda};
use libtest_mimic::{Arguments, Trial};

fn main() {
    if let Some(scene) = std::env::var_os("GPU_CUDA_SCENE") {
        return scenes::play(&scene.to_string_lossy());
    }
    let arguments = Arguments::from_args();
    match Device::cuda(0).and_then(|_| cuda::properties(0)) {
        Ok(gpu) => println!("{gpu}"),
        Err(reason) => return println!("not run: no CUDA device ({reason})"),
    }
    let cases = driver::CASES.iter().chain(scenes::CASES);
    let trial = |(name, run): &(&'static str, fn())| {
        let run = *run;
        Trial::test(*name, move || {
            run();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, cases.map(trial).collect()).exit();
}
