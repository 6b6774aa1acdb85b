package floors_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/reservation/floors"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestWrongFiles reads every file of testdata/bad; beside each stands what is
// said of it, and together they break every rule.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no wrong files: %v", err)
	}
	broken := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := floors.Parse(filepath.Base(file), data)
		list, ok := errors.AsType[problem.List](err)
		if !ok || f != nil {
			t.Errorf("%s is taken for right: %+v, %v", file, f, err)
			continue
		}
		for _, p := range list {
			broken[p.Rule] = true
			if p.Line == 0 && len(data) > 0 || p.Remedy == "" {
				t.Errorf("a place or a remedy is missing: %s", p)
			}
		}
		golden(t, strings.TrimSuffix(file, ".yaml")+".golden", list.Error()+"\n")
	}
	for _, rule := range floors.Rules() {
		if !broken[rule.Name] {
			t.Errorf("no wrong file breaks rule %s", rule.Name)
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", path, diff)
	}
}

func TestAFileMaySayThatThereAreNone(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"floors: []": true, "floors:": false, "{}": false, "floors: ~": false} {
		if f, err := floors.Parse("f", []byte(text)); (err == nil) != good || good && len(f.Floors) != 0 {
			t.Errorf("%q: %v, %v", text, f, err)
		}
	}
}

// FuzzParse: nothing makes it panic, and what it takes can be compared: for every
// lane and intent, a version is run or it is not, and never by an error.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, example) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "v0.18.0")
	}
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		read, err := floors.Parse("f", data)
		if err != nil {
			return
		}
		_, wrong := floors.ParseRelease(version)
		d, err := read.Decide("gcp", "training", version)
		if version != floors.Main && (wrong != nil) != (err != nil) || err != nil && d.Run {
			t.Fatalf("%q: %v, %v", version, d, err)
		}
		for _, j := range read.Judge([]string{version}) {
			if wrong != nil && j.Standing != floors.Inconclusive {
				t.Fatalf("compared with nothing, and it %s", j.Standing)
			}
		}
	})
}
