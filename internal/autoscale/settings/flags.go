package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// option describes the flag and variable of one setting.
type option struct {
	setting string
	// flags without dashes; env are environment variables. The last of several flags wins,
	// and a flag before a variable.
	flags, env []string
	// unit of a bare number; 0: a number needs its unit.
	unit time.Duration
	// otherwise is the upstream default.
	otherwise time.Duration
}

// find reads an option of a container and returns its flag or variable.
func find(o option, c corev1.Container) (value time.Duration, by string, ok bool) {
	args := append(append([]string{}, c.Command...), c.Args...)
	for i, a := range args {
		name, text, assigned := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || !slices.Contains(o.flags, name) {
			continue
		}
		if !assigned && i+1 < len(args) {
			text = args[i+1]
		}
		if d, fine := span(text, o.unit); fine {
			value, by, ok = d, "--"+name, true
			if len(name) == 1 {
				by = "-" + name
			}
		}
	}
	if ok {
		return value, by, true
	}
	for _, e := range c.Env {
		if !slices.Contains(o.env, e.Name) {
			continue
		}
		if d, fine := span(e.Value, o.unit); fine {
			return d, e.Name, true
		}
	}
	return 0, "", false
}

// span parses a Go duration or a number of units.
func span(text string, unit time.Duration) (time.Duration, bool) {
	text = strings.Trim(text, `"'`)
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || unit == 0 || n < 0 {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
