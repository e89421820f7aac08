//! The address of a hash: ADRS (FIPS 205, section 4.2).

/// An address: its 32 bytes as four big-endian numbers.
///
/// These are the layer with the first 4 bytes of the tree's index, which are always zero; the rest
/// of that index; the type and the key pair; two fields whose meaning depends on the type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Address([u64; 4]);

impl Address {
    /// The 32 bytes as four numbers, each with the least significant byte first.
    pub(super) fn little_endian(&self) -> [u64; 4] {
        self.0.map(u64::swap_bytes)
    }

    /// The 32 bytes.
    pub(super) fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
            *bytes = number.to_be_bytes();
        }
        bytes
    }

    /// The 22 bytes of ADRSᶜ, in which layer, tree and type are shorter (section 11.2), and two
    /// zero bytes, as big-endian numbers.
    pub(super) fn compressed(&self) -> [u64; 3] {
        let [layer, tree, kind_and_key_pair, fields] = self.0;
        let key_pair = kind_and_key_pair & u64::from(u32::MAX);
        [
            layer >> 32 << 56 | tree >> 8,
            tree << 56 | kind_and_key_pair >> 32 << 48 | key_pair << 16 | fields >> 48,
            fields << 16,
        ]
    }
}

/// A tree of the hypertree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    pub(super) layer: u32,
    /// Its index in the layer.
    pub(super) index: u64,
}

impl Tree {
    /// The start of a chain of a key pair.
    pub(super) fn wots_prf(self, key_pair: u32, chain: usize) -> Address {
        self.address(WOTS_PRF, key_pair, chain as u32, 0)
    }

    /// A step of a chain.
    pub(super) fn wots_hash(self, key_pair: u32, chain: usize, step: u8) -> Address {
        self.address(WOTS_HASH, key_pair, chain as u32, step.into())
    }

    /// The compression of a public key, which is a leaf of the tree.
    pub(super) fn wots_pk(self, key_pair: u32) -> Address {
        self.address(WOTS_PK, key_pair, 0, 0)
    }

    /// A node of the tree above its leaves.
    pub(super) fn node(self, height: usize, index: u32) -> Address {
        self.address(TREE, 0, height as u32, index)
    }

    fn address(self, kind: u32, key_pair: u32, first: u32, second: u32) -> Address {
        Address([
            u64::from(self.layer) << 32,
            self.index,
            u64::from(kind) << 32 | u64::from(key_pair),
            u64::from(first) << 32 | u64::from(second),
        ])
    }
}

/// A FORS key, identified by the key pair of the bottom layer that signs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fors {
    pub(super) tree: u64,
    pub(super) key_pair: u32,
}

impl Fors {
    /// The secret of a leaf, counted through all trees of the key.
    pub(super) fn prf(self, leaf: u32) -> Address {
        self.address(FORS_PRF, 0, leaf)
    }

    /// A node, counted through all trees of the key; the leaves are at height 0.
    pub(super) fn node(self, height: usize, index: u32) -> Address {
        self.address(FORS_TREE, height as u32, index)
    }

    /// The compression of all roots.
    pub(super) fn roots(self) -> Address {
        self.address(FORS_ROOTS, 0, 0)
    }

    fn address(self, kind: u32, first: u32, second: u32) -> Address {
        let tree = Tree {
            layer: 0,
            index: self.tree,
        };
        tree.address(kind, self.key_pair, first, second)
    }
}

// The types (FIPS 205, table 1).
const WOTS_HASH: u32 = 0;
const WOTS_PK: u32 = 1;
const TREE: u32 = 2;
const FORS_TREE: u32 = 3;
const FORS_ROOTS: u32 = 4;
const WOTS_PRF: u32 = 5;
const FORS_PRF: u32 = 6;

#[cfg(test)]
mod tests {
    use super::{Fors, Tree};

    /// Figures 2 to 9 and 18 of the standard.
    #[test]
    fn fields_are_where_the_standard_has_them() {
        let tree = Tree {
            layer: 0x15,
            index: 0x0102_0304_0506_0708,
        };
        let address = tree.wots_hash(0x0a0b, 0x42, 0x0e);
        let mut expected = [0; 32];
        expected[3] = 0x15;
        expected[8..16].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        expected[22..24].copy_from_slice(&[0x0a, 0x0b]);
        expected[27] = 0x42;
        expected[31] = 0x0e;
        assert_eq!(address.bytes(), expected);
        let compressed = [
            0x15, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0x0a, 0x0b, 0, 0, 0, 0x42, 0, 0, 0, 0x0e, 0, 0,
        ];
        let words = address.compressed().map(u64::to_be_bytes);
        assert_eq!(words.as_flattened(), compressed);
        let words = address.little_endian().map(u64::to_le_bytes);
        assert_eq!(words.as_flattened(), expected);

        let fors = Fors {
            tree: 7,
            key_pair: 9,
        };
        let bytes = fors.node(3, 0x0001_0203).bytes();
        assert_eq!(bytes[19..24], [3, 0, 0, 0, 9]);
        assert_eq!(bytes[27..], [3, 0, 1, 2, 3]);
        for (address, kind) in [
            (tree.wots_pk(1), 1),
            (tree.node(1, 2), 2),
            (fors.node(0, 1), 3),
            (fors.roots(), 4),
            (tree.wots_prf(1, 2), 5),
            (fors.prf(1), 6),
        ] {
            assert_eq!(address.bytes()[19], kind);
            assert_eq!(address.compressed()[1].to_be_bytes()[1], kind);
        }
    }
}
