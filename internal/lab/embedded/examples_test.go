package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

// labHardware is the hardware of the lab that the comment of an example starts.
var labHardware = regexp.MustCompile(`(?m)^#.*firstlight lab up .*--hardware (\S+)`)

// loadExample loads a file over the site of the lab that its comment starts, as accept --lab --site does.
func loadExample(t *testing.T, path string) (*site.Site, error) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("\nspine: "+site.SpineSingleNode+"\n")) || bytes.Contains(text, []byte("\nspine: "+site.SpineSlurm+"\n")) { // a site of its own, not a lab
		s, err := site.Load(path)
		return s, err
	}
	hardware := world.DefaultHardware
	if m := labHardware.FindSubmatch(text); m != nil {
		hardware = string(m[1])
	}
	spec, err := world.SpecOf(hardware, 4)
	if err != nil {
		t.Fatal(err)
	}
	w, info, h := sampleOf(t, spec)
	dir := t.TempDir()
	if err := writeSite(dir, siteOf(w.Spec(), w.State(), w.State(), info, h)); err != nil {
		t.Fatal(err)
	}
	s, _, err := site.LoadOver(filepath.Join(dir, SiteFile), path)
	if err != nil {
		return nil, fmt.Errorf("on a lab of %s: %w", hardware, err)
	}
	return s, nil
}

// TestExamplesAreValid: every example of a site file is valid on the lab that its comment starts.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", "sites", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		if _, err := loadExample(t, path); err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

// All problems of a wrong example are found, on the lab's hardware.
func TestWrongExampleIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text     string
		problems int
	}{
		"a key that does not exist":  {"gpustack: {queues: a}\n", 1},
		"two values":                 {"gpustack: {jobKind: pod}\nfabric: {networkResourceCount: -1}\n", 2},
		"keys of another fabric":     {"# firstlight lab up --hardware h200-sxm-efa-p5en\nfabric: {hcas: [mlx5_0]}\n", 1},
		"a profile of other devices": {"profile: h100-sxm-roce400\n", 2},
	} {
		path := filepath.Join(t.TempDir(), "site.yaml")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := loadExample(t, path)
		if invalid, ok := errors.AsType[*site.InvalidError](err); !ok || len(invalid.Problems) < tt.problems {
			t.Errorf("%s: %v, want %d problems", name, err, tt.problems)
		}
	}
}
