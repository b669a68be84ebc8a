//! Building blocks of models.

pub mod init;
