// Package catalog is what the CNCF AI Conformance programme requires of a
// platform, version by version, as data: each version's checklist in the
// programme's own form, embedded, and beside it where its wording is from.
//
//	data/AIConformance-X.Y.yaml  the checklist: categories, requirements, levels
//	data/sources.yaml            what each was read from, and what is unverified
//	document                     the form of a checklist and of a product's submission
//	metadata                     the keys of its metadata
//	load                         reading them, strictly
//
// Identifiers, descriptions and levels are the programme's words. Nothing here
// edits them, and a submission that does is refused. It does no I/O.
package catalog
