package display_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/display"
)

func TestPlainPrintsChangesOnly(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	b := display.New(&out, display.Options{Clock: func() time.Time { return now }})
	b.Set("gates", "fabric", display.Waiting, "")
	b.Set("gates", "fabric", display.Running, "")
	b.Progress("gates", "fabric", "soaking")
	now = now.Add(90 * time.Second)
	b.Progress("gates", "fabric", "still soaking")
	b.Set("gates", "fabric", display.Done, "64 links")
	b.Set("gates", "fabric", display.Done, "64 links")
	b.Log("report at %s", "x")
	b.Close()
	want := []string{
		"01:02:03  gates    fabric                   running  ",
		"01:03:33  gates    fabric                   running 1m 30s  still soaking",
		"01:03:33  gates    fabric                   done 1m 30s  64 links",
		"report at x",
	}
	if got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escape sequences without a terminal")
	}
}

func TestLiveRedrawsWithinTheWidth(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := display.New(&out, display.Options{Live: true, Width: func() int { return 60 }})
	b.Set("lab", "etcd", display.Done, "")
	b.Set("gates", "node", display.Failed, strings.Repeat("long ", 40))
	b.Fold("lab")
	b.Close()
	text := out.String()
	last := text[strings.LastIndex(text, "gates\n"):]
	if strings.Contains(last, "etcd") {
		t.Error("a folded group still shows its finished lines")
	}
	for line := range strings.SplitSeq(last, "\n") {
		if n := len([]rune(line)); n > 60 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.Contains(last, "✗ node") {
		t.Errorf("no failed row in %q", last)
	}
}
