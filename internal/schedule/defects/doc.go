// Package defects holds the scheduling test and lint to what they promise: defects
// of the kinds that people make in overlays, values, profiles, footprints and the
// registry, each put into a copy of the tree that ships with firstlight, and caught
// at its place, with its reason, and nowhere else.
//
// They are data, in testdata/:
//
//	name, about  what it is called, and what is wrong, in a sentence
//	edits        file, old (there exactly once) and new; or remove: true for the file
//	lint         everything that lint says of the edited tree: rule, file, and the
//	             line: one that was edited, the one that has the text in line, or none
//	             where it is said of the whole file; says is a part of the
//	             message or the remedy
//	test         recipe, and the first finding of its test: suspect and reason are
//	             regular expressions; also is one of the suspects of further causes
//	spares       a recipe that the defect does not touch: to the scheduler it is the
//	             same as before
//
// Where lint is absent, it has to say nothing: then it is the test that is needed.
package defects
