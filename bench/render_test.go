package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testReport() report {
	s := recorded("a", "start", 3, 0.5, 2.5).and("a", "peer: start", 5).and("a", "start: step | one", 0.25)
	return report{
		env: environment{
			commit: "abc-dirty", binary: "abc", date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			goVersion: "go1.26 linux/amd64", cores: 2, load: "0.10 0.20 0.30", repetitions: 3,
		},
		rows:     judge(declaredInTest, []string{"a"}, s, []threshold{atMost2, ratioOf5}),
		notes:    []string{"a note\nof two lines"},
		failed:   []string{"b"},
		problems: []error{errors.New("b: exit status 1 in /a/directory")},
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := testReport().text(&out); err != nil {
		t.Fatal(err)
	}
	want := `FIGURE             MEDIAN        MIN TO MAX            N  PEER  PEER'S MEDIAN  RATIO  THRESHOLD         RESULT
start              2.50 s        500.0 ms to 3.00 s    3  Peer  5.00 s         2.00   at most 2.00 s    MISSED
rate               not measured                        0  Peer  not measured          ratio at least 5  NOT MEASURED
start: step | one  250.0 ms      250.0 ms to 250.0 ms  1                                                

Ratio: above 1 is better than the peer.
a note
of two lines
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := testReport().markdown(&out); err != nil {
		t.Fatal(err)
	}
	want := `# Figures of what ships

Written by ` + "`make bench`" + `. Peers ran on the same machine, in turns with firstlight. Ratio: above 1 is better than the peer.

| run |  |
| --- | --- |
| commit | abc-dirty |
| binary built from | abc |
| date | 2026-01-02T03:04:05Z |
| Go | go1.26 linux/amd64 |
| cores | 2 |
| load average at start | 0.10 0.20 0.30 |
| repetitions | 3 |

| figure | median | min to max | n | peer | peer's median | ratio | threshold | result |
| --- | --: | --: | --: | --- | --: | --: | --- | --- |
| start | 2.50 s | 500.0 ms to 3.00 s | 3 | Peer | 5.00 s | 2.00 | at most 2.00 s | MISSED |
| rate | not measured |  | 0 | Peer | not measured |  | ratio at least 5 | NOT MEASURED |
| start: step \| one | 250.0 ms | 250.0 ms to 250.0 ms | 1 |  |  |  |  |  |

## Notes

- a note of two lines

## Parts that ended with an error

- b
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value float64
		unit  unit
		want  string
	}{
		{0.0042, seconds, "4.2 ms"},
		{61.234, seconds, "61.23 s"},
		{100_000_000, bytesUnit, "100.0 MB"},
		{1234.4, perSecond, "1234/s"},
	} {
		if got := format(c.value, c.unit); got != c.want {
			t.Errorf("format(%g, %s) = %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
