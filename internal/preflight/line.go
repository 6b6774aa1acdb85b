package preflight

import "fmt"

// Result is the result of one line, or of a preflight.
type Result string

// The results. The zero value is invalid and counts as Unobserved.
const (
	// OK: it was checked, and stops nothing.
	OK Result = "ok"
	// WouldStop: a gate would fail, or could not be observed.
	WouldStop Result = "would-stop"
	// Unobserved: it could not be checked.
	Unobserved Result = "unobserved"
)

// Line is the result of one check of one target.
type Line struct {
	// Check names the check: "ssh", "permissions", "image".
	Check string `json:"check"`
	// Target is a host, a node, a namespace, an image or an address.
	Target string `json:"target"`
	Result Result `json:"result"`
	// Observed is the observation in one line.
	Observed string `json:"observed"`
	// Remedy is the next action; empty if OK.
	Remedy string `json:"remedy,omitempty"`
}

// Report is the result of a preflight; its JSON is the -o json object.
type Report struct {
	Site    string `json:"site"`
	Profile string `json:"profile"`
	// Gates are those that the run would walk.
	Gates  []string `json:"gates"`
	Result Result   `json:"result"`
	Lines  []Line   `json:"lines"`
	// Duration in seconds.
	Duration float64 `json:"duration"`
}

// Count is the number of lines with a result.
func (r Report) Count(of Result) int {
	n := 0
	for _, l := range r.Lines {
		if l.Result == of {
			n++
		}
	}
	return n
}

// overall is WouldStop if any line is, else Unobserved if any line is not OK. Zero lines are
// Unobserved.
func overall(lines []Line) Result {
	result := OK
	for _, l := range lines {
		switch l.Result {
		case WouldStop:
			return WouldStop
		case OK:
		case Unobserved:
			result = Unobserved
		default:
			result = Unobserved
		}
	}
	if len(lines) == 0 {
		return Unobserved
	}
	return result
}

func ok(what, target, format string, args ...any) Line {
	return Line{Check: what, Target: target, Result: OK, Observed: fmt.Sprintf(format, args...)}
}

func stop(what, target, remedy, format string, args ...any) Line {
	return Line{Check: what, Target: target, Result: WouldStop, Observed: fmt.Sprintf(format, args...), Remedy: remedy}
}

func unobserved(what, target, remedy, format string, args ...any) Line {
	return Line{Check: what, Target: target, Result: Unobserved, Observed: fmt.Sprintf(format, args...), Remedy: remedy}
}
