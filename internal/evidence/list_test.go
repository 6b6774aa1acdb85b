package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A run that was pulled into the directory, or that is named 99991231-235959-ffff, was "the
// newest run": it was resumed, or kept the killed run before it from being resumed.
func TestNewestRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		strange string
		begun   bool
		says    string
	}{
		"pulled from elsewhere":       {strange: "20261122-010203-abcd", says: "was not created in this directory; resume it with --resume 20261122-010203-abcd"},
		"of the future":               {strange: "99991231-235959-ffff", says: "the time in its name is in the future"},
		"of the future, begun here":   {strange: "99991231-235959-ffff", begun: true, says: "the time in its name is in the future"},
		"of no time":                  {strange: "20269922-010203-abcd", begun: true, says: "the time in its name is in the future"},
		"begun here, in the past now": {strange: "20261122-010203-abcd", begun: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := create(t, dir, testPlan())
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(dir, tt.strange), os.DirFS(r.Dir())); err != nil {
				t.Fatal(err)
			}
			if tt.begun {
				if err := noteBegun(dir, tt.strange); err != nil {
					t.Fatal(err)
				}
			}
			left, err := Unfinished(dir, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
			if err != nil {
				t.Fatal(err)
			}
			want := r.Dir()
			if tt.says == "" {
				want = filepath.Join(dir, tt.strange)
			}
			if said := strings.Join(left.PassedOver, "; "); left.Path != want || !strings.Contains(said, tt.says) || (said == "") != (tt.says == "") {
				t.Errorf("%s, %q; want %s and %q", left.Path, said, want, tt.says)
			}
		})
	}
}

// Creating a run removed everything in its directory that begins with a dot and ends in .tmp,
// also what others keep there.
func TestCreatingARunRemovesOnlyItsOwnLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".theirs.tmp", ".20261121.tmp", ".20261121-014233-7f3a.tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(t, dir, testPlan()).Close(); err != nil {
		t.Fatal(err)
	}
	for name, kept := range map[string]bool{".theirs.tmp": true, ".20261121.tmp": true, ".20261121-014233-7f3a.tmp": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s: %v, kept should be %v", name, err, kept)
		}
	}
}
