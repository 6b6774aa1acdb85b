package nvidia

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// smiReader turns texts of one GPU into figures and gathers what is wrong.
type smiReader struct {
	// troubles are figures that the GPU could not give.
	troubles []string
	// err is the first text that makes no sense.
	err error
}

// absent says that a card or driver has no such figure.
func absent(text string) bool {
	switch strings.ToLower(strings.Trim(text, "[]")) {
	case "", "n/a", "not supported", "not available", "requested functionality has been deprecated", "not applicable", "insufficient permissions":
		return true
	default:
		return false
	}
}

// trouble says that the GPU should have the figure and can't give it.
func trouble(text string) bool {
	switch strings.ToLower(strings.Trim(text, "[]")) {
	case "unknown error", "err!", "gpu is lost", "gpu requires reset", "reset required", "insufficient power":
		return true
	default:
		return false
	}
}

// text is a word, empty when there is none.
func (r *smiReader) text(name, s string) string {
	s = strings.TrimSpace(s)
	switch {
	case absent(s):
		return ""
	case trouble(s):
		r.troubles = append(r.troubles, name+": "+s)
		return ""
	default:
		return s
	}
}

// number reads "23034 MiB" with its unit, "16x" with unit "x", "0" with none.
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
		r.fail("%s is %.40q: expected %s", name, s, want)
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
		r.fail("%s is %.40q: expected a whole number", name, s)
		return nil
	}
	n := int64(*f)
	return &n
}

// yes reads Yes and No.
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
		r.fail("%s is %.40q: expected %s or %s", name, s, on, off)
		return nil
	}
	return &v
}

func (r *smiReader) fail(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, a...)
	}
}

// sum adds what there is; nil when there is nothing.
func sum(figures ...*int64) *int64 {
	var total *int64
	for _, f := range figures {
		if f == nil {
			continue
		}
		if total == nil {
			total = new(int64)
		}
		*total += *f
	}
	return total
}

// firstText is the first that says something.
func firstText(texts ...string) string {
	for _, t := range texts {
		if !absent(strings.TrimSpace(t)) {
			return t
		}
	}
	return ""
}
