//! As much of JSON Schema (draft 2020-12) as golden/trace_schema.json uses.

use serde_json::Value;

/// Keywords that say nothing about a value.
const SILENT: [&str; 4] = ["$schema", "$defs", "title", "description"];

/// What is wrong with a value, if anything is: where, and which keyword says so.
pub fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let wrong = match keyword.as_str() {
            "type" => !is_of(rule.as_str().expect("a type"), value),
            "enum" => !rule.as_array().expect("values").contains(value),
            "minimum" => value.as_f64().is_some_and(|it| it < rule.as_f64().expect("a number")),
            "required" => {
                let names = rule.as_array().expect("names").iter();
                let mut names = names.map(|name| name.as_str().expect("a name"));
                value.as_object().is_some_and(|object| names.any(|it| !object.contains_key(it)))
            }
            "additionalProperties" => {
                assert_eq!(rule, false, "the one form that is known here");
                let known = &schema["properties"];
                value.as_object().is_some_and(|it| it.keys().any(|key| known.get(key).is_none()))
            }
            "oneOf" => {
                let forms = rule.as_array().expect("schemas").iter();
                forms.filter(|form| check(root, form, value, at).is_ok()).count() != 1
            }
            "properties" | "items" | "$ref" => {
                inside(root, keyword, rule, value, at)?;
                false
            }
            silent => {
                assert!(SILENT.contains(&silent), "`{silent}` is not known here");
                false
            }
        };
        if wrong {
            return Err(format!("{at}: {keyword} {rule}, not {value}"));
        }
    }
    Ok(())
}

fn inside(
    root: &Value,
    keyword: &str,
    rule: &Value,
    value: &Value,
    at: &str,
) -> Result<(), String> {
    match keyword {
        "$ref" => {
            let path = rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a path");
            check(root, root.pointer(path).expect("what it refers to"), value, at)
        }
        "items" => {
            let mut items = value.as_array().into_iter().flatten().enumerate();
            items.try_for_each(|(i, item)| check(root, rule, item, &format!("{at}[{i}]")))
        }
        _ => rule.as_object().expect("properties").iter().try_for_each(|(name, rule)| {
            let property = value.get(name);
            property.map_or(Ok(()), |it| check(root, rule, it, &format!("{at}.{name}")))
        }),
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("type `{other}` is not known here"),
    }
}
