//! `State<T>`: what a server shares with its tools.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    ops::Deref,
    sync::Arc,
};

/// A parameter of a tool that holds what the server was given by [`TaskServer::state`](crate::TaskServer::state).
///
/// All calls share one value; it is not an argument and no client sees it. In a test the tool is called with a
/// `State::new(..)` of the test's own.
///
/// ```
/// use mcp_tasks::{State, task_tool};
///
/// struct Inventory {
///     parts: u32,
/// }
///
/// /// Counts the parts.
/// #[task_tool]
/// async fn count(inventory: State<Inventory>) -> u32 {
///     inventory.parts
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(count(State::new(Inventory { parts: 3 })).await, 3);
/// # });
/// ```
pub struct State<T: ?Sized>(Arc<T>);

impl<T> State<T> {
    /// Shares `value`.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> State<T> {
    /// The shared value, to be kept.
    pub fn into_inner(self) -> Arc<T> {
        self.0
    }
}

impl<T: ?Sized> From<Arc<T>> for State<T> {
    fn from(shared: Arc<T>) -> Self {
        Self(shared)
    }
}

impl<T: ?Sized> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&&*self.0).finish()
    }
}

/// The shared values of a server, one of each type.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

/// Each value stands under the type of the parameter that takes it, `State<T>`.
impl States {
    /// Adds a value. False if there is one of this type already.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> bool {
        self.0.insert(TypeId::of::<State<T>>(), Arc::new(value)).is_none()
    }

    /// Whether there is a value for a parameter of this type.
    pub fn has(&self, parameter: TypeId) -> bool {
        self.0.contains_key(&parameter)
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Result<State<T>, MissingState> {
        let shared = self.0.get(&TypeId::of::<State<T>>()).cloned().and_then(|shared| shared.downcast().ok());
        shared.map(State).ok_or(MissingState { type_name: type_name::<T>() })
    }
}

/// A tool wants a `State` that its server was not given.
#[derive(Debug, thiserror::Error)]
#[error("the server has no state of type `{type_name}`: add it with `TaskServer::state`")]
pub(crate) struct MissingState {
    type_name: &'static str,
}
