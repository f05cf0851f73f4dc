//! What a model keeps of the tokens that it read: keys and values of every layer.

/// Keys and values of the tokens read so far, the same number in every layer.
pub(in crate::generate) struct Memory {
    layers: Vec<Kept>,
    width: usize,
    length: usize,
}

/// The keys and values of one layer, token after token.
#[derive(Clone, Default)]
pub(super) struct Kept {
    pub(super) keys: Vec<f32>,
    pub(super) values: Vec<f32>,
}

impl Memory {
    pub(super) fn new(layers: usize, width: usize) -> Self {
        Self { layers: vec![Kept::default(); layers], width, length: 0 }
    }

    /// How many tokens are in it.
    pub(in crate::generate) fn len(&self) -> usize {
        self.length
    }

    /// The first so many tokens of it, with room for `more`.
    pub(in crate::generate) fn beginning(&self, length: usize, more: usize) -> Self {
        let length = length.min(self.length);
        let (count, room) = (length * self.width, (length + more) * self.width);
        let copy = |numbers: &Vec<f32>| {
            let mut copy = Vec::with_capacity(room);
            copy.extend(numbers.iter().take(count));
            copy
        };
        let layers = self.layers.iter();
        let layers = layers
            .map(|kept| Kept { keys: copy(&kept.keys), values: copy(&kept.values) })
            .collect();
        Self { layers, width: self.width, length }
    }

    /// Gives back the room that is not used.
    pub(in crate::generate) fn shrink(&mut self) {
        for kept in &mut self.layers {
            kept.keys.shrink_to_fit();
            kept.values.shrink_to_fit();
        }
    }

    /// The memory that it takes.
    pub(in crate::generate) fn bytes(&self) -> usize {
        let numbers = self.layers.iter().map(|kept| kept.keys.capacity() + kept.values.capacity());
        numbers.sum::<usize>() * size_of::<f32>()
    }

    /// Adds keys and values of tokens to a layer. They count once every layer has them.
    pub(super) fn extend(&mut self, layer: usize, keys: &[f32], values: &[f32]) -> &Kept {
        let kept = &mut self.layers[layer];
        // A pass that was interrupted may have left something behind.
        kept.keys.truncate(self.length * self.width);
        kept.values.truncate(self.length * self.width);
        kept.keys.extend_from_slice(keys);
        kept.values.extend_from_slice(values);
        kept
    }

    /// So many tokens were added to all layers.
    pub(super) fn advance(&mut self, tokens: usize) {
        self.length += tokens;
    }
}
