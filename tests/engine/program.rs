//! For the engine's tests: runs a program that is written as text, one operation a step, as
//! golden/in_place.json has them. Its tensors have names: leaves a, b, c, then t3 for the result
//! of step 3.

use engine_room::{DType, Tensor, no_grad};

/// The tensors of a program while it runs.
pub struct Program {
    pub tensors: Vec<(String, Tensor)>,
    steps: usize,
}

/// Parts of a word between separators, parsed; of an empty word there are none.
fn list<T: std::str::FromStr>(word: &str, between: char) -> Vec<T> {
    let parts = word.split(between).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok().expect("a number")).collect()
}

fn number(word: &str) -> f64 {
    word.parse().expect("a number")
}

/// The numbers of a floating-point tensor.
pub fn numbers(x: &Tensor) -> Vec<f64> {
    x.detach().to(DType::F64).to_vec()
}

/// `f64 2,3 grad 1,2,3,4,5,6`: type, shape, `grad` or `const`, numbers.
fn leaf(text: &str) -> Tensor {
    let [dtype, shape, asks, values] = text.split(' ').collect::<Vec<_>>()[..] else {
        panic!("not a leaf: {text}")
    };
    let x = Tensor::from_vec(list::<f64>(values, ','), &list(shape, ','));
    let x = if dtype == "f32" { x.to(DType::F32) } else { x };
    x.requires_grad_(asks == "grad")
}

/// `2,3/010110`.
fn mask(word: &str) -> Tensor {
    let (shape, bits) = word.split_once('/').expect("a shape and bits");
    Tensor::from_vec(bits.chars().map(|bit| bit == '1').collect(), &list(shape, ','))
}

/// `0,-1/_/2,1`: an index for dimensions 0 and 2, and all of dimension 1.
fn indices(word: &str) -> Vec<Option<Tensor>> {
    let index = |part: &str| {
        let places: Vec<i64> = list(part, ',');
        let shape = [places.len()];
        (part != "_").then(|| Tensor::from_vec(places, &shape))
    };
    word.split('/').map(|part| if part == "_" { None } else { index(part) }).collect()
}

impl Program {
    pub fn new<'a>(leaves: impl Iterator<Item = &'a str>) -> Program {
        let named = ('a'..).zip(leaves).map(|(name, text)| (name.to_string(), leaf(text)));
        Program { tensors: named.collect(), steps: 0 }
    }

    pub fn get(&self, name: &str) -> &Tensor {
        &self.tensors.iter().find(|(own, _)| own == name).expect("a tensor's name").1
    }

    /// The operation of a step, and its first tensor.
    pub fn target(&self, text: &str) -> (String, Tensor) {
        let mut words = text.trim_start_matches("no_grad ").split(' ');
        let op = words.next().expect("an operation").to_string();
        (op, self.get(words.next().expect("a tensor")).clone())
    }

    /// Runs one step.
    pub fn step(&mut self, text: &str) {
        let (op, x) = self.target(text);
        let args: Vec<&str> = text.trim_start_matches("no_grad ").split(' ').skip(2).collect();
        let run = || match op.ends_with('_') {
            true => self.change(&op, &x, &args),
            false => Some(self.result(&op, &x, &args)),
        };
        let y = if text.starts_with("no_grad ") { no_grad(run) } else { run() };
        self.tensors.extend(y.map(|y| (format!("t{}", self.steps), y)));
        self.steps += 1;
    }

    fn result(&self, op: &str, x: &Tensor, args: &[&str]) -> Tensor {
        let int = |i: usize| args[i].parse::<isize>().expect("an integer");
        let size = |i: usize| int(i) as usize;
        let ints = || list::<isize>(args[0], ',');
        match op {
            "transpose" => x.transpose(int(0), int(1)),
            "permute" => x.permute(&ints()),
            "narrow" => x.narrow(int(0), size(1), size(2)),
            "slice" => x.slice(int(0), int(1), int(2), int(3)),
            "select" => x.select(int(0), int(1)),
            "unsqueeze" => x.unsqueeze(int(0)),
            "squeeze" => x.squeeze(int(0)),
            "unfold" => x.unfold(int(0), size(1), size(2)),
            "expand" => x.expand(&ints()),
            "view" => x.view(&ints()),
            "reshape" => x.reshape(&ints()),
            "detach" => x.detach(),
            "sum" => x.sum_dims(&ints(), args[1] == "keep"),
            "add" => x.add(self.get(args[0])),
            "sub" => x.sub(self.get(args[0])),
            "mul" => x.mul(self.get(args[0])),
            "div" => x.div(self.get(args[0])),
            "add_scalar" => x.add_scalar(number(args[0])),
            "mul_scalar" => x.mul_scalar(number(args[0])),
            "exp" => x.exp(),
            "tanh" => x.tanh(),
            "neg" => x.neg(),
            _ => panic!("no operation {op}"),
        }
    }

    fn change(&self, op: &str, x: &Tensor, args: &[&str]) -> Option<Tensor> {
        match op {
            "add_" => x.add_(self.get(args[0]), number(args[1])),
            "mul_" => x.mul_(self.get(args[0])),
            "zero_" => x.zero_(),
            "fill_" => x.fill_(number(args[0])),
            "copy_" => x.copy_(self.get(args[0])),
            "masked_fill_" => x.masked_fill_(&mask(args[0]), number(args[1])),
            "index_put_" => {
                let indices = indices(args[0]);
                let indices: Vec<Option<&Tensor>> = indices.iter().map(Option::as_ref).collect();
                x.index_put_(&indices, self.get(args[1]), args[2] == "add");
            }
            _ => panic!("no operation {op}"),
        }
        None
    }
}
