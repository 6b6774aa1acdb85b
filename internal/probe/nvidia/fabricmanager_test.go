package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The lines of systemctl are those of systemd 249; the versions are of nv-fabricmanager 535 and 610,
// as users quote them in public.
func TestParseFabricManager(t *testing.T) {
	t.Parallel()
	const active, absent = "LoadState=loaded\nActiveState=active\nSubState=running\n", "LoadState=not-found\nActiveState=inactive\nSubState=dead\n"
	for name, tt := range map[string]struct {
		unit, processes, version string
		want                     nvidia.FabricManager
		err                      string
	}{
		"on the host": {
			active, "pid:[4026531836]\n/proc/1/comm:systemd\n/proc/2117/comm:nv-fabricmanage\n", "\n\n\n\tFabric Manager version is : 535.161.08\n\n",
			nvidia.FabricManager{Unit: &nvidia.Unit{Load: "loaded", Active: "active", Sub: "running"}, Processes: new(1), Version: "535.161.08"}, "",
		},
		"more than the version, without a newline": {
			active, "pid:[4026531836]\n/proc/1/comm:systemd\n", "Fabric Manager version is : 610.57.04\nBuild Info - Branch: rel/gpu_drv/r610/r610_85-4, Changelist: 0",
			nvidia.FabricManager{Unit: &nvidia.Unit{Load: "loaded", Active: "active", Sub: "running"}, Processes: new(0), Version: "610.57.04"}, "",
		},
		"in a container": {
			absent, "pid:[4026531836]\n/proc/1/comm:systemd\n/proc/9/comm:nv-fabricmanage\n", "",
			nvidia.FabricManager{Unit: &nvidia.Unit{Load: "not-found", Active: "inactive", Sub: "dead"}, Processes: new(1)}, "",
		},
		"a login in a container":       {"", "pid:[4026532841]\n/proc/1/comm:sshd\n", "", nvidia.FabricManager{}, ""},
		"no namespace":                 {"", "/proc/1/comm:systemd\n", "", nvidia.FabricManager{}, ""},
		"no systemd, hidden processes": {"", "", "", nvidia.FabricManager{}, ""},
		"another property":             {"Id=nvidia\n", "", "", nvidia.FabricManager{}, "expected LoadState"},
		"a property is missing":        {"LoadState=loaded\n", "", "", nvidia.FabricManager{}, "is missing"},
		"no process":                   {active, "grep: invalid option\n", "", nvidia.FabricManager{}, "process names"},
		"another version text":         {active, "", "580.159.03\n", nvidia.FabricManager{}, "expected \"Fabric Manager version"},
		"no text":                      {"\xff\n", "", "", nvidia.FabricManager{}, "UTF-8"},
	} {
		got, err := nvidia.ParseFabricManager([]byte("=unit=\n" + tt.unit + "=processes=\n" + tt.processes + "=version=\n" + tt.version))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, cut := range []string{"", "=unit=\n", "=unit=\n=processes=\n", "=processes=\n=version=\n"} {
		if _, err := nvidia.ParseFabricManager([]byte(cut)); err == nil {
			t.Errorf("%q has all sections", cut)
		}
	}
}

func FuzzParseFabricManager(f *testing.F) {
	f.Add([]byte("=unit=\nLoadState=loaded\nActiveState=active\nSubState=running\n=processes=\n/proc/1/comm:systemd\n=version=\nFabric Manager version is : 580.159.03\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := nvidia.ParseFabricManager(data); err == nil && m.Unit != nil && m.Unit.Active == "" {
			t.Error("a unit without a state and no error")
		}
	})
}
