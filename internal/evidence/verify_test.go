package evidence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

func mustVerify(t *testing.T, dir string) Problems {
	t.Helper()
	problems, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestVerifyFindsOneByteInEveryFile(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	if problems := mustVerify(t, dir); len(problems) != 0 {
		t.Fatalf("untouched: %s", problems)
	}
	files := filesOf(t, dir)
	if len(files) < 10+9*2 {
		t.Fatalf("the run holds only %v", files)
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, len(whole) / 2, len(whole) - 1} {
			changed := append([]byte(nil), whole...)
			changed[at] ^= 0x01
			edit(t, path, func([]byte) []byte { return changed })
			if problems := mustVerify(t, dir); len(problems) != 1 || problems[0].File != filepath.ToSlash(name) || problems[0].What != Changed {
				t.Errorf("byte %d of %s: %s", at, name, problems)
			}
			if _, err := Replay(dir, testChecks); err == nil {
				t.Errorf("byte %d of %s: replayed", at, name)
			}
		}
		edit(t, path, func([]byte) []byte { return whole })
	}
	if problems := mustVerify(t, dir); len(problems) != 0 {
		t.Errorf("restored: %s", problems)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(dir string) error
		want   Problems
	}{
		"missing": {func(d string) error { return os.Remove(filepath.Join(d, junitFile)) }, Problems{{File: junitFile, What: Missing}}},
		"extra": {func(d string) error { return os.WriteFile(filepath.Join(d, "observations", "new"), nil, 0o600) },
			Problems{{File: "observations/new", What: Extra}}},
		"a link in place of a file": {
			func(d string) error {
				target := filepath.Join(d, siteFile)
				return errors.Join(os.Rename(target, d+".moved"), os.Symlink(d+".moved", target))
			},
			Problems{{File: siteFile, What: Extra, Detail: "not a regular file"}, {File: siteFile, What: Missing}},
		},
		"no manifest": {func(d string) error { return os.Remove(filepath.Join(d, manifestFile)) },
			Problems{{File: manifestFile, What: NoManifest, Detail: "the run is unfinished, or its manifest was removed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := finished(t, passingPlan())
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, mustVerify(t, dir)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Verify(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nothing there, and verified")
	}
}

func TestACopiedRunHasTheSameDigest(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	one, err := Stored(dir)
	if err != nil || len(one.Digest) != 64 {
		t.Fatalf("%q, %v", one.Digest, err)
	}
	if two, err := Stored(copyTree(t, dir)); err != nil || two.Digest != one.Digest {
		t.Errorf("moved: %q, %v", two.Digest, err)
	}
}

func TestReplayInAnotherDirectory(t *testing.T) {
	t.Parallel()
	dir := copyTree(t, finished(t, testPlan()))
	r, err := Replay(dir, testChecks)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Identical() || r.Unfinished || r.Verdict != check.Failed || len(r.Steps) != 5 {
		t.Errorf("replayed %+v", r)
	}
}

func TestReplayReportsDifferences(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	for name, tt := range map[string]struct {
		b    check.Check
		step map[string]bool // that differ
	}{
		"another verdict blocks others too": {counter{"b", 4, 7}, map[string]bool{"b": true, "c": true, "d": true}},
		"other figures, same verdict":       {otherFigures{counter{"b", 4, 6}}, map[string]bool{"b": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Replay(dir, func(b *Bundle) (Derived, error) {
				made, err := testChecks(b)
				made.Checks[1] = tt.b
				return made, err
			})
			if err != nil || r.Identical() {
				t.Fatalf("replayed %+v, %v", r, err)
			}
			got := map[string]bool{}
			for _, s := range r.Steps {
				if s.Difference != "" {
					got[s.Step] = true
				}
			}
			if diff := cmp.Diff(tt.step, got); diff != "" {
				t.Errorf("steps that differ (-want +got):\n%s", diff)
			}
		})
	}
}

type otherFigures struct{ counter }

func (o otherFigures) Judge(obs []check.Observation) check.Judgement {
	j := o.counter.Judge(obs)
	j.Figures[0].Name = "total"
	return j
}

func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	if _, err := Replay(dir, func(*Bundle) (Derived, error) { return Derived{}, errTest }); !errors.Is(err, errTest) {
		t.Errorf("no checks: %v", err)
	}
	if _, err := Replay(dir, func(*Bundle) (Derived, error) { return Derived{}, nil }); err == nil {
		t.Error("an unknown check was replayed")
	}
	edit(t, filepath.Join(dir, profileFile), func([]byte) []byte { return []byte("name: lenient\n") })
	_, err := Replay(dir, testChecks)
	if tampered, ok := errors.AsType[*TamperedError](err); !ok || tampered.Problems[0].File != profileFile {
		t.Errorf("tampered: %v", err)
	}
}

// A run of schema version 1 has durations in nanoseconds. A run of another version is refused
// for its version, also if run.json has fields that this version does not have.
func TestAnotherSchemaVersionIsRefused(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`"old": true, "format": 1`: "unsupported schema version 1 in run.json: want 2",
		`"new": true, "format": 3`: "unsupported schema version 3 in run.json: want 2",
		`"none": true`:             "unsupported schema version 0 in run.json: want 2",
		`"format": "2"`:            "decode run.json: ",
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			r := create(t, t.TempDir(), testPlan())
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			edit(t, filepath.Join(r.Dir(), headerFile), func(data []byte) []byte {
				return bytes.Replace(data, []byte(`"format": 2`), []byte(header), 1)
			})
			if _, err := Load(r.Dir()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Load: %v, want %q", err, want)
			}
			if _, err := Open(r.Dir(), testOptions()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Open: %v, want %q", err, want)
			}
			if _, err := Replay(r.Dir(), testChecks); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Replay: %v, want %q", err, want)
			}
		})
	}
}

// The duration of an observation is stored as a Go duration string.
func TestDurationIsStoredAsString(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	files, err := filepath.Glob(filepath.Join(dir, observationsDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d observations, %v", len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || !bytes.Contains(data, []byte(`"took": "`)) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestReplayOfAnUnfinishedRunIsMarked(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), testPlan())
	execute(t, r, plan.Executor{Plan: testPlan()})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Replay(r.Dir(), testChecks)
	if err != nil || !got.Unfinished || !got.Identical() {
		t.Errorf("replayed %+v, %v", got, err)
	}
}
