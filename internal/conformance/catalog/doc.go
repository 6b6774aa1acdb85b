// Package catalog embeds the requirements of the CNCF AI Conformance program: the checklist of
// each version in the program's own format, with the source of its wording.
//
//	data/AIConformance-X.Y.yaml  the checklist: categories, requirements, levels
//	data/sources.yaml            the source of each, and what is unverified
//	document                     the format of a checklist and of a product's submission
//	metadata                     the keys of its metadata
//	load                         strict decoding
//
// Identifiers, descriptions and levels are the program's and must not be edited: a submission
// with other ones is rejected. The package does no I/O.
package catalog
