//! From a tool to its options. They hold fns, which no metadata can carry: what stands in a tool's `_meta` is a number,
//! and the options are in a table of this process. The number never leaves the server.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
};

use rmcp::{
    ServerHandler,
    model::{MetaObject, Tool},
};

use crate::tool::ToolOptions;

/// Where the number of a tool's options stands in its `_meta`.
const META_KEY: &str = "rs.mcp-tasks/options";

static TABLE: RwLock<Vec<&'static ToolOptions>> = RwLock::new(Vec::new());

/// The `_meta` of a tool with these options.
pub fn tool_meta(meta: Option<MetaObject>, options: &'static ToolOptions) -> MetaObject {
    let mut meta = meta.unwrap_or_default();
    meta.0.insert(META_KEY.to_owned(), number_of(options).into());
    meta
}

/// Takes the number of the options out of a tool that is about to be listed.
pub(super) fn strip(tool: &mut Tool) {
    let emptied = tool.meta.as_mut().is_some_and(|meta| meta.0.remove(META_KEY).is_some() && meta.0.is_empty());
    if emptied {
        tool.meta = None;
    }
}

fn number_of(options: &'static ToolOptions) -> usize {
    let known = |table: &[&'static ToolOptions]| table.iter().position(|other| std::ptr::eq(*other, options));
    if let Some(number) = known(&TABLE.read().unwrap_or_else(PoisonError::into_inner)) {
        return number;
    }
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    known(&table).unwrap_or_else(|| {
        table.push(options);
        table.len() - 1
    })
}

fn options_of(tool: &Tool) -> Option<&'static ToolOptions> {
    let number = tool.meta.as_ref()?.0.get(META_KEY)?.as_u64()?;
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table.get(usize::try_from(number).ok()?).copied()
}

/// A tool and its options.
#[derive(Clone)]
pub(super) struct Known {
    pub tool: Arc<Tool>,
    pub options: Option<&'static ToolOptions>,
}

impl Known {
    fn find<H: ServerHandler>(handler: &H, name: &str) -> Option<Self> {
        let tool = handler.get_tool(name)?;
        Some(Self { options: options_of(&tool), tool: Arc::new(tool) })
    }
}

/// The tools of one handler by name, as they were when first asked for: `#[tool_handler]` builds its whole router anew for
/// each question about a tool. Names that no tool has are not kept, for a client can make up any number of them.
#[derive(Default)]
pub(crate) struct OptionsCache(Mutex<HashMap<Box<str>, Known>>);

impl OptionsCache {
    pub(super) fn find<H: ServerHandler>(&self, handler: &H, name: &str) -> Option<Known> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Some(known.clone());
        }
        let found = Known::find(handler, name)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), found.clone());
        Some(found)
    }

    /// The cache of all handlers of type `H`, for `#[task_handler]`, whose handlers do not live long enough for one each.
    pub(super) fn of_type<H: Any>() -> Arc<Self> {
        static CACHES: OnceLock<Mutex<HashMap<TypeId, Arc<OptionsCache>>>> = OnceLock::new();
        let mut caches = CACHES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(caches.entry(TypeId::of::<H>()).or_default())
    }
}
