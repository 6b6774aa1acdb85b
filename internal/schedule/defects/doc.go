// Package defects tests that lint and the scheduling test detect typical defects in overlays,
// values, profiles, footprints and the registry. Each defect is applied to a copy of the
// shipped tree, and must be reported at its position, with its reason, and nowhere else.
//
// The defects are data in testdata/:
//
//	name, about  name of the defect, and its description in one sentence
//	edits        file, old (must occur exactly once) and new; or remove: true for the file
//	lint         every problem that lint reports for the edited tree: rule, file and
//	             position: an edited line, the line with the text in line, or with
//	             whole the file without a line; says is a part of the message or
//	             of the remedy
//	test         recipe, and the first finding of its test: suspect and reason are
//	             regular expressions; also matches the suspects of further causes
//	spares       a recipe that the defect does not affect: its scenario is unchanged
//
// Without lint, lint must report nothing, and test is required.
package defects
