//! What a table is: its families and their attributes.

use crate::error::Error;
use crate::names::TableName;
use crate::pb::admin::{BytesBytesPair, ColumnFamilySchema, TableSchema};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A table: its name, its families, its own attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDescriptor {
    /// The name.
    pub name: TableName,
    /// At least one.
    pub families: Vec<Family>,
    /// The table's own attributes as HBase spells them (`MAX_FILESIZE`, `DURABILITY` ...); what is absent has HBase's default.
    pub attributes: BTreeMap<String, String>,
}

/// A column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The name: printable, without `:`.
    pub name: String,
    /// What the bloom filters of its files hold.
    pub bloom: Bloom,
    /// Versions of a cell that are kept, at least 1.
    pub versions: u32,
    /// The compression of its files: `NONE`, `GZ`, `SNAPPY`, `LZ4`, `ZSTD` ...; the servers must have the codec.
    pub compression: String,
    /// Whether reads may fill the block cache.
    pub block_cache: bool,
    /// Size of a block in its files before compression, bytes.
    pub block_size: u32,
    /// All other attributes as HBase spells them (`TTL`, `DATA_BLOCK_ENCODING` ...); what is absent has HBase's default.
    pub attributes: BTreeMap<String, String>,
}

/// What a bloom filter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bloom {
    /// There is none.
    None,
    /// Rows.
    Row,
    /// Rows with their columns.
    RowCol,
}

const BLOOM: &str = "BLOOMFILTER";
const VERSIONS: &str = "VERSIONS";
const COMPRESSION: &str = "COMPRESSION";
const BLOCK_CACHE: &str = "BLOCKCACHE";
const BLOCK_SIZE: &str = "BLOCKSIZE";

impl TableDescriptor {
    /// A table with these families and HBase's defaults.
    pub fn new(name: TableName, families: impl IntoIterator<Item = Family>) -> Self {
        Self {
            name,
            families: families.into_iter().collect(),
            attributes: BTreeMap::new(),
        }
    }

    pub(super) fn to_pb(&self) -> TableSchema {
        TableSchema {
            table_name: Some(self.name.to_pb()),
            attributes: pairs(&self.attributes),
            column_families: self.families.iter().map(Family::to_pb).collect(),
        }
    }

    /// None if the server names no table or an attribute that cannot be read.
    pub(super) fn from_pb(schema: &TableSchema) -> Option<Self> {
        Some(Self {
            name: TableName::from_pb(schema.table_name.as_ref()?),
            families: schema
                .column_families
                .iter()
                .map(Family::from_pb)
                .collect::<Option<_>>()?,
            attributes: map(&schema.attributes),
        })
    }
}

impl Family {
    /// A family with HBase's defaults: one version, a bloom filter of rows, no compression, blocks of 64 KiB, cached.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            bloom: Bloom::Row,
            versions: 1,
            compression: "NONE".to_owned(),
            block_cache: true,
            block_size: 64 << 10,
            attributes: BTreeMap::new(),
        }
    }

    fn to_pb(&self) -> ColumnFamilySchema {
        let mut all = self.attributes.clone();
        all.insert(BLOOM.to_owned(), self.bloom.to_string());
        all.insert(VERSIONS.to_owned(), self.versions.to_string());
        all.insert(COMPRESSION.to_owned(), self.compression.clone());
        all.insert(BLOCK_CACHE.to_owned(), self.block_cache.to_string());
        all.insert(BLOCK_SIZE.to_owned(), self.block_size.to_string());
        ColumnFamilySchema {
            name: self.name.as_bytes().to_vec(),
            attributes: pairs(&all),
        }
    }

    fn from_pb(schema: &ColumnFamilySchema) -> Option<Self> {
        let mut family = Self::new(&String::from_utf8_lossy(&schema.name));
        for (key, value) in map(&schema.attributes) {
            match &*key {
                BLOOM => family.bloom = value.parse().ok()?,
                VERSIONS => family.versions = value.parse().ok()?,
                COMPRESSION => family.compression = value,
                BLOCK_CACHE => family.block_cache = value.eq_ignore_ascii_case("true"),
                BLOCK_SIZE => family.block_size = value.parse().ok()?,
                _ => drop(family.attributes.insert(key, value)),
            }
        }
        Some(family)
    }
}

/// As HBase spells it: `NONE`, `ROW`, `ROWCOL`.
impl fmt::Display for Bloom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "NONE",
            Self::Row => "ROW",
            Self::RowCol => "ROWCOL",
        })
    }
}

impl FromStr for Bloom {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::None, Self::Row, Self::RowCol]
            .into_iter()
            .find(|bloom| bloom.to_string() == text)
            .ok_or_else(|| {
                Error::Input(format!(
                    "`{text}` is no bloom filter: use NONE, ROW or ROWCOL"
                ))
            })
    }
}

fn pairs(attributes: &BTreeMap<String, String>) -> Vec<BytesBytesPair> {
    let pair = |(key, value): (&String, &String)| BytesBytesPair {
        first: key.as_bytes().to_vec(),
        second: value.as_bytes().to_vec(),
    };
    attributes.iter().map(pair).collect()
}

fn map(pairs: &[BytesBytesPair]) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    pairs
        .iter()
        .map(|pair| (text(&pair.first), text(&pair.second)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_comes_back_as_it_was_sent() {
        let mut family = Family::new("f");
        family.bloom = Bloom::RowCol;
        family.versions = 7;
        family.compression = "GZ".to_owned();
        family.block_cache = false;
        family.block_size = 8192;
        family.attributes.insert("TTL".to_owned(), "60".to_owned());
        let mut table = TableDescriptor::new("ns:t".parse().unwrap(), [family, Family::new("g")]);
        table
            .attributes
            .insert("DURABILITY".to_owned(), "ASYNC_WAL".to_owned());
        assert_eq!(TableDescriptor::from_pb(&table.to_pb()), Some(table));
    }

    #[test]
    fn attributes_that_cannot_be_read_are_not_guessed() {
        let mut schema = Family::new("f").to_pb();
        let bloom = schema
            .attributes
            .iter_mut()
            .find(|pair| pair.first == BLOOM.as_bytes());
        bloom.unwrap().second = b"NEW_KIND".to_vec();
        assert_eq!(Family::from_pb(&schema), None);
        assert!("row".parse::<Bloom>().is_err());
    }
}
