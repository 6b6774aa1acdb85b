package watch

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// killedDir is the variable with the directory of the process that TestKilled kills.
const killedDir = "FIRSTLIGHT_TEST_WATCH_DIR"

// A watch that is killed at any instant has lost no transition that it reported. The next one
// continues from the last states: no transition is repeated, and none is missing between two others.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		watchUntilKilled(t, dir)
		return
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "watch")
	var reported []string
	for run := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$", "-test.v")
		cmd.Env = append(os.Environ(), killedDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var output []string
		n := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			output = append(output, lines.Text())
			line, ok := strings.CutPrefix(lines.Text(), "reported ")
			if !ok {
				continue
			}
			reported = append(reported, line)
			if n++; n == 3+run { // and another one is on its way
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // killed
		if n < 3+run {
			t.Fatalf("the watch ended by itself:\n%s", strings.Join(output, "\n"))
		}
	}
	j, transitions, err := openJournal(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close() //nolint:errcheck // the test has ended
	states := map[cellKey]State{}
	texts := texts(transitions)
	for i, tr := range transitions {
		for _, name := range tr.Checks {
			key := cellKey{tr.Node, name}
			was := states[key]
			if was == "" {
				was = OK
			}
			if tr.From != was || tr.To == was {
				t.Errorf("line %d of %s: from %s to %s, the last state is %s", i+1, name, tr.From, tr.To, was)
			}
			states[key] = tr.To
		}
	}
	for i, line := range reported {
		if line != texts[i] && !strings.Contains(strings.Join(texts, "\n"), line) {
			t.Errorf("reported, and not in the journal: %s", line)
		}
	}
	if len(transitions) < len(reported) || len(reported) < 12 {
		t.Errorf("%d transitions reported, %d in the journal", len(reported), len(transitions))
	}
}

// watchUntilKilled breaks and repairs a GPU, and prints each transition.
func watchUntilKilled(t *testing.T, dir string) {
	r := newRig(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.options.Dir = dir
	r.options.Report = func(tr Transition) error {
		_, err := os.Stdout.WriteString("reported " + texts([]Transition{tr})[0] + "\n")
		return err
	}
	r.open(t)
	for range 1000 {
		repair := r.fault(t, "gpu-off-bus", "gpu-02/gpu3")
		r.round(t)
		repair()
		r.round(t)
		r.round(t)
	}
	t.Fatal("this process was not killed")
}
