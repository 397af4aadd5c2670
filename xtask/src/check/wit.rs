//! The contract: it parses, all its worlds resolve, and every item says since when it is there and what it means.

use anyhow::{Context, Result, bail};
use wit_parser::{Docs, Function, InterfaceId, Resolve, Stability, Type, TypeDef, TypeDefKind, TypeOwner, WorldItem};

use crate::project;

/// Checks `/wit`.
pub(super) fn check() -> Result<Vec<String>> {
    let folder = project::root().join("wit");
    let mut resolve = Resolve::default();
    let (id, _) = resolve.push_dir(&folder).with_context(|| format!("can't read {}", folder.display()))?;
    let package = &resolve.packages[id];
    let mut missing = Missing(Vec::new());
    for (name, interface_id) in &package.interfaces {
        interface(&resolve, *interface_id, name, &mut missing);
    }
    for (name, world_id) in &package.worlds {
        let world = &resolve.worlds[*world_id];
        missing.expect(name, &world.docs, &world.stability);
        for item in world.imports.values().chain(world.exports.values()) {
            match item {
                // Those of WASI come in by `include`, which has its own @since.
                WorldItem::Interface { id: imported, stability, .. } => {
                    let imported = &resolve.interfaces[*imported];
                    if imported.package == Some(id) {
                        let import = imported.name.as_deref().unwrap_or("an interface");
                        missing.expect_since(&format!("{name}: {import}"), stability);
                    }
                }
                WorldItem::Function(f) => function(name, f, &mut missing),
                WorldItem::Type { id: type_id, .. } => type_def(name, &resolve.types[*type_id], &mut missing),
            }
        }
    }
    match missing.0.as_slice() {
        [] => Ok(Vec::new()),
        all => bail!("wit/ lacks:\n  {}", all.join("\n  ")),
    }
}

/// What is missing, a line each.
struct Missing(Vec<String>);

impl Missing {
    fn expect(&mut self, name: &str, docs: &Docs, stability: &Stability) {
        self.expect_docs(name, docs);
        self.expect_since(name, stability);
    }

    fn expect_docs(&mut self, name: &str, docs: &Docs) {
        if docs.contents.as_deref().is_none_or(|text| text.trim().is_empty()) {
            self.0.push(format!("a description of {name}"));
        }
    }

    fn expect_since(&mut self, name: &str, stability: &Stability) {
        match stability {
            Stability::Stable { .. } | Stability::Unstable { .. } => {}
            Stability::Unknown => self.0.push(format!("@since at {name}")),
        }
    }
}

fn interface(resolve: &Resolve, id: InterfaceId, name: &str, missing: &mut Missing) {
    let interface = &resolve.interfaces[id];
    missing.expect(name, &interface.docs, &interface.stability);
    for id in interface.types.values() {
        let definition = &resolve.types[*id];
        if is_use(resolve, definition) {
            missing.expect_since(&label(name, definition), &definition.stability);
        } else {
            type_def(name, definition, missing);
        }
    }
    interface.functions.values().for_each(|f| function(name, f, missing));
}

fn function(place: &str, function: &Function, missing: &mut Missing) {
    missing.expect(&format!("{place}.{}", function.name), &function.docs, &function.stability);
}

fn type_def(place: &str, definition: &TypeDef, missing: &mut Missing) {
    let name = label(place, definition);
    missing.expect(&name, &definition.docs, &definition.stability);
    let parts: Vec<(&str, &Docs)> = match &definition.kind {
        TypeDefKind::Record(record) => record.fields.iter().map(|field| (&*field.name, &field.docs)).collect(),
        TypeDefKind::Variant(variant) => variant.cases.iter().map(|case| (&*case.name, &case.docs)).collect(),
        TypeDefKind::Enum(cases) => cases.cases.iter().map(|case| (&*case.name, &case.docs)).collect(),
        TypeDefKind::Flags(flags) => flags.flags.iter().map(|flag| (&*flag.name, &flag.docs)).collect(),
        TypeDefKind::Resource
        | TypeDefKind::Handle(_)
        | TypeDefKind::Tuple(_)
        | TypeDefKind::Option(_)
        | TypeDefKind::Result(_)
        | TypeDefKind::List(_)
        | TypeDefKind::Map(..)
        | TypeDefKind::FixedLengthList(..)
        | TypeDefKind::Future(_)
        | TypeDefKind::Stream(_)
        | TypeDefKind::Type(_)
        | TypeDefKind::Unknown => Vec::new(),
    };
    parts.iter().for_each(|(part, docs)| missing.expect_docs(&format!("{name}.{part}"), docs));
}

/// Whether it only brings in the type of another interface, by `use`.
fn is_use(resolve: &Resolve, definition: &TypeDef) -> bool {
    match (&definition.kind, definition.owner) {
        (TypeDefKind::Type(Type::Id(other)), TypeOwner::Interface(_)) => {
            resolve.types[*other].owner != definition.owner
        }
        (_, TypeOwner::Interface(_) | TypeOwner::World(_) | TypeOwner::None) => false,
    }
}

fn label(place: &str, definition: &TypeDef) -> String {
    format!("{place}.{}", definition.name.as_deref().unwrap_or("a type"))
}
