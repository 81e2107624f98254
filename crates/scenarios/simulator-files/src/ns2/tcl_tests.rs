use super::*;
use proptest::prelude::*;

/// Every command as its words, delimiters shown by the form's first letter.
fn cut(text: &str) -> Vec<Vec<String>> {
    let shown = |w: Word| match w.form {
        Form::Bare => w.text.into_owned(),
        Form::Quoted => format!("Q:{}", w.text),
        Form::Braced => format!("B:{}", w.text),
        Form::Bracketed => format!("C:{}", w.text),
    };
    Commands::new(text).map(|c| c.unwrap().into_iter().map(shown).collect()).collect()
}

#[test]
fn words_commands_and_comments() {
    let text =
        "# a comment \\\n still the comment\nset a 1;set b {x {y} z} ;# tail\n\n  puts \"p q\"\r\n$n(3) go";
    let set = [vec!["set", "a", "1"], vec!["set", "b", "B:x {y} z"]];
    assert_eq!(cut(text), [&set[..], &[vec!["puts", "Q:p q"], vec!["$n(3)", "go"]]].concat());
}

#[test]
fn brackets_quotes_and_continuations() {
    let text = "set tcp [$ns_ create-connection \\\n\t\tTCP $node_(1) \"a b\"]\n\
                $ns_ \\\n  at 1.0 \"$n(1) set \\\"q\\\" [x \"y\"]\"";
    let connect = vec!["set", "tcp", "C:$ns_ create-connection \\\n\t\tTCP $node_(1) \"a b\""];
    assert_eq!(cut(text), [connect, vec!["$ns_", "at", "1.0", "Q:$n(1) set \"q\" [x \"y\"]"]]);
    assert_eq!(cut("a[b c]d $n(1 2) [x][y]"), [vec!["a[b c]d", "$n(1 2)", "[x][y]"]]);
    assert_eq!(cut("#only a comment"), Vec::<Vec<String>>::new());
    assert_eq!(cut("a # is not a comment here"), [vec!["a", "#", "is", "not", "a", "comment", "here"]]);
}

#[test]
fn places_are_those_of_the_file() {
    let c: Vec<_> = Commands::new("a\n  bb \"c\"\n").map(Result::unwrap).collect();
    assert_eq!(c[1][1].place, LineColumn { line: 2, column: 6 });
    // Inside the quotes that begin at line 2, column 6.
    let inner =
        Commands::nested("x\ny", LineColumn { line: 2, column: 7 }).map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(inner[0][0].place, LineColumn { line: 2, column: 7 });
    assert_eq!(inner[1][0].place, LineColumn { line: 3, column: 1 });
}

#[test]
fn what_is_never_closed_is_an_error_at_its_opening() {
    for (text, column) in [("a \"b", 3), ("a {b {c}", 3), ("ab [c [d]", 4), ("x \"y\"z", 6)] {
        let e = Commands::new(text).find_map(Result::err).unwrap();
        assert_eq!(e.place, Some(LineColumn { line: 1, column }), "{text}: {e}");
        assert_eq!(Commands::new(text).filter(Result::is_err).count(), 1);
    }
}

proptest! {
    #[test]
    fn any_text_ends_without_panic(text in r#"([a-z$\[\]{}"\\;# \n\r\t()]|\PC){0,80}"#) {
        for c in Commands::new(&text).flatten() {
            prop_assert!(!c.is_empty());
        }
    }

    #[test]
    fn plain_words_come_back_as_they_were(words in prop::collection::vec("[a-z0-9_.]{1,8}", 1..8)) {
        prop_assert_eq!(cut(&words.join(" ")), vec![words]);
    }
}
