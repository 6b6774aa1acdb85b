package lease

import (
	"strings"
	"unicode"
)

// Bounds of the texts of a record, in bytes. The store refuses an object of more than 1.5 MiB, and
// a lease that cannot be written is lost.
const (
	MaxReason = 2048
	maxName   = 128 // of a holder, and of a purpose: a queue may have 2000 of each
)

// TrimReason makes a text that a record keeps: without control characters, cut at MaxReason.
func TrimReason(text string) string { return Trim(text, MaxReason) }

// Trim is TrimReason with another bound.
func Trim(text string, most int) string {
	const cut = " (cut)"
	text = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?")))
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(cut)], "") + cut
}

// trimmed returns the ticket with bounded texts.
func (t Ticket) trimmed() Ticket {
	t.Holder, t.Purpose = Trim(t.Holder, maxName), Trim(t.Purpose, maxName)
	return t
}
