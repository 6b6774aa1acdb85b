package display

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape writes control characters as in Go source: `\x1b`. Line feeds and tabs are kept.
func Escape(s string) string { return escape(s, false, quoted) }

// Plain is a writer that escapes control characters, except the color codes of Style if
// colour is set.
func Plain(w io.Writer, colour bool) io.Writer { return &plain{out: w, colour: colour, as: quoted} }

// PlainJSON escapes control characters in JSON without changing the document.
func PlainJSON(w io.Writer) io.Writer { return &plain{out: w, as: quotedJSON} }

type plain struct {
	out    io.Writer
	colour bool
	as     func(string) string
}

// Write implements io.Writer.
func (p *plain) Write(data []byte) (int, error) {
	if _, err := io.WriteString(p.out, escape(string(data), p.colour, p.as)); err != nil {
		return 0, err
	}
	return len(data), nil
}

func escape(s string, colour bool, as func(string) string) string {
	if strings.IndexFunc(s, odd) < 0 {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		if n := colorCodeLen(s); colour && n > 0 {
			out.WriteString(s[:n])
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1, odd(r):
			out.WriteString(as(s[:n]))
		default:
			out.WriteString(s[:n])
		}
		s = s[n:]
	}
	return out.String()
}

func quoted(s string) string {
	q := strconv.QuoteToASCII(s)
	return q[1 : len(q)-1]
}

func quotedJSON(s string) string {
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&out, `\u%04x`, unit)
	}
	return out.String()
}

func odd(r rune) bool {
	return r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) || r == utf8.RuneError
}

// colorCodeLen is the length of the color code of Style at the start of s.
func colorCodeLen(s string) int {
	for _, code := range []string{reset, bold, dim, red, green, yellow, cyan} {
		if strings.HasPrefix(s, code) {
			return len(code)
		}
	}
	return 0
}
