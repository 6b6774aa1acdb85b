package lease

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// History is a list of events, oldest first. In JSON each event is one line of text:
//
//	N TIME TYPE STATE TOKEN ACTOR by=USER REASON
//
// The field by=USER is absent if the user is unknown.
//
// An API server visits every field of an object several times in each write, and a status has up
// to 64 events: as objects they were most of the cost of a write.
type History []Event

const emptyField = "-"

var (
	escaper   = strings.NewReplacer("%", "%25", " ", "%20")
	unescaper = strings.NewReplacer("%20", " ", "%2D", "-", "%25", "%")
)

// byPrefix marks the field of the user that wrote a line.
const byPrefix = "by="

// byField returns that field and a space. A line must survive a round trip unchanged, so an empty
// user writes no field, unless the reason would then be read as one.
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

// MarshalJSON writes each event as a line of text.
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
	return json.Marshal(lines)
}

// UnmarshalJSON reads lines of text, or a list of event objects.
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
			return fmt.Errorf("invalid line of history %q: %w", line, err)
		}
	}
	if *h = out; lines == nil {
		*h = nil
	}
	return nil
}

// fields of a line without its user; the last one, the reason, may contain spaces.
const fields = 7

func parseEvent(line string) (Event, error) {
	f := strings.SplitN(line, " ", fields)
	if len(f) != fields {
		return Event{}, fmt.Errorf("must have %d fields: N TIME TYPE STATE TOKEN ACTOR [by=USER] REASON", fields)
	}
	n, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return Event{}, err
	}
	t := Event{N: n, Type: EventType(unescape(f[2])), State: State(unescape(f[3])), Actor: unescape(f[5]), Reason: f[6]}
	if by, reason, ok := strings.Cut(f[6], " "); ok && strings.HasPrefix(by, byPrefix) {
		t.User, t.Reason = unescaper.Replace(strings.TrimPrefix(by, byPrefix)), reason
	}
	if f[1] != emptyField {
		when, err := time.Parse(metav1.RFC3339Micro, f[1])
		if err != nil {
			return Event{}, err
		}
		t.At = metav1.NewMicroTime(when.Local()) // local time, like the other times of a record
	}
	t.Token, err = strconv.ParseInt(f[4], 10, 64)
	return t, err
}
