// Package mutants measures the tests of what judges: it breaks one place of a judge at a
// time, runs the tests, and counts how often they fail (mutation testing).
//
// All mutants of a package are compiled into one test binary (go test -c -overlay), and an
// environment variable switches one of them on. The operators:
//
//	if-false, if-true     a condition of an if is replaced
//	case-false            a condition of a switch without a tag is never true
//	drop-left, drop-right one side of && or || is left out
//	drop-not              ! is left out
//	compare               == and != are swapped; < and <= are swapped; < and > are negated
//	negate                a bool that is returned is negated
//	zero-function         a function returns zero values at once
//	zero-return           a return statement returns zero values
//	drop-append           append returns its first argument
//	drop-statement        an assignment, a call or an increment is left out
//	drop-continue         continue is left out
//	no-loop               the body of a loop is never run
//	constant              a number in a comparison or in arithmetic is one more
//	arithmetic            + is -, - is +, * is /, / is * (of integers: * is +)
//
// # What counts
//
// A mutant counts when it can change a verdict, a suspect or a figure. Mutants that change
// texts only do not count, by these rules:
//
//   - A place is text when it is an argument of fmt.Sprint*, fmt.Errorf, errors.New or
//     strings.Join; an argument for a parameter named format, message, remedy, reason, text
//     or why, or of the variadic parameter after format; or the value of a field named
//     message, remedy or reason, also with a capital.
//   - A variable of type string or []string is text when each of its uses is in text, and so
//     is an unexported function with such a result when each of its calls is.
//   - A statement is text when it only assigns to such variables or fields; an if, a loop or a
//     switch is when all statements in it are, and so is the whole body of such a function.
//   - Functions named Describe, String, Error and MarshalJSON are not mutated.
//
// A string that is compared, used as a key, as a suspect or for its length is not text.
//
// Mutants that no test can kill are listed in equivalent.yaml, each with its reason. They do
// not count; a listed mutant that was killed or does not exist any more is an error.
package mutants
