//! What a learner may have thought.
