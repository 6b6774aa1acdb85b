package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/config/configtest"
)

func TestInvalidCompat(t *testing.T) {
	t.Parallel()
	configtest.Invalid(t, "testdata/compat", 15, config.ParseCompat, config.CompatRules())
}

func TestAFileMaySayThatThereAreNone(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"floors: []": true, "floors:": false, "{}": false, "floors: ~": false} {
		if f, err := config.ParseCompat("f", []byte(text)); (err == nil) != good || good && len(f.Floors) != 0 {
			t.Errorf("%q: %v, %v", text, f, err)
		}
	}
}

// FuzzParse: nothing makes it panic, and what it takes can be compared: for every
// lane and intent, a version is run or it is not, and never by an error.
func FuzzParseCompat(f *testing.F) {
	files, err := filepath.Glob("testdata/compat/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, exampleCompat) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "v0.18.0")
	}
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		read, err := config.ParseCompat("f", data)
		if err != nil {
			return
		}
		_, wrong := config.ParseRelease(version)
		d, err := read.Decide("gcp", "training", version)
		if version != config.MainBranch && (wrong != nil) != (err != nil) || err != nil && d.Run {
			t.Fatalf("%q: %v, %v", version, d, err)
		}
		for _, j := range read.Status([]string{version}) {
			if wrong != nil && j.State != config.FloorUnknown {
				t.Fatalf("compared with nothing, and it %s", j.State)
			}
		}
	})
}
