package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestWatch watches an accepted lab: it is quiet, names a GPU that falls off the bus in a line and in
// its metrics, and ends with the path of its journal. The next one continues it.
func TestWatch(t *testing.T) {
	suite.Require(t, suite.All)
	first, r, earlier := healthyRun(t)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(earlier)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	fault := program.Must(t, "lab", "fault", "add", "gpu-off-bus", "gpu-02/gpu3", "--name", labName)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	if fault.Code != 0 {
		t.Fatal(fault.Stderr)
	}
	line, metrics := watchOnce(ctx, t, dir)
	if !strings.Contains(line, `"node":"gpu-02"`) || !strings.Contains(line, `"to":"failed"`) || !strings.Contains(line, "gpu-02/gpu3") {
		t.Errorf("the transition: %s", line)
	}
	for _, want := range []string{`firstlight_watch_state{check="dmesg",node="gpu-02",site="` + labName + `"} 1`, `firstlight_watch_state{check="dmesg",node="gpu-01",site="` + labName + `"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s:\n%s", want, metrics)
		}
	}
	journal := filepath.Join(dir, "watch", first.Run, "journal.jsonl")
	data, err := os.ReadFile(journal)
	if err != nil || !strings.Contains(string(data), strings.TrimSpace(line)) {
		t.Errorf("the journal: %s, %v", data, err)
	}
	program.Must(t, "evidence", "verify", filepath.Join(dir, first.Run)) // the run itself is sealed
	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	if line, _ = watchOnce(ctx, t, dir); !strings.Contains(line, `"from":"failed","to":"ok"`) {
		t.Errorf("the next watch does not continue: %s", line)
	}
	if r := program.Run(ctx, "drift", "--watch", "--lab", labName, "--evidence", t.TempDir()); r.Code != 2 || !strings.Contains(r.Stderr, "no accepted run") {
		t.Errorf("without a run: exit %d: %s", r.Code, r.Stderr)
	}
}

var watchAddress = regexp.MustCompile(`metrics: (http://\S+/metrics); journal: (\S+)`)

// watchOnce watches until the first transition, and returns it with the metrics. The watch must end
// well.
func watchOnce(ctx context.Context, t *testing.T, dir string) (line, metrics string) {
	t.Helper()
	cmd := program.Command(ctx, "drift", "--watch", "--every", "10s", "--listen", "127.0.0.1:0", "-o", "json", "--lab", labName, "--evidence", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stderr := func() string {
		data, err := os.ReadFile(errs.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil || !json.Valid([]byte(line)) {
		t.Fatalf("no line: %q %v\n%s", line, err, stderr())
	}
	address := watchAddress.FindStringSubmatch(stderr())
	if address == nil {
		t.Fatalf("no address:\n%s", stderr())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr(), "watch ended; journal: "+address[2]) {
		t.Errorf("the watch ended with %v:\n%s", err, stderr())
	}
	return line, string(body)
}
