// Package standing says how a platform stands to a requirement that it should meet, and
// that fails no run: Implemented, Partially Implemented, Not Implemented, each with what
// was seen.
//
//	account  what was seen of a requirement's parts, and the judgement that it makes
//	look     how checks of such requirements observe
//
// Invariants: what could not be seen is not "not there": it leaves the requirement open,
// whatever else was seen. Nothing seen at all is open. N/A is never the judgement of a
// check: it is said by the site, or follows from it (Exempt of a check).
package standing
