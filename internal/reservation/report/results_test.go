package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/report"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

var begin = time.Date(2026, 11, 1, 4, 0, 0, 0, time.UTC)

func day(n int) time.Time { return begin.AddDate(0, 0, n) }

func shipped(t *testing.T) report.Thresholds {
	t.Helper()
	th, err := report.DefaultThresholds()
	if err != nil {
		t.Fatal(err)
	}
	return th
}

var outcomes = map[rune]matrix.Outcome{
	'P': matrix.Passed, 'F': matrix.Failed, 'T': matrix.TimedOut, 'B': matrix.Blocked, 'N': matrix.NotStarted,
	'S': matrix.Superseded, 'I': matrix.Interrupted, 'R': matrix.Running, '.': matrix.Pending,
}

// nights are batches of one reservation, a day each: of each cell, one letter a night; a
// blank: it is not in the night's matrix.
func nights(reservation string, cells ...[2]string) []*store.HandOver {
	var out []*store.HandOver
	for i := range cells[0][1] {
		h := &store.HandOver{Spec: store.HandOverSpec{Entry: "nightly-batch", Action: "batch", At: metav1.NewTime(day(i)), Until: metav1.NewTime(day(i).Add(5 * time.Hour))}}
		end := metav1.NewTime(day(i).Add(4 * time.Hour))
		h.Status.Finished = &end
		row := store.HandOverRow{Reservation: reservation, Cloud: "gcp", Result: "passed"}
		for _, c := range cells {
			version, intent, _ := strings.Cut(c[0], "/")
			letter := rune(c[1][i])
			if letter == ' ' {
				continue
			}
			cell := matrix.Cell{Version: version, Intent: config.Intent(intent), Outcome: outcomes[letter], Attempts: 1}
			switch cell.Outcome {
			case matrix.Passed:
				cell.Checks = 3
			case matrix.Running, matrix.Pending:
				h.Status.Finished = nil
			default:
				cell.Reason = "because of " + string(cell.Outcome)
			}
			row.Cells = append(row.Cells, cell)
		}
		h.Status.Rows = append(h.Status.Rows, row)
		out = append(out, h)
	}
	return out
}

func only(t *testing.T, g *report.Results) report.Row {
	t.Helper()
	if len(g.Lanes) != 1 || len(g.Lanes[0].Rows) != 1 {
		t.Fatalf("%+v", g.Lanes)
	}
	return g.Lanes[0].Rows[0]
}

func TestNewestAndStreak(t *testing.T) {
	t.Parallel()
	for history, want := range map[string]string{
		"P":     "passed 1 from 0, ran 0",
		"FPPP":  "passed 3 from 1, ran 3",
		"PPF":   "failed 1 from 2, ran 2",
		"PPFR":  "failed 1 from 2, ran 2",
		"PPF.":  "failed 1 from 2, ran 2",
		"PBB":   "blocked 2 from 1, ran 0",
		"P BB":  "blocked 2 from 2, ran 0",
		"PP BP": "passed 1 from 4, ran 4",
		"P  P":  "passed 2 from 0, ran 3",
		"FT":    "timed-out 1 from 1, ran 1",
		"BB":    "blocked 2 from 0, ran never",
		".":     "",
	} {
		g := report.NewResults(nights("r", [2]string{"v1.0.0/training", history}), report.ResultsOptions{Now: day(len(history)), Thresholds: shipped(t)})
		r := only(t, g)
		got := ""
		if r.Newest != "" {
			ran := "never"
			if !r.LastRun.IsZero() {
				ran = itoa(r.LastRun)
			}
			got = string(r.Newest) + " " + string(rune('0'+r.Streak)) + " from " + itoa(r.Since) + ", ran " + ran
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", history, got, want)
		}
	}
}

func itoa(at time.Time) string { return string(rune('0' + int(at.Sub(begin)/(24*time.Hour)))) }

func TestFlaky(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ version, history, want string }{
		{"v1.0.0", "PFP", "2 flips in 3 runs of the last 10 nights: PFP"},
		{"v1.0.0", "PTP", "2 flips"},
		{"v1.0.0", "PFBBP", "2 flips in 3 runs"},
		{"v1.0.0", "PPPF", ""}, // it broke
		{"v1.0.0", "FFFP", ""}, // it was mended
		{"v1.0.0", "PFT", ""},  // neither is a pass
		{"v1.0.0", "PBPBP", ""},
		{"v1.0.0", "PIPNPSP", ""},
		{"v1.0.0", "FPPPPPPPPPFP", "2 flips"},
		{"v1.0.0", "PFPPPPPPPPPP", ""}, // it is long ago
		{"main", "PFP", "main changes: it may have been broken and fixed"},
	} {
		r := only(t, report.NewResults(nights("r", [2]string{tt.version + "/training", tt.history}), report.ResultsOptions{Now: day(len(tt.history)), Thresholds: shipped(t)}))
		if (r.Flaky == "") != (tt.want == "") || !strings.Contains(r.Flaky, tt.want) {
			t.Errorf("%s %q: got %q, want %q", tt.version, tt.history, r.Flaky, tt.want)
		}
		if tt.version != "main" && strings.Contains(r.Flaky, "main moves") {
			t.Errorf("a release does not move: %s", r.Flaky)
		}
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		history string
		now     int // days after the first night
		want    string
	}{
		{"PPP", 3, ""},
		{"PBBB", 4, "last run on 2026-11-01, 4 days ago: since then blocked: because of blocked"},
		{"PBB", 3, ""},
		{"PPP", 8, "last run on 2026-11-03, 6 days ago: no batch has reached it since"},
		{"BB", 2, "in the matrix for 2 nights, but never run: blocked: because of blocked"},
		{"NNNN", 4, "for 4 nights, but never run: not-started"},
		{".", 1, ""}, // its first night
		{"R", 1, ""},
		{"FFF", 3, ""}, // it runs
	} {
		r := only(t, report.NewResults(nights("r", [2]string{"v1.0.0/training", tt.history}), report.ResultsOptions{Now: day(tt.now), Thresholds: shipped(t)}))
		if (r.Stale == "") != (tt.want == "") || !strings.Contains(r.Stale, tt.want) {
			t.Errorf("%q after %d days: got %q, want %q", tt.history, tt.now, r.Stale, tt.want)
		}
	}
}

// A release that the matrix has no more is neither stale nor looked for; it is shown as
// long as a night that is shown has it.
func TestAReleaseThatHasLeftTheMatrix(t *testing.T) {
	t.Parallel()
	all := nights("r", [2]string{"v1.0.0/training", "PPF      "}, [2]string{"main/training", "PPPPPPPPP"})
	g := report.NewResults(all, report.ResultsOptions{Now: day(9), Thresholds: shipped(t)})
	if rows := g.Lanes[0].Rows; len(rows) != 2 || rows[1].Current || rows[1].Stale != "" || !rows[0].Current || len(g.Findings()) > 0 {
		t.Errorf("%+v", rows)
	}
	if g = report.NewResults(all, report.ResultsOptions{Now: day(9), Nights: 3, Thresholds: shipped(t)}); len(g.Lanes[0].Rows) != 1 || len(g.Nights) != 3 || len(g.Lanes[0].Rows[0].Cells) != 3 {
		t.Errorf("%+v", g.Lanes[0].Rows)
	}
	if r := g.Lanes[0].Rows[0]; r.Streak != 9 {
		t.Errorf("rows that are not shown count: %+v", r)
	}
}

// A day deployment is not a cell.
func TestADayIsNoNight(t *testing.T) {
	t.Parallel()
	all := nights("r", [2]string{"main/training", "P"})
	up := all[0].DeepCopy()
	up.Spec.Action, up.Spec.Entry = "up", "morning-up"
	g := report.NewResults([]*store.HandOver{up}, report.ResultsOptions{Now: day(1), Thresholds: shipped(t)})
	if len(g.Nights) > 0 || len(g.Lanes) > 0 {
		t.Errorf("%+v", g)
	}
	var out bytes.Buffer
	if err := g.Text(&out); err != nil || out.String() != "no batch yet\n" {
		t.Errorf("%q %v", out.String(), err)
	}
	out.Reset()
	if err := g.HTML(&out); err != nil || !strings.Contains(out.String(), "no batch yet") {
		t.Errorf("%v %s", err, out.String())
	}
}

// sample has something of everything.
func sample() []*store.HandOver {
	all := nights("gcp-h100",
		[2]string{"main/training", "PFPPPPPP"}, [2]string{"main/inference", "PPPPPPPF"},
		[2]string{"v0.22.0/training", "  PPPPPT"}, [2]string{"v0.22.0/inference", "  PPPBBB"},
		[2]string{"v0.21.4/training", "PP      "}, [2]string{"v0.21.4/inference", "PPPPPPPN"},
	)
	for i, h := range nights("aws-h100", [2]string{"main/training", "PBBBBBB."}) {
		all[i].Status.Rows = append(all[i].Status.Rows, h.Status.Rows...)
	}
	newest := all[len(all)-1]
	newest.Status.Finished = nil
	newest.Status.Rows[0].Cells[1].Evidence = "s3://evidence/fl-night-gh1-x"
	newest.Status.Rows[0].Cells[1].Reason = "1 of 2 replicas is pending: <insufficient nvidia.com/gpu>\n  | a line of the log\n  | another"
	newest.Status.Rows[0].Cells[2].Attempts = 2
	newest.Status.Rows = append(newest.Status.Rows, store.HandOverRow{Reservation: "azure-h100", Cloud: "azure", Result: "blocked", Reason: "cannot compute the matrix: azure-h100: the floor v9.0.0 is too-high"})
	byHand := nights("gcp-h100", [2]string{"main/training", "P"})[0]
	byHand.Spec.At, byHand.Spec.By = metav1.NewTime(day(6).Add(8*time.Hour)), "ada"
	return append(all, byHand)
}

func TestOutput(t *testing.T) {
	t.Parallel()
	g := report.NewResults(sample(), report.ResultsOptions{Now: day(7).Add(2 * time.Hour), Nights: 14, Thresholds: shipped(t)})
	var text, page bytes.Buffer
	if err := errors.Join(g.Text(&text), g.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/results.txt", text.String())
	golden.Compare(t, "testdata/results.html", page.String())
	raw, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/results.json", string(raw)+"\n")
	for _, bad := range []string{"<insufficient", "http://", "https://", "ZgotmplZ", "<script"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if strings.Contains(text.String(), "a line of the log") {
		t.Errorf("a log breaks the table:\n%s", text.String())
	}
}

// Every element of the page that is opened is closed.
func TestThePageIsWellFormed(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := report.NewResults(sample(), report.ResultsOptions{Now: day(8), Thresholds: shipped(t)}).HTML(&page); err != nil {
		t.Fatal(err)
	}
	closed := regexp.MustCompile(`<(!doctype html|meta [^>]*)>`).ReplaceAllString(page.String(), "")
	d := xml.NewDecoder(strings.NewReader(closed))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
