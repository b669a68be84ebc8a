//! A module as PyTorch keeps it: what it owns itself, and the modules inside it.

use engine_room::nn::Parameter;

/// A module without its forward pass. Both lists are in the order in which the parts were assigned
/// to the module.
#[derive(Debug, Clone, Default)]
pub struct ModuleTree {
    /// The module's own parameters, each under its name: `weight`.
    pub parameters: Vec<(String, Parameter)>,
    /// The modules inside it, each under its name: `attention`, or `0` in a list.
    pub children: Vec<(String, ModuleTree)>,
}

impl ModuleTree {
    /// Without any part.
    pub fn new() -> ModuleTree {
        ModuleTree::default()
    }

    /// The same with one more parameter.
    pub fn parameter(mut self, name: &str, parameter: &Parameter) -> ModuleTree {
        self.parameters.push((name.to_string(), parameter.clone()));
        self
    }

    /// The same with one more module inside it.
    pub fn child(mut self, name: &str, child: ModuleTree) -> ModuleTree {
        self.children.push((name.to_string(), child));
        self
    }
}
