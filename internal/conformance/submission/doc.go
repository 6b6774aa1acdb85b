// Package submission writes the submission of a product to the CNCF AI Conformance
// program from a conformance run, and validates a submission against the program's
// rules.
//
//	vX.Y/<product>/
//	  PRODUCT.yaml         the checklist, filled in
//	  <requirement>.md     API calls and observations, one file for each requirement
//	  junit.xml            the verdicts
//	  DRAFT.md             only in a draft: why it cannot be submitted
//
//	run, bundle, transcript, redact  the results of a run, read from its evidence
//	product                          the vendor's declarations about the product
//	compose, render, junit, write    the submission
//	validate, rules, requirements,
//	metadata, links, ask, member     the rules
//
// Invariants: a status is never better than the result of the run. An unobserved MUST is
// refused by name, and so is simulated hardware; a draft may have both, is marked in every
// file, and is never valid. The text of the checklist is never edited. A directory is written
// completely or not at all, and never overwrites another.
//
// Validate requests the URLs in a submission with the client in Options. The package
// does not read the environment.
package submission
