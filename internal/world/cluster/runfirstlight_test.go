package cluster

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestRunProcess(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, script string, starved time.Duration) (string, int, time.Duration) {
		var out bytes.Buffer
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdout, cmd.SysProcAttr = &out, ownGroup()
		began := time.Now()
		exit, err := runProcess(ctx, cmd, starved)
		if err != nil {
			t.Error(err)
		}
		return out.String(), exit, time.Since(began)
	}
	if out, exit, _ := run(t.Context(), "echo hello; exit 3", 0); out != "hello\n" || exit != 3 {
		t.Errorf("%q, exit %d", out, exit)
	}
	if _, exit, _ := run(t.Context(), "kill -9 $$", 0); exit != killed {
		t.Errorf("exit %d of a process that is killed", exit)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	// The shell's child ends, too: it has the output open.
	if out, _, took := run(ctx, "echo begun; sleep 600; echo ended", 0); !strings.HasPrefix(out, "begun") || strings.Contains(out, "ended") || took > time.Minute {
		t.Errorf("%q after %s", out, took)
	}
	if _, exit, took := run(t.Context(), "sleep 0.4; exit 0", 200*time.Millisecond); exit != 0 || took > time.Minute {
		t.Errorf("exit %d after %s", exit, took)
	}
	if _, err := runProcess(t.Context(), exec.Command("/no/such/program"), 0); err == nil {
		t.Error("no error")
	}
}

func TestRecogniseFirstlight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command []string
		want    kind
	}{
		{[]string{"/usr/local/bin/firstlight", "load", "--plan", `{"model":"vllm"}`}, kindFirstlight},
		{[]string{"/bin/other", "load"}, kindOther},
		// A pod could run every command of firstlight on the machine of the lab.
		{[]string{"/usr/local/bin/firstlight", "lab", "down"}, kindOther},
		{[]string{"/usr/local/bin/firstlight", "--help", "load"}, kindOther},
		{[]string{"/usr/local/bin/firstlight"}, kindOther},
	} {
		if got := recognise(corev1.Container{Command: tt.command}); got != tt.want {
			t.Errorf("%q is %q", tt.command, got)
		}
	}
}
