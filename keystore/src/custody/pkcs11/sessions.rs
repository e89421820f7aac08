//! Sessions with a token: kept for the next call, bounded in number, and opened anew when they were lost.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cryptoki::error::{Error, RvError};
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;

use super::failure::{Failure, refused};
use super::module;
use super::objects;
use super::options::Pkcs11Options;
use super::turn::Turn;
use crate::custody::answers::InvalidAnswer;
use crate::custody::{ObjectId, TokenError, TokenSerial};

/// How many handles of objects a session keeps.
const MAX_HANDLES: usize = 256;

/// The sessions with one token.
pub(super) struct Sessions {
    options: Pkcs11Options,
    /// Nobody calls the module while holding it: a call may never return.
    state: Mutex<State>,
    freed: Condvar,
    /// Who opens a session and logs in.
    opening: Turn,
}

#[derive(Default)]
struct State {
    idle: Vec<Opened>,
    /// Those that are in use, and those being opened.
    used: usize,
    /// Grows when sessions were lost, so that those of before aren't kept.
    generation: u64,
    /// What the token said to the PIN, if it refused it.
    refused: Option<TokenError>,
}

/// A session, with the handles of objects that it has seen.
pub(super) struct Opened {
    pub(super) session: Session,
    /// The serial number of the token, which the session doesn't outlive.
    pub(super) serial: Option<TokenSerial>,
    handles: HashMap<(ObjectId, bool), ObjectHandle>,
    generation: u64,
}

/// A place among the sessions in use, which is given back.
struct Place<'a>(&'a Sessions);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state().used -= 1;
        self.0.freed.notify_one();
    }
}

impl Sessions {
    pub(super) fn new(options: Pkcs11Options) -> Self {
        Self {
            options,
            state: Mutex::default(),
            freed: Condvar::new(),
            opening: Turn::default(),
        }
    }

    pub(super) fn options(&self) -> &Pkcs11Options {
        &self.options
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something in a session, and once more in a new one if the first was lost.
    pub(super) fn with<T>(
        &self,
        mut act: impl FnMut(&mut Opened) -> Result<T, Failure>,
    ) -> Result<T, TokenError> {
        match self.once(&mut act) {
            Err(Failure::Lost(_)) => self.once(&mut act).map_err(Failure::into_error),
            result => result.map_err(Failure::into_error),
        }
    }

    /// Does something in a session that answers, once.
    pub(super) fn with_fresh<T>(
        &self,
        act: impl FnOnce(&mut Opened) -> Result<T, Failure>,
    ) -> Result<T, TokenError> {
        // Those that were lost without anybody noticing are noticed here.
        self.with(|opened| Ok(opened.session.get_session_info().map(drop)?))?;
        self.once(act).map_err(Failure::into_error)
    }

    fn once<T>(&self, act: impl FnOnce(&mut Opened) -> Result<T, Failure>) -> Result<T, Failure> {
        let until = Instant::now() + self.options.wait;
        let (place, idle) = self.wait_for_place(until)?;
        let mut opened = match idle {
            Some(opened) => opened,
            None => self.open(until)?,
        };
        let result = act(&mut opened);
        let mut state = self.state();
        match result {
            // The others were most likely lost with it.
            Err(Failure::Lost(_)) if opened.generation == state.generation => {
                state.generation += 1;
                let lost = core::mem::take(&mut state.idle);
                drop(state);
                drop((lost, opened));
            }
            Err(Failure::Lost(_)) => drop(state),
            _ if opened.generation == state.generation => {
                state.idle.push(opened);
                drop(state);
            }
            _ => drop(state),
        }
        drop(place);
        result
    }

    /// Waits until one more session may be used, and takes one that is open, if any.
    fn wait_for_place(&self, until: Instant) -> Result<(Place<'_>, Option<Opened>), Failure> {
        let mut state = self.state();
        while state.used >= self.options.sessions {
            let left = until.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return Err(Failure::Token(TokenError::Busy {
                    sessions: self.options.sessions,
                    seconds: self.options.wait.as_secs(),
                }));
            }
            let waited = self.freed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.used += 1;
        let idle = state.idle.pop();
        drop(state);
        Ok((Place(self), idle))
    }

    /// Opens a session, and logs in unless another session of this process did.
    fn open(&self, until: Instant) -> Result<Opened, Failure> {
        // One PIN at a time: a wrong one is offered once, not by each thread. Whoever waits for a module that hangs asks it
        // nothing meanwhile, so that it waits no longer than it should.
        let turn = self.opening.take(until);
        let _turn = turn.ok_or_else(module::is_silent)?;
        let generation = {
            let state = self.state();
            if let Some(refused) = &state.refused {
                return Err(Failure::Token(refused.clone()));
            }
            state.generation
        };
        let module = module::load(&self.options.module, until)?;
        let slot = module::slot_of(&module, &self.options)?;
        let session = module.open_rw_session(slot)?;
        // Asked after the session is there: if another token takes the place of this one, the session is lost.
        let info = module.get_token_info(slot)?;
        self.log_in(&session, info.login_required())?;
        Ok(Opened {
            session,
            serial: TokenSerial::new(info.serial_number()),
            handles: HashMap::new(),
            generation,
        })
    }

    fn log_in(&self, session: &Session, is_required: bool) -> Result<(), Failure> {
        let pin = self.options.pin.as_ref();
        let pin = pin.map(|pin| AuthPin::from(pin.as_str().to_owned()));
        if pin.is_none() && !is_required {
            return Ok(());
        }
        match session.login(UserType::User, pin.as_ref()) {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(()),
            Err(error) => {
                if let error @ TokenError::Pin(_) = refused(&error) {
                    self.state().refused = Some(error);
                }
                Err(error.into())
            }
        }
    }
}

impl Opened {
    /// The private or public half of a key pair.
    pub(super) fn find(
        &mut self,
        object: &ObjectId,
        class: ObjectClass,
    ) -> Result<ObjectHandle, Failure> {
        let place = (*object, class == ObjectClass::PRIVATE_KEY);
        if let Some(handle) = self.handles.get(&place) {
            return Ok(*handle);
        }
        let found = self.look(object, class)?;
        match found[..] {
            [handle] => {
                if self.handles.len() >= MAX_HANDLES {
                    self.handles.clear();
                }
                self.handles.insert(place, handle);
                Ok(handle)
            }
            [] => Err(Failure::Token(TokenError::NoObject(*object))),
            _ => Err(InvalidAnswer::Several(found.len()).into()),
        }
    }

    /// All private or public keys with this identifier, as the token says now.
    pub(super) fn look(
        &self,
        object: &ObjectId,
        class: ObjectClass,
    ) -> Result<Vec<ObjectHandle>, Failure> {
        let wanted = [
            Attribute::Token(true),
            Attribute::Class(class),
            Attribute::Id(object.as_bytes().to_vec()),
        ];
        objects::find(&self.session, &wanted, objects::FEW)
    }

    /// Forgets the handles of a key pair.
    pub(super) fn forget(&mut self, object: &ObjectId) {
        self.handles.retain(|(kept, _), _| kept != object);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A thread whose login hangs stops no other one for longer than the options say.
    #[test]
    fn a_module_that_hangs_is_not_waited_for() {
        let options =
            Pkcs11Options::new("/nonexistent/module", "t").wait(Duration::from_millis(50));
        let sessions = Sessions::new(options);
        let now = Instant::now();
        let code = || sessions.with(|_| Ok(())).unwrap_err().code();
        let hanging = sessions.opening.take(now);
        assert!(hanging.is_some());
        thread::scope(|scope| {
            let waiting = [(); 3].map(|()| scope.spawn(code));
            for waited in waiting {
                assert_eq!(waited.join().unwrap(), "token-away");
            }
        });
        assert!(now.elapsed() < Duration::from_secs(20));
        assert_eq!(sessions.state().used, 0);
        // Once it answers, the next one is in turn.
        drop(hanging);
        assert_eq!(code(), "token-module");
    }
}
