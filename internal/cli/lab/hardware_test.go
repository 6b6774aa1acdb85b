package lab

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/world"
)

// Hardware that nobody has figures of is bad input, said with what there is, before
// anything is started.
func TestUnknownHardwareIsBadInput(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for _, args := range [][]string{
		{"lab", "up", "--hardware", "a3-highgpu-9g"},
		{"lab", "supervise", "--hardware=a3-highgpu-9g"},
	} {
		_, stderr, code := run(t, args...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, `"a3-highgpu-9g"`) || !strings.Contains(stderr, strings.Join(world.HardwareKinds(), ", ")) {
			t.Errorf("%v: exit %d, %q; want bad input that lists what there is", args, code, stderr)
		}
	}
	if _, stderr, code := run(t, "lab", "up", "--hardware", world.DefaultHardware, "--site", "s.yaml"); code != cmdutil.ExitUsage || !strings.Contains(stderr, "hardware site") {
		t.Errorf("hardware beside a site: exit %d, %q", code, stderr)
	}
}

// What is handed to the lab's own process is what it reads.
func TestHardwareIsHandedOn(t *testing.T) {
	cmd := newLabSupervise(cmdutil.Streams{})
	given := &specFlags{nodes: 1, hardware: "a3-highgpu-1g", seed: 7}
	if err := cmd.ParseFlags(given.args()); err != nil {
		t.Fatal(err)
	}
	got, err := cmd.Flags().GetString("hardware")
	if err != nil || got != "a3-highgpu-1g" {
		t.Errorf("%q, %v", got, err)
	}
	spec, err := given.spec()
	if err != nil || spec.Hardware != "a3-highgpu-1g" || spec.Seed != 7 || len(spec.GPUNodes) != 1 || len(spec.HCAs) != 0 {
		t.Errorf("%+v, %v", spec, err)
	}
	spec, err = (&specFlags{nodes: 2, hardware: world.DefaultHardware, seed: 1}).spec()
	if err != nil || !cmp.Equal(spec, world.DefaultSpec(2)) {
		t.Errorf("%+v, %v", spec, err)
	}
}

// A recipe's accelerator is found by the name that the GPU has itself.
func TestLabAccelerator(t *testing.T) {
	t.Parallel()
	tr, err := (&cmdutil.RecipeFlags{}).open(cmdutil.Streams{Err: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := labAccelerator(tr, []string{"NVIDIA H100 80GB HBM3"}); err != nil || got != "h100" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := labAccelerator(tr, []string{"NVIDIA H900"}); err == nil || !strings.Contains(err.Error(), "--recipe") {
		t.Errorf("%q, %v", got, err)
	}
}
