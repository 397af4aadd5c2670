use super::*;

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn children_are_written_as_in_a_policy() {
    assert_eq!(json(&Children::None), r#""none""#);
    assert_eq!(json(&Children::Any), r#""any""#);
    assert_eq!(json(&Children::Listed(vec!["cc".to_owned(), "/opt/bin".to_owned()])), r#"["cc","/opt/bin"]"#);
    // A program called `any` is not everything.
    assert_eq!(json(&Children::Listed(vec!["any".to_owned()])), r#"["any"]"#);
}

#[test]
fn the_default_is_no_child() {
    assert_eq!(Children::default(), Children::None);
}

#[test]
fn only_what_is_denied_needs_mounts() {
    let mut confinement = Confinement {
        network: Network::None,
        children: Children::None,
        read: vec!["/".to_owned()],
        write: Vec::new(),
        deny: Vec::new(),
    };
    assert!(!confinement.needs_mounts());
    confinement.deny.push(".env".to_owned());
    assert!(confinement.needs_mounts());
}
