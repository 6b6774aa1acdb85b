package lease

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// History is a list of transitions, oldest first. In JSON each is one line of text:
//
//	N AT WHAT TO TOKEN WHO by=BY WHY
//
// Lines of earlier versions have no by=BY.
//
// An API server walks every field of an object several times in each write, and a
// status has up to 64 transitions: as objects they were most of the cost of a write.
type History []Event

// absent stands for an empty field.
const emptyField = "-"

var (
	escaper   = strings.NewReplacer("%", "%25", " ", "%20")
	unescaper = strings.NewReplacer("%20", " ", "%2D", "-", "%25", "%")
)

// byPrefix marks the field of the user that wrote a line.
const byPrefix = "by="

// byField is that field, with the space after it. A line that is read and written again is
// the same, so one without the field stays without it, unless its reason would be taken for it.
func byField(t Event) string {
	if t.User == "" && (!strings.HasPrefix(t.Reason, byPrefix) || !strings.Contains(t.Reason, " ")) {
		return ""
	}
	return byPrefix + escaper.Replace(t.User) + " "
}

func escape(field string) string {
	switch field {
	case "":
		return emptyField
	case emptyField:
		return "%2D"
	default:
		return escaper.Replace(field)
	}
}

func unescape(field string) string {
	if field == emptyField {
		return ""
	}
	return unescaper.Replace(field)
}

// MarshalJSON writes a line of text for each transition.
func (h History) MarshalJSON() ([]byte, error) {
	lines := make([]string, len(h))
	for i, t := range h {
		when := emptyField
		if !t.At.IsZero() {
			when = t.At.UTC().Format(metav1.RFC3339Micro)
		}
		lines[i] = strings.Join([]string{
			strconv.FormatInt(t.N, 10), when, escape(string(t.Type)), escape(string(t.State)), strconv.FormatInt(t.Token, 10), escape(t.Actor), byField(t) + t.Reason,
		}, " ")
	}
	return json.Marshal(lines) //nolint:wrapcheck // strings always marshal
}

// UnmarshalJSON reads lines of text, or the objects that were written before there were
// lines.
func (h *History) UnmarshalJSON(raw []byte) error {
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		var objects []Event
		if json.Unmarshal(raw, &objects) != nil {
			return fmt.Errorf("invalid history: must be a list of lines: %w", err)
		}
		*h = objects
		return nil
	}
	out := make(History, len(lines))
	for i, line := range lines {
		var err error
		if out[i], err = parseEvent(line); err != nil {
			return fmt.Errorf("invalid line %q of a history: %w", line, err)
		}
	}
	if *h = out; lines == nil {
		*h = nil
	}
	return nil
}

// fields of a line without its user; the last, why, may have spaces.
const fields = 7

func parseEvent(line string) (Event, error) {
	f := strings.SplitN(line, " ", fields)
	if len(f) != fields {
		return Event{}, fmt.Errorf("must have %d fields: N AT WHAT TO TOKEN WHO [by=BY] WHY", fields)
	}
	n, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return Event{}, err //nolint:wrapcheck // the caller names the line
	}
	t := Event{N: n, Type: EventType(unescape(f[2])), State: State(unescape(f[3])), Actor: unescape(f[5]), Reason: f[6]}
	if by, reason, ok := strings.Cut(f[6], " "); ok && strings.HasPrefix(by, byPrefix) {
		t.User, t.Reason = unescaper.Replace(strings.TrimPrefix(by, byPrefix)), reason
	}
	if f[1] != emptyField {
		when, err := time.Parse(metav1.RFC3339Micro, f[1])
		if err != nil {
			return Event{}, err //nolint:wrapcheck // the caller names the line
		}
		t.At = metav1.NewMicroTime(when.Local()) // as other times of a record are read
	}
	t.Token, err = strconv.ParseInt(f[4], 10, 64)
	return t, err //nolint:wrapcheck // the caller names the line
}
