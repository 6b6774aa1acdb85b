package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

var header = Header{Format: formatVersion, Run: "20261121-014233-7f3a", Manifest: "aa", Site: "prod", Cluster: "uid"}

func transition(node string, to State) Transition {
	return Transition{At: noon, Since: noon, Node: node, Checks: []string{"dmesg"}, From: OK, To: to, Observations: 1, Findings: []check.Finding{{Suspect: node, Message: "m", Remedy: "r"}}}
}

// written is a journal with two transitions.
func written(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "watch")
	j, earlier, err := openJournal(dir, header)
	if err != nil || len(earlier) > 0 {
		t.Fatal(earlier, err)
	}
	if _, _, err := openJournal(dir, header); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	for _, node := range []string{"gpu-01", "gpu-02"} {
		if _, err := j.append(transition(node, Failed), []check.Observation{{ID: "gpu/dmesg", Kind: "dmesg", Target: node}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A journal that ends at any byte is opened with its complete lines, and continued.
func TestTornJournal(t *testing.T) {
	t.Parallel()
	dir := written(t)
	path := filepath.Join(dir, journalFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for length := 0; length <= len(data); length++ {
		if err := os.WriteFile(path, data[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		j, transitions, err := openJournal(dir, header)
		if err != nil {
			t.Fatalf("%d bytes: %v", length, err)
		}
		if want := max(0, strings.Count(string(data[:length]), "\n")-1); len(transitions) != want || j.next != want+1 {
			t.Fatalf("%d bytes: %d transitions, want %d", length, len(transitions), want)
		}
		tr, err := j.append(transition("gpu-03", Failed), nil)
		if err := errors.Join(err, j.close()); err != nil || tr.Seq != len(transitions)+1 {
			t.Fatalf("%d bytes: %d, %v", length, tr.Seq, err)
		}
		again, transitions, err := openJournal(dir, header)
		if err != nil || transitions[len(transitions)-1].Node != "gpu-03" {
			t.Fatalf("%d bytes: continued: %v %v", length, transitions, err)
		}
		if err := again.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A line that is not the last one must be valid, and the journal of another run is refused.
func TestRefusedJournals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil  func(lines []string) []string
		header Header
		want   string
	}{
		"a line that is not JSON": {func(l []string) []string { l[1] = "{\n"; return l }, header, "line 2"},
		"a line is missing":       {func(l []string) []string { return append(l[:1], l[2:]...) }, header, "sequence number 2"},
		"another format":          {func(l []string) []string { l[0] = strings.Replace(l[0], `"format":1`, `"format":2`, 1); return l }, header, "unsupported format 2"},
		"another run":             {func(l []string) []string { return l }, Header{Run: "20261122-014233-7f3a", Manifest: "aa", Site: "prod", Cluster: "uid"}, "not of run 20261122"},
		"a changed run":           {func(l []string) []string { return l }, Header{Run: header.Run, Manifest: "bb", Site: "prod", Cluster: "uid"}, "manifest bb"},
		"another cluster":         {func(l []string) []string { return l }, Header{Run: header.Run, Manifest: "aa", Site: "prod", Cluster: "other"}, "cluster other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t)
			path := filepath.Join(dir, journalFile)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Join(tt.spoil(strings.SplitAfter(string(data), "\n")), "")
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := openJournal(dir, tt.header); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "move") {
				t.Errorf("%v, want %q", err, tt.want)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(changed, string(after)); diff != "" {
				t.Errorf("the refused journal was changed: %s", diff)
			}
		})
	}
}

func FuzzParseJournal(f *testing.F) {
	f.Add([]byte(`{"format":1,"run":"r","manifest":"m","site":"s","cluster":"c"}` + "\n" + `{"seq":1,"at":"2026-11-21T12:00:00Z","since":"2026-11-21T12:00:00Z","node":"n","checks":["dmesg"],"from":"ok","to":"failed","observations":1}` + "\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, transitions, whole, err := parseJournal(data)
		if whole > len(data) || err == nil && whole < len(data) && strings.Count(string(data[whole:]), "\n") > 1 {
			t.Fatalf("%d of %d bytes are complete", whole, len(data))
		}
		for i, tr := range transitions {
			if tr.Seq != i+1 {
				t.Fatalf("transition %d has number %d", i+1, tr.Seq)
			}
		}
	})
}
