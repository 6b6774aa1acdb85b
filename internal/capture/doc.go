// Package capture records what the tools of a machine with a GPU print, as files of the corpus that
// the parsers are tested with (internal/probe/corpus). Identities are replaced.
package capture
