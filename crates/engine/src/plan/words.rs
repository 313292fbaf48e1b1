//! Words a plan may use where only certain ones make sense, and which of them was probably meant.

/// The index in `words` of `text`, in any case.
///
/// # Errors
/// A text that names `place`, what was found, the nearest word and all of them; `what` says what they are.
pub fn position(place: &str, what: &str, text: &str, words: &[&str]) -> Result<usize, String> {
    if let Some(index) = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case(text))
    {
        return Ok(index);
    }
    let wanted = text.to_ascii_uppercase();
    let nearest = words
        .iter()
        .min_by_key(|word| distance(&word.to_ascii_uppercase(), &wanted))
        .unwrap_or(&"none");
    Err(format!(
        "{place}: {text:?} is no {what}; nearest is {nearest}, all are {}",
        words.join(", ")
    ))
}

/// Letters to insert, remove or replace to make `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 3] = ["NONE", "ROW", "ROWCOL"];

    #[test]
    fn words_are_found_in_any_case() {
        assert_eq!(position("x", "filter", "row", &WORDS), Ok(1));
    }

    #[test]
    fn a_misspelling_names_the_nearest_word_and_all() {
        let error = position("driver.bloom", "Bloom filter", "ROW_COL", &WORDS).unwrap_err();
        assert_eq!(
            error,
            "driver.bloom: \"ROW_COL\" is no Bloom filter; nearest is ROWCOL, all are NONE, ROW, ROWCOL"
        );
    }
}
