//! Modules.
use engine_room::nn::*;
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};

#[test]
fn smoke() {
    let mut g = Generator::new(0);
    let config = GptConfig {
        vocab: 11,
        context: 8,
        width: 16,
        layers: 2,
        heads: 4,
        dropout: 0.1,
        tied: true,
    };
    let gpt = Gpt::new(&config, &mut g);
    let x = Tensor::randint(0, 11, &[2, 7], &mut g);
    let y = gpt.forward(&x);
    assert_eq!(y.shape(), [2, 7, 11]);
    y.reshape(&[14, 11]).cross_entropy(&x.reshape(&[14])).backward();
    for (name, p) in gpt.named_parameters() {
        println!("{name} {:?} {:?}", p.get().brief(), p.get().grad().map(|g| g.norm(2.0).item()));
    }
    gpt.to_dtype(DType::BF16);
    let mlp = Mlp::new(&[4, 8, 3], &mut g);
    mlp.forward(&Tensor::ones(&[2, 5]));
}
