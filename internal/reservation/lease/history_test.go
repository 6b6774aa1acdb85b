package lease

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A line of history survives a round trip with any text.
func TestHistoryRoundTrip(t *testing.T) {
	when := metav1.NewMicroTime(time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.Local))
	for name, tr := range map[string]Event{
		"usual":            {N: 7, At: when, Type: Claimed, State: Leased, Actor: "ada@host", Token: 1767225600000, Reason: "debugging NCCL"},
		"nothing":          {},
		"no reason":        {N: 1, At: when, Type: Released, State: Dirty, Actor: "ada"},
		"with its user":    {N: 8, At: when, Type: Released, State: Dirty, Actor: "ada@host", User: "eve@example.com", Token: 5, Reason: "done with it"},
		"a user in groups": {N: 8, At: when, Type: Released, State: Dirty, Actor: "ada", User: "CN=eve 50%20 ,O=x", Token: 5},
		"like a user":      {N: 9, At: when, Type: Released, State: Dirty, Actor: "ada", Token: 5, Reason: "by=eve is not"},
		"as short":         {N: 9, At: when, Type: Released, State: Dirty, Actor: "ada", Token: 5, Reason: "by=eve"},
		"both":             {N: 9, At: when, Type: Released, State: Dirty, Actor: "ada", User: "-", Token: 5, Reason: "by=eve is not"},
		"spaces":           {N: 1, At: when, Type: Queued, State: Free, Actor: " ada  lovelace ", Reason: " two  spaces "},
		"like the escapes": {N: 1, At: when, Type: Queued, State: Free, Actor: "50%20 %2D %25 -", Reason: "% -"},
		"absent":           {N: 1, At: when, Type: Queued, State: Free, Actor: "-", Reason: "-"},
		"lines":            {N: 1, At: when, Type: Evicted, State: Dirty, Actor: "a\nb\tc", Reason: "one\ntwo \"three\" \u00fc"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(Record{Recent: History{tr, tr}})
			if err != nil {
				t.Fatal(err)
			}
			var got Record
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Recent, History{tr, tr}) {
				t.Errorf("%s\nis read as %+v\nwant       %+v", raw, got.Recent[0], tr)
			}
		})
	}
}

// A line that an earlier version wrote is written as it was: the store refuses a line that
// is changed.
func TestLinesOfEarlierVersionsStay(t *testing.T) {
	for _, line := range []string{
		"7 2026-03-01T12:00:00.123456Z claimed leased 1767225600000 ada@host debugging NCCL",
		"7 2026-03-01T12:00:00.123456Z released dirty 5 ada ",
		"7 - queued free 0 - -",
		"7 2026-03-01T12:00:00.123456Z released dirty 5 ada by=eve",
		"7 2026-03-01T12:00:00.123456Z released dirty 5 ada by=eve in the reason",
		"7 2026-03-01T12:00:00.123456Z released dirty 5 ada  two  spaces ",
	} {
		raw, err := json.Marshal([]string{line})
		if err != nil {
			t.Fatal(err)
		}
		var h History
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(h); err != nil || string(got) != string(raw) {
			t.Errorf("%s is written as %s, %v", raw, got, err)
		}
	}
}

// A status that was written before there were lines is read, too.
func TestHistoryOfObjectsIsRead(t *testing.T) {
	want := History{{N: 3, At: metav1.NewMicroTime(time.Unix(1767225600, 0)), Type: Claimed, State: Leased, Actor: "ada", Token: 5, Reason: "training"}}
	raw, err := json.Marshal([]Event(want))
	if err != nil {
		t.Fatal(err)
	}
	var got Record
	if err := json.Unmarshal([]byte(`{"recent":`+string(raw)+`}`), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Recent, want) {
		t.Errorf("%+v, want %+v", got.Recent, want)
	}
}

// A line that can not be read is an error: history that is dropped would be lost.
func TestHistoryThatCannotBeRead(t *testing.T) {
	for _, line := range []string{
		"", "1 - claimed leased 5 ada", "x - claimed leased 5 ada why", "1 noon claimed leased 5 ada why", "1 - claimed leased x ada why",
	} {
		raw, err := json.Marshal([]string{line})
		if err != nil {
			t.Fatal(err)
		}
		var h History
		if err := json.Unmarshal(raw, &h); err == nil || !strings.Contains(err.Error(), "invalid line") {
			t.Errorf("%q: %v, %+v", line, err, h)
		}
	}
	var h History
	if err := json.Unmarshal([]byte(`[{"n":"one"}]`), &h); err == nil {
		t.Errorf("an invalid object: %+v", h)
	}
}
