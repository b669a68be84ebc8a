//! Embedding: rows of a table, by their numbers.

use crate::Tensor;
use crate::dtype::DType;
use crate::ops::{expect_one_device, refuse};

impl Tensor {
    /// The rows of x, a table `(V, D)`, that indices of any shape name: `(B, T) → (B, T, D)`. The
    /// gradient of a row is the sum over where it was named. The row `padding_idx`, counted from
    /// the end if negative, gets none.
    ///
    /// Composed of `index_select`, `reshape` and, for the padding, `where`; the graph keeps the
    /// indices.
    ///
    /// # Panics
    /// If x is no matrix, the indices are no integers, or one of them or `padding_idx` names no
    /// row.
    #[track_caller]
    pub fn embedding(&self, indices: &Tensor, padding_idx: Option<i64>) -> Tensor {
        expect_one_device("embedding", &[self, indices]);
        let (&[count, width], DType::I64 | DType::I32) = (self.shape(), indices.dtype()) else {
            let message = "needs a table (V, D) and indices of type i64 or i32".to_string();
            refuse("embedding", &[self, indices], message)
        };
        let rows = indices.to(DType::I64).reshape(&[indices.numel()]);
        let is_no_row = |row: &i64| !(0..count as i64).contains(row);
        if let Some(row) = rows.to_vec::<i64>().into_iter().find(is_no_row) {
            refuse("embedding", &[self, indices], format!("index {row} is not in 0..{count}"));
        }
        let mut picked = self.slices(0, &rows);
        if let Some(padding) = padding_idx {
            let row = if padding < 0 { padding + count as i64 } else { padding };
            if is_no_row(&row) {
                let message = format!("padding_idx {padding} names none of {count} rows");
                refuse("embedding", &[self, indices], message);
            }
            let is_padding = rows.eq(&Tensor::full_on(&[], row, DType::I64, rows.device()));
            picked = Tensor::where_cond(&is_padding.unsqueeze(1), &picked.detach(), &picked);
        }
        picked.reshape(&[indices.shape(), &[width]].concat())
    }
}
