//! The contents of extensions, as text.

use core::net::IpAddr;

use const_oid::AssociatedOid;
use pq_x509::keys::encoding::syntax::{Element, elements};
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use pq_x509::x509_cert::ext::pkix::{
    AuthorityInfoAccessSyntax, BasicConstraints, CrlDistributionPoints, ExtendedKeyUsage, KeyUsage,
    NameConstraints, SubjectAltName,
};

use super::counts::with_unit;
use super::fingerprint::hex;
use crate::words::oid_name;

/// The contents of the extension of a kind, if it is there.
pub(crate) fn find<'a, E>(extensions: &'a [Extension]) -> Option<E>
where
    E: AssociatedOid + Decode<'a>,
{
    extensions.iter().find_map(decoded)
}

/// The contents of an extension, if it is of this kind.
fn decoded<'a, E>(extension: &'a Extension) -> Option<E>
where
    E: AssociatedOid + Decode<'a>,
{
    let der = extension.extn_value.as_bytes();
    (extension.extn_id == E::OID).then(|| E::from_der(der).ok())?
}

/// What somebody asks for by an extension, for sentences.
pub(crate) fn asked(extension: &Extension) -> String {
    let usages = |KeyUsage(usages)| {
        let names = usages
            .into_iter()
            .map(|usage| lower_first(&format!("{usage:?}")));
        names.collect::<Vec<_>>().join(", ")
    };
    let purposes = |ExtendedKeyUsage(all)| {
        let names = all.into_iter().map(oid_name);
        names.collect::<Vec<_>>().join(", ")
    };
    let constraints = |constraints: BasicConstraints| match constraints {
        BasicConstraints { ca: false, .. } => "no CA".to_owned(),
        BasicConstraints {
            path_len_constraint: Some(len),
            ..
        } => format!(
            "a CA, with at most {} below it",
            with_unit(len.into(), "CA")
        ),
        _ => "a CA".into(),
    };
    let value = decoded(extension)
        .map(usages)
        .or_else(|| decoded(extension).map(purposes))
        .or_else(|| decoded(extension).map(constraints))
        .or_else(|| value_of(extension));
    let value = value.unwrap_or_else(|| {
        let len = extension.extn_value.as_bytes().len();
        with_unit(len as u64, "byte")
    });
    format!("{}: {value}", oid_name(extension.extn_id))
}

/// The contents of an extension that is not among a certificate's other facts.
pub(crate) fn value_of(extension: &Extension) -> Option<String> {
    decoded(extension)
        .map(distribution_points)
        .or_else(|| decoded(extension).map(information_access))
        .or_else(|| decoded(extension).map(name_constraints))
}

pub(super) fn distribution_points(points: CrlDistributionPoints) -> String {
    let names = points
        .0
        .iter()
        .filter_map(|point| match &point.distribution_point {
            Some(DistributionPointName::FullName(names)) => Some(general_names(names)),
            _ => None,
        });
    names.collect::<Vec<_>>().join(", ")
}

fn information_access(access: AuthorityInfoAccessSyntax) -> String {
    let each = access.0.iter().map(|access| {
        let method = oid_name(access.access_method);
        format!("{method} {}", general_name(&access.access_location))
    });
    each.collect::<Vec<_>>().join(", ")
}

fn name_constraints(constraints: NameConstraints) -> String {
    let subtrees = [
        ("permitted", constraints.permitted_subtrees),
        ("excluded", constraints.excluded_subtrees),
    ];
    let each = subtrees.into_iter().filter_map(|(which, subtrees)| {
        let names: Vec<GeneralName> = subtrees?.into_iter().map(|tree| tree.base).collect();
        Some(format!("{which} {}", general_names(&names)))
    });
    each.collect::<Vec<_>>().join("; ")
}

pub(crate) fn alternative_names(extensions: &[Extension]) -> Vec<String> {
    let of_names = |extension: &&Extension| extension.extn_id == SubjectAltName::OID;
    let names = extensions.iter().find(of_names);
    let names = names.map(|names| elements(names.extn_value.as_bytes()));
    let names = names.and_then(|mut whole| whole.next());
    let names = names.into_iter().flat_map(|names| elements(names.value));
    // A name that can't be read hides no other.
    let text = |name: Element<'_>| match GeneralName::from_der(name.whole) {
        Ok(name) => general_name(&name),
        Err(_) if name.tag == X400_ADDRESS => format!("X.400:{}", hex(name.value)),
        Err(_) => format!("unknown:{}", hex(name.whole)),
    };
    names.map(text).collect()
}

/// The tag of an x400Address, which `x509-cert` doesn't know.
const X400_ADDRESS: u8 = 0xa3;

pub(super) fn general_names(names: &[GeneralName]) -> String {
    let names: Vec<String> = names.iter().map(general_name).collect();
    names.join(", ")
}

/// DNS names and addresses as they are, others after their kind.
fn general_name(name: &GeneralName) -> String {
    match name {
        GeneralName::DnsName(name) => printable(name.as_str()),
        GeneralName::IpAddress(octets) => address(octets.as_bytes()),
        GeneralName::Rfc822Name(name) => format!("email:{}", printable(name.as_str())),
        GeneralName::UniformResourceIdentifier(uri) => {
            format!("URI:{}", printable(uri.as_str()))
        }
        GeneralName::DirectoryName(name) => format!("directory:{}", printable(&name.to_string())),
        GeneralName::RegisteredId(oid) => format!("id:{oid}"),
        GeneralName::OtherName(other) => format!("other:{}", other.type_id),
        GeneralName::EdiPartyName(name) => {
            format!(
                "EDI:{}",
                name.to_der()
                    .map_or_else(|_| String::new(), |der| hex(&der))
            )
        }
    }
}

/// An address, or in name constraints an address with its mask.
fn address(octets: &[u8]) -> String {
    let ip = |octets: &[u8]| match octets.len() {
        4 => <[u8; 4]>::try_from(octets).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(octets).ok().map(IpAddr::from),
        _ => None,
    };
    if let Some(address) = ip(octets) {
        return address.to_string();
    }
    let (address, mask) = octets.split_at(octets.len() / 2);
    let prefix: u32 = mask.iter().map(|octet| octet.count_ones()).sum();
    match ip(address) {
        Some(address) if address.is_ipv4() == (octets.len() == 8) => format!("{address}/{prefix}"),
        _ => format!("address:{}", hex(octets)),
    }
}

/// The standards' names of key usages begin with a small letter.
pub(super) fn lower_first(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}

/// Makes a text that anybody may have written safe to print: nothing in it starts a line or moves the cursor.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::new();
    for character in text.chars() {
        match character {
            ' '..='~' => printable.push(character),
            _ => printable.extend(character.escape_debug()),
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_subnets() {
        assert_eq!(address(&[192, 0, 2, 1]), "192.0.2.1");
        assert_eq!(address(&[10, 0, 0, 0, 255, 0, 0, 0]), "10.0.0.0/8");
        assert_eq!(address(&[0; 16]), "::");
        assert_eq!(address(&[0; 32]), "::/0");
        assert_eq!(address(&[1, 2, 3]), "address:010203");
        assert_eq!(address(&[]), "address:");
    }

    #[test]
    fn names_of_key_usages_are_the_standards() {
        use pq_x509::certificate::KeyUsages;
        for (usage, name) in [
            (KeyUsages::DigitalSignature, "digitalSignature"),
            (KeyUsages::CRLSign, "cRLSign"),
        ] {
            assert_eq!(lower_first(&format!("{usage:?}")), name);
        }
    }
}
