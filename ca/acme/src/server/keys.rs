//! Accounts get other keys (RFC 8555, section 7.3.5).

use pq_jose::any::AnyJwk;

use super::Server;
use super::answer::{Answer, Refusal};
use super::content;
use super::policy::Policy;
use super::posts::Post;
use crate::jws;
use crate::objects::KeyChange;
use crate::problem::Problem;
use crate::store::Store;

impl<S: Store, P: Policy> Server<S, P> {
    pub(super) fn change_key(&self, post: &Post) -> Result<Answer, Refusal> {
        let account = post.account()?;
        let (inner, new_key) = jws::read_inner(&post.content, &post.url)?;
        let inner = inner.verify(&new_key)?;
        let wish: KeyChange<'_> = content::read(&inner)?;
        if self.urls.account_in(&wish.account) != Some(&account.id) {
            return Err(Problem::malformed(
                "the inner content's \"account\" is not the account of the outer signature (RFC 8555 section 7.3.5)",
            )
            .into());
        }
        let old_key = AnyJwk::from_json(wish.old_key.get().as_bytes());
        if !old_key.is_ok_and(|old_key| old_key == account.key) {
            return Err(Problem::malformed(
                "the inner content's \"oldKey\" is not the account's key (RFC 8555 section 7.3.5)",
            )
            .into());
        }
        if let Some(other) = self.store.account_of_key(&new_key.thumbprint())? {
            return Err(self.taken(&other.id));
        }
        let changed = self.change_account(post, &account.id, |account| {
            account.key = new_key.clone();
        });
        match changed {
            Ok(account) => Ok(Answer::json(200, &serde_json::Map::new())
                .with("Location", self.urls.account(&account.id))),
            Err(refusal) => match self.store.account_of_key(&new_key.thumbprint())? {
                Some(other) if other.id != account.id => Err(self.taken(&other.id)),
                _ => Err(refusal),
            },
        }
    }

    fn taken(&self, id: &str) -> Refusal {
        let problem = Problem::malformed("an account has the new key already").with_status(409);
        Refusal::from(problem).with("Location", self.urls.account(id))
    }
}
