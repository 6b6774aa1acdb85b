package floors_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/floors"
	"github.com/firstlight/firstlight/internal/reservation/yamlfile/yamlfiletest"
)

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	yamlfiletest.Wrong(t, 15, floors.Parse, floors.Rules())
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
