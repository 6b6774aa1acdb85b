package validate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate"
)

// The accelerator of a recipe follows from the product name of the GPU.
func TestAcceleratorOf(t *testing.T) {
	t.Parallel()
	tr, err := (&cmdutil.RecipeFlags{}).Open(cmdutil.Streams{Err: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := acceleratorOf(tr, []string{"NVIDIA H100 80GB HBM3"}); err != nil || got != "h100" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := acceleratorOf(tr, []string{"NVIDIA H900"}); err == nil || !strings.Contains(err.Error(), "--recipe") {
		t.Errorf("%q, %v", got, err)
	}
}

// An interrupted run has no artifacts: they would be in the place of those of the same run once it is resumed.
func TestAnInterruptedRunHasNoArtifacts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "artifacts")
	f := &validateFlags{artifacts: dir}
	r, err := f.report(validate.Case{Version: defaultVersion}, accept.Report{Run: "R", Evidence: t.TempDir(), Interrupted: true}, nil)
	if err != nil || !r.Interrupted || r.Artifacts != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
}

// The run creates the namespace of its pods, in which a Secret of the site is not.
func TestAnIntentWhosePodsReferToObjectsIsRefused(t *testing.T) {
	t.Parallel()
	var s site.Site
	s.Workloads.Training.Pod = map[string]any{"spec": map[string]any{"imagePullSecrets": []any{map[string]any{"name": "registry"}}}}
	for name, tt := range map[string]struct {
		f       validateFlags
		refused bool
	}{
		"training": {validateFlags{intent: "training"}, true}, "its step": {validateFlags{intent: "training", step: "training"}, true},
		"another step": {validateFlags{intent: "training", step: "dra_support"}, false}, "conformance": {validateFlags{intent: "conformance"}, false},
		"inference": {validateFlags{intent: "inference"}, false}, "resumed": {validateFlags{intent: "training", resume: "latest"}, false},
	} {
		if err := tt.f.podReferences(&s); (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "Secret registry") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
