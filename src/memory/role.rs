//! Roles: what the bytes of a storage are for.

/// What the bytes of a storage are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Role {
    /// Nothing in particular: inputs, results, temporaries.
    Other,
    /// A leaf that asks for a gradient.
    Parameter,
    /// The gradient of a leaf.
    Gradient,
    /// Saved by a graph for its backward pass; it stays so until it is freed.
    Activation,
    /// State of an optimizer.
    Optimizer,
}

impl Role {
    /// Every role, in the order of the counters.
    pub const ALL: [Role; 5] =
        [Role::Other, Role::Parameter, Role::Gradient, Role::Activation, Role::Optimizer];

    /// The word for it in tables.
    pub fn name(self) -> &'static str {
        match self {
            Role::Other => "other",
            Role::Parameter => "parameter",
            Role::Gradient => "gradient",
            Role::Activation => "activation",
            Role::Optimizer => "optimizer",
        }
    }
}
