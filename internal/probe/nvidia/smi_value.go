package nvidia

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// smiReader converts the texts of one GPU to figures and collects the errors.
type smiReader struct {
	// failures are figures that the GPU failed to report.
	failures []string
	// err is the first invalid text.
	err error
}

// absent reports whether the GPU or driver does not support a figure.
func absent(text string) bool {
	switch strings.ToLower(strings.Trim(text, "[]")) {
	case "", "n/a", "not supported", "not available", "requested functionality has been deprecated", "not applicable", "insufficient permissions":
		return true
	default:
		return false
	}
}

// failed reports whether the GPU supports a figure but failed to report it.
func failed(text string) bool {
	switch strings.ToLower(strings.Trim(text, "[]")) {
	case "unknown error", "err!", "gpu is lost", "gpu requires reset", "reset required", "insufficient power":
		return true
	default: // a text of nvmlErrorString, as in "[Corrupted infoROM]"
		return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && !absent(text)
	}
}

// text returns s; empty if it is absent or failed.
func (r *smiReader) text(name, s string) string {
	s = strings.TrimSpace(s)
	switch {
	case absent(s):
		return ""
	case failed(s):
		r.failures = append(r.failures, name+": "+s)
		return ""
	default:
		return s
	}
}

// number parses "23034 MiB" with unit "MiB", "16x" with unit "x", "0" without unit.
func (r *smiReader) number(name, s, unit string) *float64 {
	s = r.text(name, s)
	if s == "" {
		return nil
	}
	digits, found := s, ""
	if i := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' }); i >= 0 {
		digits, found = s[:i], strings.TrimSpace(s[i:])
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || found != unit || math.IsInf(f, 0) {
		want := "a number"
		if unit != "" {
			want = "a number of " + unit
		}
		r.fail("invalid %s %.40q: must be %s", name, s, want)
		return nil
	}
	return &f
}

func (r *smiReader) integer(name, s, unit string) *int64 {
	f := r.number(name, s, unit)
	if f == nil {
		return nil
	}
	if *f != math.Trunc(*f) || math.Abs(*f) > 1<<53 {
		r.fail("invalid %s %.40q: must be an integer", name, s)
		return nil
	}
	n := int64(*f)
	return &n
}

func (r *smiReader) yes(name, s string) *bool {
	return r.either(name, s, "Yes", "No")
}

func (r *smiReader) either(name, s, on, off string) *bool {
	s = r.text(name, s)
	var v bool
	switch {
	case s == "":
		return nil
	case strings.EqualFold(s, on):
		v = true
	case strings.EqualFold(s, off):
	default:
		r.fail("invalid %s %.40q: must be %s or %s", name, s, on, off)
		return nil
	}
	return &v
}

// mode is "Enabled" or "Disabled"; empty if it is absent.
func (r *smiReader) mode(name, s string) string {
	on := r.either(name, s, "Enabled", "Disabled")
	switch {
	case on == nil:
		return ""
	case *on:
		return "Enabled"
	default:
		return "Disabled"
	}
}

func (r *smiReader) fail(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, a...)
	}
}

// sum adds two figures; nil if one of them is.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	total := *a + *b
	return &total
}

// firstText returns the first text that is not absent.
func firstText(texts ...string) string {
	for _, t := range texts {
		if !absent(strings.TrimSpace(t)) {
			return t
		}
	}
	return ""
}
