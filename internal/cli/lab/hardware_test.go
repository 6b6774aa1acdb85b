package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/world"
)

// Unknown hardware is a usage error that lists the known kinds.
func TestUnknownHardware(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for _, args := range [][]string{
		{"lab", "up", "--hardware", "a3-highgpu-9g"},
		{"lab", "supervise", "--hardware=a3-highgpu-9g"},
	} {
		_, stderr, code := clitest.Run(t, New, args...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, `"a3-highgpu-9g"`) || !strings.Contains(stderr, strings.Join(world.HardwareKinds(), ", ")) {
			t.Errorf("%v: exit %d, %q; want a usage error that lists the known kinds", args, code, stderr)
		}
	}
	if _, stderr, code := clitest.Run(t, New, "lab", "up", "--hardware", world.DefaultHardware, "--site", "s.yaml"); code != cmdutil.ExitUsage || !strings.Contains(stderr, "hardware site") {
		t.Errorf("hardware with a site: exit %d, %q", code, stderr)
	}
}

// The lab's own process reads the flags of lab up.
func TestHardwareIsPassedOn(t *testing.T) {
	cmd := newSupervise(cmdutil.Streams{})
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
	k3s := &specFlags{nodes: 2, hardware: world.DefaultHardware, seed: 1, spine: "k3s"}
	if spec, err = k3s.spec(); err != nil || spec.Distribution != world.K3s || !slices.Contains(k3s.args(), "--spine=k3s") {
		t.Errorf("%+v, %v, %q", spec, err, k3s.args())
	}
	if _, stderr, code := clitest.Run(t, New, "lab", "up", "--spine", "nomad"); code != cmdutil.ExitUsage || !strings.Contains(stderr, `unknown --spine "nomad": want one of kubernetes, k3s`) {
		t.Errorf("an unknown spine: exit %d: %s", code, stderr)
	}
	spec, err = (&specFlags{nodes: 2, hardware: world.DefaultHardware, seed: 1}).spec()
	if err != nil || !cmp.Equal(spec, world.DefaultSpec(2)) {
		t.Errorf("%+v, %v", spec, err)
	}
}
