package preflight

import "fmt"

// Result is the result of one line, or of a preflight.
type Result string

// The results. The zero value is invalid and counts as NotSeen.
const (
	// OK: it was looked at, and stops nothing.
	OK Result = "ok"
	// WouldStop: a gate would fail, or could not be observed.
	WouldStop Result = "would-stop"
	// NotSeen: it could not be looked at.
	NotSeen Result = "not-seen"
)

// Line is one thing that was looked at.
type Line struct {
	// What was looked at: "ssh", "permissions", "image".
	What string `json:"what"`
	// Target is a host, a node, a namespace, an image or an address.
	Target string `json:"target"`
	Result Result `json:"result"`
	// Seen is what was seen, in one line.
	Seen string `json:"seen"`
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

// overall is WouldStop if any line is, else NotSeen if any line is neither that nor OK, or there is
// none.
func overall(lines []Line) Result {
	result := OK
	for _, l := range lines {
		switch l.Result {
		case WouldStop:
			return WouldStop
		case OK:
		case NotSeen:
			result = NotSeen
		default:
			result = NotSeen
		}
	}
	if len(lines) == 0 {
		return NotSeen
	}
	return result
}

func ok(what, target, format string, args ...any) Line {
	return Line{What: what, Target: target, Result: OK, Seen: fmt.Sprintf(format, args...)}
}

func stop(what, target, remedy, format string, args ...any) Line {
	return Line{What: what, Target: target, Result: WouldStop, Seen: fmt.Sprintf(format, args...), Remedy: remedy}
}

func notSeen(what, target, remedy, format string, args ...any) Line {
	return Line{What: what, Target: target, Result: NotSeen, Seen: fmt.Sprintf(format, args...), Remedy: remedy}
}
