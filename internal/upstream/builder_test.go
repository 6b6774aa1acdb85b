package upstream

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// tiny is a group whose module needs nothing but the standard library.
func tiny(t *testing.T, source string) (group, program) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/tiny\n\ngo 1.24\n")
	write("main.go", source)
	mod := "module pins\n\ngo 1.24\n\nrequire example.com/tiny v1.2.3\n\nreplace example.com/tiny => " + dir + "\n"
	return group{Name: "tiny", LDFlags: []string{"-X main.version=${VERSION}"}, mod: []byte(mod)}, program{Name: "tiny", Package: "example.com/tiny"}
}

func builderFor(t *testing.T) Builder {
	t.Helper()
	b, err := Builder{CacheDir: t.TempDir()}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	b.Clock = clock.RealClock{}
	return b
}

const hello = "package main\n\nvar version string\n\nfunc main() { println(version) }\n"

func TestEnsureBuildsOnceAndThenFinds(t *testing.T) {
	t.Parallel()
	b := builderFor(t)
	g, p := tiny(t, hello)
	var states []State
	tell := func(e Event) { states = append(states, e.State) }
	path, err := b.ensure(t.Context(), "go", g, p, tell)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "v1.2.3" {
		t.Errorf("the program says %q, %v; want its version", out, err)
	}
	if last := states[len(states)-1]; last != Built {
		t.Errorf("the last event is %s, want built", last)
	}
	states = nil
	again, err := b.ensure(t.Context(), "go", g, p, tell)
	if err != nil || again != path {
		t.Errorf("second time: %s, %v; want %s", again, err, path)
	}
	if len(states) != 1 || states[0] != Cached {
		t.Errorf("second time: events %v, want cached alone", states)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ensure(t.Context(), "go", g, p, tell); err != nil || !usable(path) {
		t.Errorf("an empty file was not built anew: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(b.CacheDir, "upstream", ".build-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("scratch left behind: %v, %v", left, err)
	}
}

func TestEnsureSaysWhatTheCompilerSaid(t *testing.T) {
	t.Parallel()
	b := builderFor(t)
	g, p := tiny(t, "package main\n\nfunc main() { undefinedThing() }\n")
	_, err := b.ensure(t.Context(), "go", g, p, func(Event) {})
	if err == nil || !strings.Contains(err.Error(), "undefinedThing") || !strings.Contains(err.Error(), "build tiny") {
		t.Errorf("error %v does not name the program and what the compiler said", err)
	}
}

func TestBuildersTakeTurns(t *testing.T) {
	t.Parallel()
	b := builderFor(t)
	g, p := tiny(t, hello)
	var mu sync.Mutex
	built := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, err := b.ensure(t.Context(), "go", g, p, func(e Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.State == Built {
					built++
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if built != 1 {
		t.Errorf("built %d times, want once", built)
	}
}

func TestWaitForLockEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	waited := 0
	if _, err := lock(ctx, path, func() { waited++ }); !errors.Is(err, context.DeadlineExceeded) || waited == 0 {
		t.Errorf("a held lock: %v after %d waits, want the deadline", err, waited)
	}
}

func TestNoGoIsSaid(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := (Builder{CacheDir: t.TempDir()}).Ensure(t.Context(), []string{"etcd"}, nil); !errors.Is(err, ErrNoGo) {
		t.Errorf("without go: %v, want ErrNoGo", err)
	}
}

func TestRemedyFitsTheReason(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"dial tcp: lookup proxy.example.org: no such host": "proxy",
		"write /tmp/x: no space left on device":            "disk",
		"go: errors parsing go.mod: requires go >= 1.26.9": "too old",
		"verifying x: checksum mismatch\n SECURITY ERROR":  "pinned",
		"link: signal: killed":                             "memory",
		"./x.go:3: undefined: y":                           "compiler",
	} {
		if got := remedy(output); !strings.Contains(got, want) {
			t.Errorf("remedy(%q) = %q, want it to speak of %q", output, got, want)
		}
	}
}
