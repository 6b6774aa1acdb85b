package matrix_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

const example = "../../../examples/batch.yaml"

func TestLoadTheExample(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	got, err := matrix.Parse(example, data)
	if err != nil {
		t.Fatal(err)
	}
	want := &matrix.Config{
		Previous: 2, Main: true, CellLimit: 150 * time.Minute, Teardown: 30 * time.Minute,
		Releases: matrix.Releases{File: "releases.txt"}, Compat: "compat.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.WorkTimeout() != 2*time.Hour {
		t.Errorf("a cell has %s", got.WorkTimeout())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	tags := []string{"v0.9.0", "v0.22.0-rc.1", "v0.21.4", "nightly", "v0.22.0", "v0.22.0", "0.23.0", "v0.100.0-alpha", "v0.21.10", "", "v1"}
	for _, tt := range []struct {
		name     string
		previous int
		main     bool
		tags     []string
		want     string
	}{
		{"main and the newest", 1, true, tags, "main v0.22.0"},
		{"numeric order, duplicates ignored", 3, true, tags, "main v0.22.0 v0.21.10 v0.21.4"},
		{"fewer than asked for", 10, true, tags, "main v0.22.0 v0.21.10 v0.21.4 v0.9.0"},
		{"without main", 1, false, tags, "v0.22.0"},
		{"main alone needs no tags", 0, true, nil, "main"},
		{"no release", 1, true, []string{"v0.1.0-rc.1", "main"}, "no stable release is known among 2 tags"},
		{"no tags", 1, true, nil, "no stable release is known among 0 tags"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := matrix.Versions(&matrix.Config{Previous: tt.previous, Main: tt.main}, tt.tags)
			text := strings.Join(got, " ")
			if err != nil {
				if text = err.Error(); got != nil || !errors.Is(err, matrix.ErrNoReleases) {
					t.Errorf("%v, %v", got, err)
				}
			}
			if text != tt.want && (err == nil || !strings.HasPrefix(text, tt.want)) {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

func floorsOf(list ...config.Floor) *config.Compat { return &config.Compat{Floors: list} }

func floor(lane config.Cloud, release string, intents ...config.Intent) config.Floor {
	return config.Floor{Lane: lane, Intents: intents, MinRelease: release, Reason: "a reason"}
}

func TestCells(t *testing.T) {
	t.Parallel()
	both := config.Reservation{Name: "gcp-h100", Cloud: config.GCP, NightlyIntents: config.Intents()}
	tags := []string{"v0.22.0", "v0.21.4", "v0.18.0"}
	versions := []string{"main", "v0.22.0", "v0.21.4"}
	for _, tt := range []struct {
		name             string
		row              config.Reservation
		versions         []string
		floors           *config.Compat
		want, held, fail string
	}{
		{
			"version outer, intent inner", both, versions, floorsOf(),
			"main/training main/inference v0.22.0/training v0.22.0/inference v0.21.4/training v0.21.4/inference", "", "",
		},
		{
			"below a floor", both, versions, floorsOf(floor(config.GCP, "v0.22.0", config.Training)),
			"main/training main/inference v0.22.0/training v0.22.0/inference v0.21.4/inference", "v0.21.4/training", "",
		},
		{
			"a floor of another lane", both, versions, floorsOf(floor(config.AWS, "v0.22.0", config.Training)),
			"main/training main/inference v0.22.0/training v0.22.0/inference v0.21.4/training v0.21.4/inference", "", "",
		},
		{
			"the next release is awaited", both, versions, floorsOf(floor(config.GCP, "v0.23.0", config.Intents()...)),
			"main/training main/inference", "v0.22.0/training v0.22.0/inference v0.21.4/training v0.21.4/inference", "",
		},
		{
			"a too-high floor stops the whole lane", both, versions, floorsOf(floor(config.GCP, "v0.24.0", config.Training)),
			"", "", "too-high: release v0.24.0 does not exist",
		},
		{
			"but no other lane", config.Reservation{Name: "a", Cloud: config.AWS}, versions, floorsOf(floor(config.GCP, "v0.24.0", config.Training)),
			"main/training v0.22.0/training v0.21.4/training", "", "",
		},
		{
			"a floor that was skipped in the tags", both, versions, floorsOf(floor(config.GCP, "v0.21.0", config.Training)),
			"", "", "too-high",
		},
		{"floors that were not read", both, versions, nil, "", "", "no compat file was read"},
		{"an invalid floor", both, versions, floorsOf(floor(config.GCP, "v1.x", config.Training)), "", "", "unknown"},
		{"an invalid floor, and main alone", both, []string{"main"}, floorsOf(floor(config.GCP, "v1.x", config.Training)), "", "", "must be a stable release"},
		{"main alone has no floor", both, []string{"main"}, floorsOf(floor(config.GCP, "v9.0.0", config.Training)), "main/training main/inference", "", ""},
		{"an invalid version", both, []string{"main", "master"}, floorsOf(), "", "", `invalid release "master"`},
		{"no versions", both, nil, floorsOf(), "", "", "no versions"},
		{"an unknown intent", config.Reservation{Name: "a", Cloud: config.AWS, NightlyIntents: []config.Intent{"serving"}}, versions, floorsOf(), "", "", `unknown intent "serving"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lane, err := matrix.Cells(tt.row, tt.versions, matrix.Compat{Compat: tt.floors, Tags: tags})
			var cells, held []string
			for _, c := range lane.Cells {
				cells = append(cells, c.Name())
				if c.Outcome != matrix.Pending {
					t.Errorf("%s is %s", c.Name(), c.Outcome)
				}
			}
			for _, h := range lane.HeldBack {
				held = append(held, h.Version+"/"+string(h.Intent))
				if h.Reason == "" {
					t.Errorf("%s is held back without a reason", held)
				}
			}
			if got := strings.Join(cells, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := strings.Join(held, " "); got != tt.held {
				t.Errorf("held back %s, want %s", got, tt.held)
			}
			if tt.fail == "" && err != nil || tt.fail != "" && (err == nil || !strings.Contains(err.Error(), tt.fail)) {
				t.Errorf("the error is %v, want %q", err, tt.fail)
			}
		})
	}
}

func TestARowWithoutCells(t *testing.T) {
	t.Parallel()
	off := config.Reservation{Name: "aws-h100", Cloud: config.AWS, NightlyIntents: []config.Intent{}}
	lane, err := matrix.Cells(off, []string{"main"}, matrix.Compat{Compat: floorsOf()})
	if err != nil || len(lane.Cells) > 0 || !strings.Contains(lane.Reason, "the batch skips it") {
		t.Errorf("%+v, %v", lane, err)
	}
	held := config.Reservation{Name: "gcp-h100", Cloud: config.GCP}
	lane, err = matrix.Cells(held, []string{"v0.1.0"}, matrix.Compat{Compat: floorsOf(floor(config.GCP, "v0.2.0", config.Training)), Tags: []string{"v0.1.0"}})
	if err != nil || len(lane.Cells) > 0 || len(lane.HeldBack) != 1 || !strings.Contains(lane.Reason, "all cells") {
		t.Errorf("%+v, %v", lane, err)
	}
}

func TestCutoff(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 21, 9, 50, 0, 0, time.UTC)
	if got, want := matrix.Cutoff(until, 150*time.Minute), time.Date(2026, 11, 21, 7, 20, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "pending no cells",
		"passed passed":                  "passed 2 passed",
		"passed pending":                 "pending 1 passed, 1 pending",
		"failed running":                 "pending 1 running, 1 failed",
		"passed failed passed":           "failed 2 passed, 1 failed: v1/training: why",
		"passed timed-out":               "failed 1 passed, 1 timed-out: v1/training: why",
		"passed interrupted":             "failed 1 passed, 1 interrupted: v1/training: why",
		"passed not-started":             "failed 1 passed, 1 not-started: v1/training: why",
		"blocked blocked":                "blocked 2 blocked: v0/training: why",
		"passed blocked superseded":      "blocked 1 passed, 1 superseded, 1 blocked: v1/training: why",
		"blocked failed":                 "failed 1 blocked, 1 failed: v1/training: why",
		"passed superseded":              "superseded 1 passed, 1 superseded: v1/training: why",
		"passed something":               "something 1 passed: v1/training: why",
		"failed timed-out interrupted":   "failed 1 interrupted, 1 timed-out, 1 failed: v0/training: why",
		"not-started blocked":            "blocked 1 not-started, 1 blocked: v1/training: why",
		"passed not-started not-started": "failed 1 passed, 2 not-started: v1/training: why",
	} {
		var cells []matrix.Cell
		for i, o := range strings.Fields(text) {
			c := matrix.Cell{Version: fmt.Sprintf("v%d", i), Intent: config.Training, Outcome: matrix.Outcome(o)}
			if c.Outcome != matrix.Passed {
				c.Reason = "why"
			}
			cells = append(cells, c)
		}
		result, reason := matrix.Summarize(cells)
		if got := string(result) + " " + reason; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a": "a", " a\n": "a", "a\n  | b": "a [...]", "\n\na\n\n": "a",
	} {
		if got := matrix.FirstLine(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if _, reason := matrix.Summarize([]matrix.Cell{{Version: "main", Intent: config.Training, Outcome: matrix.Failed, Reason: "no\n  | log"}}); strings.Contains(reason, "log") {
		t.Errorf("a log is in %q", reason)
	}
}

func TestEveryRuleAndOutcomeIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/batch.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range matrix.Rules() {
		if !strings.Contains(string(page), "`"+rule.Name+"`") {
			t.Errorf("docs/batch.md does not have rule %s", rule.Name)
		}
	}
	for _, o := range matrix.Outcomes() {
		if !strings.Contains(string(page), "`"+string(o)+"`") {
			t.Errorf("docs/batch.md does not have outcome %s", o)
		}
	}
}
