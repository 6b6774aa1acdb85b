package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func aRecord(shard, of int) record.Record {
	r := record.Record{
		Version: record.Version, Tool: "v1", Commit: commit, Event: impact.Schedule, Tier: impact.All, Tree: "recipes", Harness: "h",
		When: time.Date(2026, 11, 21, 3, 17, shard, 0, time.UTC), Verdict: check.Passed, Reason: "passed",
		Recipes: []record.Recipe{{Recipe: string(rune('a' + shard)), Digest: "d", Fingerprint: "f", Verdict: check.Passed}},
	}
	if of > 0 {
		r.Plan, r.Shard = "p", &record.Shard{ID: "tier3-" + string(rune('0'+shard)), Index: shard, Of: of}
	}
	return r
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var want []record.Record
	for _, r := range []record.Record{aRecord(1, 2), aRecord(2, 2), aRecord(0, 0)} {
		if _, err := record.Write(dir, r); err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	again := aRecord(2, 2)
	again.Reason = "again"
	if file, err := record.Write(dir, again); err != nil || file != filepath.Join(dir, commit, "schedule-tier3-2.json") {
		t.Fatal(file, err)
	}
	want[1] = again
	got, err := record.Of(dir, commit)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"-moved", filepath.Join(dir, "deep", "er")); err != nil {
		t.Fatal(err)
	}
	if all, err := record.All(dir); err != nil || len(all) != 3 {
		t.Errorf("below it there are %d, %v", len(all), err)
	}
	for _, none := range []string{filepath.Join(dir, "nothing"), t.TempDir()} {
		if got, err := record.Of(none, commit); err != nil || len(got) != 0 {
			t.Errorf("no records: %v, %v", got, err)
		}
	}
}

// A file that is not a valid record is an error; it is never skipped.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	whole := func(t *testing.T) (string, string) {
		dir := t.TempDir()
		file, err := record.Write(dir, aRecord(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return dir, string(data)
	}
	for name, edit := range map[string]func(text string) string{
		"cut off":           func(s string) string { return s[:len(s)/2] },
		"empty":             func(string) string { return "" },
		"two":               func(s string) string { return s + s },
		"a key twice":       func(s string) string { return strings.Replace(s, `"tool"`, `"tool": "other", "tool"`, 1) },
		"text behind it":    func(s string) string { return s + "x" },
		"an unknown key":    func(s string) string { return strings.Replace(s, `"tool"`, `"tol"`, 1) },
		"another version":   func(s string) string { return strings.Replace(s, `"version": 1`, `"version": 2`, 1) },
		"no commit":         func(s string) string { return strings.Replace(s, commit, "main", 1) },
		"another commit":    func(s string) string { return strings.Replace(s, commit, strings.Repeat("1", 40), 1) },
		"no verdict":        func(s string) string { return strings.Replace(s, `"passed"`, `"good"`, 1) },
		"no recipe verdict": func(s string) string { i := strings.LastIndex(s, `"passed"`); return s[:i] + `"good"` + s[i+8:] },
		"no harness":        func(s string) string { return strings.Replace(s, `"harness": "h"`, `"harness": ""`, 1) },
		"shard 3 of 2":      func(s string) string { return strings.Replace(s, `"index": 1`, `"index": 3`, 1) },
		"no time":           func(s string) string { return strings.Replace(s, "2026-11-21T03:17:01Z", "0001-01-01T00:00:00Z", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, text := whole(t)
			file := filepath.Join(dir, commit, "schedule-tier3-1.json")
			if err := os.WriteFile(file, []byte(edit(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := record.Of(dir, commit); err == nil {
				t.Errorf("it is read as %+v", got)
			}
		})
	}
	bad := aRecord(1, 2)
	bad.Shard.ID = "../x"
	if _, err := record.Write(t.TempDir(), bad); err == nil {
		t.Error("a record is written elsewhere")
	}
	bad = aRecord(0, 0)
	bad.Commit = "HEAD"
	if _, err := record.Write(t.TempDir(), bad); err == nil {
		t.Error("a record of no commit is written")
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	failed := aRecord(2, 2)
	failed.Verdict, failed.Reason = check.Failed, "b failed"
	again := aRecord(2, 2)
	again.When = failed.When.Add(time.Hour)
	otherPlan := aRecord(1, 3)
	otherPlan.Plan = "other"
	runs := record.Runs([]record.Record{aRecord(0, 0), otherPlan, again, aRecord(1, 2), failed})
	var got []string
	for _, r := range runs {
		var text strings.Builder
		text.WriteString(string(r.Verdict) + " " + r.Reason + " (")
		for _, one := range r.Recipes {
			text.WriteString(one.Recipe)
		}
		got = append(got, text.String()+")")
	}
	want := []string{"passed 2 recipes passed (bc)", "unobserved 2 of 3 shards have no record (b)", "passed passed (a)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{2, 3}, runs[1].Missing); diff != "" {
		t.Error(diff)
	}
	runs = record.Runs([]record.Record{aRecord(1, 2), failed})
	if len(runs) != 1 || runs[0].Verdict != check.Failed || runs[0].Reason != "tier3-2: b failed" {
		t.Errorf("with a shard that failed: %+v", runs)
	}
}

func TestMembersOfAClassDisagree(t *testing.T) {
	t.Parallel()
	r := record.Record{Recipes: []record.Recipe{
		{Recipe: "z", Fingerprint: "1", Verdict: check.Passed}, {Recipe: "b", Fingerprint: "1", Verdict: check.Failed}, {Recipe: "a", Fingerprint: "2", Verdict: check.Passed},
		{Recipe: "x", Verdict: check.Failed}, {Recipe: "y", Verdict: check.Passed},
	}}
	if got := r.Disagreements(); len(got) != 1 || got[0] != "class of b (1): z passed; b failed" {
		t.Errorf("got %v", got)
	}
}

func TestRuntime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got, err := record.RuntimeOf(dir, commit); err != nil || len(got) != 0 {
		t.Errorf("no records: %v, %v", got, err)
	}
	at := filepath.Join(dir, commit, "runtime")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(at, "nccl.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"name": "nccl", "verdict": "passed", "hardware": "2 x p5.48xlarge", "when": "2026-11-21T03:17:00Z"}`)
	got, err := record.RuntimeOf(dir, commit)
	if err != nil || len(got) != 1 || !got[0].Real() {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{
		`{"verdict": "passed", "hardware": "x"}`, `{"name": "nccl", "verdict": "good"}`, `{"name": "nccl", "verdict": "passed", "hardwear": "x"}`, `[`,
		`{"name": "nccl", "verdict": "passed", "hardware": "x"}`, // no time
		`{"name": "nccl", "verdict": "passed", "when": "2026-11-21T03:17:00Z", "commit": "` + strings.Repeat("1", 40) + `"}`,
	} {
		write(text)
		if got, err := record.RuntimeOf(dir, commit); err == nil {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
	for _, r := range []record.Runtime{
		{Name: "x", Verdict: check.Passed}, {Name: "x", Verdict: check.Passed, Hardware: "h", Simulated: true}, {Name: "x", Verdict: check.Failed, Hardware: "h"},
	} {
		if r.Real() {
			t.Errorf("%+v is real", r)
		}
	}
	// They are not records of scheduling.
	write(`{"name": "nccl", "verdict": "passed", "hardware": "x", "when": "2026-11-21T03:17:00Z"}`)
	if err := os.Rename(file, filepath.Join(at, "schedule.json")); err != nil {
		t.Fatal(err)
	}
	if all, err := record.All(dir); err != nil || len(all) != 0 {
		t.Errorf("a runtime check is a record of scheduling: %v, %v", all, err)
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	s := record.Start{Tool: "v1", Commit: commit, Event: impact.Push, Tier: 3, Tree: "recipes", Harness: "h", Measured: map[string]impact.Measured{"a": {Digest: "d"}}}
	r := s.End(time.Unix(5, 0), check.Passed, "x", []record.Recipe{{Recipe: "a", Digest: "not this", Verdict: check.Passed}, {Recipe: "b", Verdict: check.Passed}})
	if err := r.Check(); err != nil || r.Recipes[0].Digest != "d" || r.Recipes[1].Digest != "" {
		t.Errorf("got %+v, %v", r, err)
	}
}
