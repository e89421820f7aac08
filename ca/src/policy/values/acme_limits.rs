//! How much clients may do by ACME.

use super::rate::Rate;

/// How much clients may do by ACME: the table `[acme.limits]` of a policy's file. A rate that is missing is no limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AcmeLimits {
    /// New accounts from one address: an IPv4 address, or a /64 of IPv6.
    pub accounts_per_address: Option<Rate>,
    /// New orders from one address: an IPv4 address, or a /64 of IPv6.
    pub orders_per_address: Option<Rate>,
    /// New orders of one account.
    pub orders_per_account: Option<Rate>,
    /// New orders for names with the same last two labels.
    pub orders_per_domain: Option<Rate>,
    /// New orders for exactly the same names.
    pub orders_per_names: Option<Rate>,
    /// Validations of one name that fail, for one account.
    pub failed_validations: Option<Rate>,
    /// Orders of one account that have neither a certificate nor come to nothing.
    pub pending_orders: u32,
    /// Authorizations of one account that are not decided.
    pub pending_authorizations: u32,
}
