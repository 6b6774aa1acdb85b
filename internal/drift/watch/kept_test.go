package watch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// kernelLog is what a round observed of a node: its kernel log alone.
func kernelLog(t *testing.T, name string, log nvidia.XidLog) []check.Observation {
	t.Helper()
	log.Lines = 100
	figures, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	return []check.Observation{{Check: node.Name, ID: name + "/" + node.KernelLog, Kind: node.KernelLog, Target: name, Command: "dmesg", Exit: new(int), Figures: figures}}
}

// A restarted watch knows the kernel logs of the one before: errors that a log has dropped since are
// failed until the node boots, and a log that does not reach back to the last round is unobserved.
func TestARestartKeepsTheErrorsOfTheKernelLog(t *testing.T) {
	t.Parallel()
	lost := []nvidia.XidEvent{{Kind: nvidia.KindXid, Code: 79, PCI: "0000:1b:00", Count: 1, Text: "GPU has fallen off the bus."}}
	dropped := []nvidia.XidLog{{First: "800.0", Last: "1000.0"}, {First: "900.0", Last: "1200.0"}}
	for name, tt := range map[string]struct {
		before nvidia.XidLog
		after  []nvidia.XidLog
		// spoil changes the directory of the watch while it is stopped.
		spoil func(dir string) error
		want  string // the state that each round shows, and the confirmed one
	}{
		"dropped":               {nvidia.XidLog{First: "500.0", Last: "900.0", Events: lost}, dropped, nil, "failed failed: failed"},
		"dropped, without file": {nvidia.XidLog{First: "500.0", Last: "900.0", Events: lost}, dropped, func(dir string) error { return os.Remove(filepath.Join(dir, keptFile)) }, "failed failed: failed"},
		"a boot":                {nvidia.XidLog{First: "500.0", Last: "900.0", Events: lost}, []nvidia.XidLog{{FromBoot: true, First: "0.0", Last: "30.0"}, {FromBoot: true, First: "0.0", Last: "90.0"}}, nil, "ok ok: ok"},
		"a gap":                 {nvidia.XidLog{First: "500.0", Last: "900.0"}, []nvidia.XidLog{{First: "901.0", Last: "1000.0"}, {First: "901.0", Last: "1100.0"}}, nil, "unobserved ok: ok"},
		"without a gap":         {nvidia.XidLog{First: "500.0", Last: "900.0"}, dropped, nil, "ok ok: ok"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			state := func(log nvidia.XidLog) string {
				if err := r.apply(kernelLog(t, "gpu-02", log), nil); err != nil {
					t.Fatal(err)
				}
				return string(States()[int(r.scrape(t)["state dmesg gpu-02"])])
			}
			if got := state(tt.before); (got == string(Failed)) != (len(tt.before.Events) > 0) {
				t.Fatalf("before the restart: %s", got)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if tt.spoil != nil {
				if err := tt.spoil(r.options.Dir); err != nil {
					t.Fatal(err)
				}
			}
			r.open(t)
			var got []string
			for _, log := range tt.after {
				got = append(got, state(log))
			}
			if text := strings.Join(got, " ") + ": " + string(r.tracker.State("gpu-02", node.KernelLog)); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// A file that cannot be read is an error: without it, errors would be forgotten.
func TestAnUnreadableFileOfTheLastRound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.options.Dir, keptFile)
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, err := Open(r.options); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, %v", w, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.open(t)
}
