// Package submission makes of a conformance run what a product submits to the
// CNCF AI Conformance programme, and holds such a submission against the
// programme's rules.
//
//	vX.Y/<product>/
//	  PRODUCT.yaml         the checklist, filled in
//	  <requirement>.md     what was called and seen, one file a requirement
//	  junit.xml            the verdicts
//	  DRAFT.md             only of a draft: why it is none that can be submitted
//
//	run, bundle, transcript, redact  what a run showed, read from its evidence
//	product                          what the vendor says of the product
//	compose, render, junit, write    the submission
//	validate, rules and what they
//	call                             the rules
//
// Invariants: a status is never better than what was shown. What the run did not
// see is refused by name, and so is simulated hardware; a draft may have both,
// says so in every file, and is never valid. Nobody's words of the checklist are
// edited. A directory is written whole or not at all, and never over another.
//
// It asks the addresses in a submission whether they answer, through a client
// that it is given; it reads no environment.
package submission
