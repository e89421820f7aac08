//! Accounts: made, shown, changed and ended (RFC 8555, section 7.3), and their orders.

use alloc::borrow::Cow;
use core::net::IpAddr;

use pq_x509::certificate::EmailAddress;

use super::Server;
use super::answer::{Answer, Refusal};
use super::content;
use super::policy::{Policy, Registration};
use super::posts::{Post, Signer, ended};
use super::settings::MAX_TEXT;
use crate::jws::external_account::ExternalAccount;
use crate::objects::{Account, AccountStatus, AccountUpdate, NewAccount, OrderStatus, OrdersList};
use crate::problem::{Problem, ProblemType};
use crate::store::{AccountRecord, LastChange, Store, StoreError};

impl<S: Store, P: Policy> Server<S, P> {
    pub(super) fn new_account(&self, post: &Post, from: Option<IpAddr>) -> Result<Answer, Refusal> {
        let Signer::Key(key) = &post.by else {
            return Err(Problem::malformed("a new account has a key of its own").into());
        };
        let wish: NewAccount<'_> = content::read(&post.content)?;
        if let Some(account) = self.store.account_of_key(&key.thumbprint())? {
            return self.existing(&account);
        }
        if wish.only_return_existing {
            return Err(Problem::new(
                ProblemType::AccountDoesNotExist,
                "there is no account with this key: make one",
            )
            .into());
        }
        let contact = wish.contact.unwrap_or_default();
        self.check_contacts(&contact)?;
        let meta = self.policy.meta();
        if let Some(terms) = &meta.terms_of_service
            && !wish.terms_of_service_agreed
        {
            let problem = Problem::new(
                ProblemType::UserActionRequired,
                format!("agree to the terms of service first: {terms}"),
            )
            .with_instance(terms.as_str());
            let link = format!("<{terms}>;rel=\"terms-of-service\"");
            return Err(Refusal::from(problem).with("Link", link));
        }
        let external = match wish.external_account_binding {
            None if meta.external_account_required => {
                return Err(Problem::new(
                    ProblemType::ExternalAccountRequired,
                    "accounts have to be bound to one that this CA knows: ask its operator for an identifier and a key",
                )
                .into());
            }
            None => None,
            Some(proof) => {
                let read = ExternalAccount::read(proof.get().as_bytes(), &post.url, key)?;
                let mac_key = self.policy.external_key(read.kid())?;
                if !read.is_by(&mac_key) {
                    return Err(Problem::unauthorized(
                        "the external account binding was not made with the key of that account: check both",
                    )
                    .into());
                }
                Some((read.kid().to_owned(), proof.get().to_owned()))
            }
        };
        let registration = Registration {
            key,
            contact: &contact,
            external: external.as_ref().map(|(kid, _)| kid.as_str()),
            from,
        };
        self.policy.may_register(&registration)?;
        let limits = self.policy.registration_limits(&registration);
        self.count(&limits, post.now)?;
        let account = AccountRecord {
            id: content::fresh_id()?,
            version: 0,
            key: (**key).clone(),
            status: AccountStatus::Valid,
            contact,
            agreed: wish.terms_of_service_agreed,
            external,
            created: post.now,
            nonce: post.nonce.digest,
            last_change: LastChange::default(),
        };
        match self.store.insert_account(account) {
            Ok(account) => Ok(self.show_account(201, &account)),
            // The same request at the same time
            Err(StoreError::KeyTaken(id)) => match self.store.account(&id)? {
                Some(account) => self.existing(&account),
                None => Err(StoreError::Changed.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    fn existing(&self, account: &AccountRecord) -> Result<Answer, Refusal> {
        match account.status {
            AccountStatus::Valid => Ok(self.show_account(200, account)),
            _ => Err(ended().into()),
        }
    }

    fn show_account(&self, status: u16, account: &AccountRecord) -> Answer {
        let contact = account.contact.iter();
        let external = account.external.as_ref();
        let shown = Account {
            status: account.status,
            contact: contact.map(|one| Cow::Borrowed(one.as_str())).collect(),
            terms_of_service_agreed: account.agreed.then_some(true),
            external_account_binding: external
                .and_then(|(_, proof)| serde_json::from_str(proof).ok())
                .map(Cow::Borrowed),
            orders: Some(Cow::Owned(self.urls.orders(&account.id))),
        };
        Answer::json(status, &shown).with("Location", self.urls.account(&account.id))
    }

    fn check_contacts(&self, contacts: &[String]) -> Result<(), Problem> {
        let invalid = |detail: String| Err(Problem::new(ProblemType::InvalidContact, detail));
        if contacts.len() > self.settings.max_contacts {
            let most = self.settings.max_contacts;
            return invalid(format!("there are more than {most} contacts"));
        }
        for contact in contacts {
            let Some(address) = contact.strip_prefix("mailto:") else {
                return Err(Problem::new(
                    ProblemType::UnsupportedContact,
                    "contacts are of the kind \"mailto:someone@example.org\" here",
                ));
            };
            // One address without further fields (RFC 8555 section 7.3)
            if contact.len() > MAX_TEXT || address.contains(['?', ',', '%']) {
                return invalid(
                    "a contact has to be one address, without further fields and escapes".into(),
                );
            }
            if let Err(error) = address.parse::<EmailAddress>() {
                return invalid(error.to_string());
            }
        }
        Ok(())
    }

    pub(super) fn account(&self, post: &Post, id: &str) -> Result<Answer, Refusal> {
        let account = post.account()?;
        if account.id != id {
            return Err(another().into());
        }
        if post.content.is_empty() {
            return Ok(self.show_account(200, account));
        }
        let update: AccountUpdate = content::read(&post.content)?;
        if update == AccountUpdate::default() {
            return Ok(self.show_account(200, account));
        }
        if let Some(contact) = &update.contact {
            self.check_contacts(contact)?;
        }
        match update.status {
            None | Some(AccountStatus::Valid | AccountStatus::Deactivated) => {}
            Some(AccountStatus::Revoked) => {
                return Err(Problem::malformed(
                    "an account can be \"deactivated\" by its holder, and nothing else",
                )
                .into());
            }
        }
        let changed = self.change_account(post, id, |account| {
            if let Some(contact) = &update.contact {
                account.contact.clone_from(contact);
            }
            account.agreed |= update.terms_of_service_agreed == Some(true);
            if let Some(status) = update.status {
                account.status = status;
            }
        })?;
        Ok(self.show_account(200, &changed))
    }

    /// Changes a valid account by a request that was made after its last change.
    pub(super) fn change_account(
        &self,
        post: &Post,
        id: &str,
        change: impl Fn(&mut AccountRecord),
    ) -> Result<alloc::sync::Arc<AccountRecord>, Refusal> {
        for _ in 0..TRIES {
            let read = self.store.account(id)?.ok_or(StoreError::Changed)?;
            if read.status != AccountStatus::Valid {
                return Err(ended().into());
            }
            // Somebody changed the key after the signature was verified.
            if read.key != post.account()?.key {
                return Err(Problem::malformed("the account has another key by now").into());
            }
            let last_change = read.last_change.after(&post.nonce, post.now);
            let last_change = last_change.ok_or(StoreError::NonceTaken)?;
            let mut account = AccountRecord {
                last_change,
                ..(*read).clone()
            };
            change(&mut account);
            match self.store.update_account(account) {
                Err(StoreError::Changed) => {}
                done => return Ok(done?),
            }
        }
        Err(StoreError::Changed.into())
    }

    pub(super) fn orders(
        &self,
        post: &Post,
        id: &str,
        after: Option<&str>,
    ) -> Result<Answer, Refusal> {
        let account = post.account()?;
        if account.id != id {
            return Err(another().into());
        }
        content::nothing(&post.content)?;
        let page = self.store.orders_of(id, after, self.settings.page_len)?;
        let next = (page.len() == self.settings.page_len)
            .then(|| page.last().map(|last| last.id.clone()))
            .flatten();
        let mut orders = Vec::with_capacity(page.len());
        for order in page {
            let url = self.urls.order(&order.id);
            // RFC 8555 section 7.1.2.1: invalid ones are of no interest
            if self.see(order, post.now)?.status != OrderStatus::Invalid {
                orders.push(url);
            }
        }
        let answer = Answer::json(200, &OrdersList { orders });
        Ok(match next {
            None => answer,
            Some(last) => {
                let next = format!("{}?after={last}", self.urls.orders(id));
                answer.linked(&next, "next")
            }
        })
    }
}

/// Ends an account, as its operator: it can't be used any more, its orders get no certificates, and the certificates that it
/// has stay as they are. Returns whether it was not ended so before.
///
/// # Errors
///
/// Those of the store: [`StoreError::Changed`] if there is no such account.
pub fn revoke_account(store: &impl Store, id: &str) -> Result<bool, StoreError> {
    for _ in 0..TRIES {
        let read = store.account(id)?.ok_or(StoreError::Changed)?;
        if read.status == AccountStatus::Revoked {
            return Ok(false);
        }
        let account = AccountRecord {
            status: AccountStatus::Revoked,
            ..(*read).clone()
        };
        match store.update_account(account) {
            Err(StoreError::Changed) => {}
            done => return done.map(|_| true),
        }
    }
    Err(StoreError::Changed)
}

/// How often a change is tried again, if somebody else changed the object meanwhile.
pub(super) const TRIES: usize = 16;

/// The object belongs to another account.
pub(super) fn another() -> Problem {
    Problem::unauthorized("this belongs to another account")
}
