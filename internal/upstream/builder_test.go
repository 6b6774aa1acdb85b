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

// tiny is a group of one program that needs only the standard library.
func tiny(t *testing.T, source string) batch {
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
	programs := []program{{Name: "tiny", Package: "example.com/tiny", LDFlags: []string{"-X main.version=${VERSION}"}}}
	return batch{group: group{Name: "tiny", Programs: programs, all: programs, mod: []byte(mod)}, programs: programs}
}

func builderFor(t *testing.T) Builder {
	t.Helper()
	b, err := Builder{CacheDir: t.TempDir()}.withDefaults(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Clock = clock.RealClock{}
	return b
}

const hello = "package main\n\nvar version string\n\nfunc main() { println(version) }\n"

// buildBatch builds a batch as Begin does, in this goroutine.
func buildBatch(t *testing.T, b Builder, m batch, events func(Event)) (string, error) {
	t.Helper()
	programs := Programs{files: map[string]*file{}}
	for _, p := range m.programs {
		programs.files[p.Name] = newFile()
	}
	if err := b.build(t.Context(), m, programs, events); err != nil {
		return "", err
	}
	return programs.Path(t.Context(), m.programs[0].Name)
}

func TestBuildIsCached(t *testing.T) {
	t.Parallel()
	b := builderFor(t)
	m := tiny(t, hello)
	var states []State
	tell := func(e Event) { states = append(states, e.State) }
	path, err := buildBatch(t, b, m, tell)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "v1.2.3" {
		t.Errorf("the program prints %q, %v; want its version", out, err)
	}
	if last := states[len(states)-1]; last != Built {
		t.Errorf("the last event is %s, want built", last)
	}
	if found, err := b.find(m.group); err != nil || found["tiny"] != path {
		t.Errorf("found %v, %v; want %s", found, err, path)
	}
	states = nil
	if again, err := buildBatch(t, b, m, tell); err != nil || again != path {
		t.Errorf("second time: %s, %v; want %s", again, err, path)
	}
	if len(states) != 1 || states[0] != Cached {
		t.Errorf("second time: events %v, want cached alone", states)
	}
	if err := verify(path); err != nil {
		t.Errorf("the program does not match its digest: %v", err)
	}
	for name, spoil := range map[string]func() error{
		"an empty file":          func() error { return os.Truncate(path, 0) },
		"one without its digest": func() error { return os.Remove(path + digestSuffix) },
		"one with a torn digest": func() error { return os.WriteFile(path+digestSuffix, []byte("torn"), 0o600) },
		"one with another's digest": func() error {
			return os.WriteFile(path+digestSuffix, []byte(strings.Repeat("ab", 32)+"  kwok\n"), 0o600)
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := buildBatch(t, b, m, tell); err != nil || verify(path) != nil {
			t.Errorf("%s was not rebuilt: %v", name, err)
		}
	}
	changeOneByte(t, path)
	if _, err := buildBatch(t, b, m, tell); !errors.Is(err, ErrChanged) {
		t.Errorf("a program that another built and that was changed since: %v, want ErrChanged", err)
	}
	left, err := filepath.Glob(filepath.Join(b.CacheDir, "upstream", ".build-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("scratch left behind: %v, %v", left, err)
	}
}

// A program of a batch is available although another fails to build.
func TestBatchWithFailure(t *testing.T) {
	t.Parallel()
	b := builderFor(t)
	m := tiny(t, hello)
	tinyDir := strings.TrimSpace(string(m.mod[strings.LastIndex(string(m.mod), "=> ")+3:]))
	if err := os.MkdirAll(filepath.Join(tinyDir, "broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tinyDir, "broken", "main.go"), []byte("package main\n\nfunc main() { undefinedThing() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.programs = append(m.programs, program{Name: "broken", Package: "example.com/tiny/broken"})
	m.all, m.Programs = m.programs, m.programs
	programs := Programs{files: map[string]*file{"tiny": newFile(), "broken": newFile()}}
	err := b.build(t.Context(), m, programs, func(Event) {})
	if err == nil || !strings.Contains(err.Error(), "undefinedThing") || !strings.Contains(err.Error(), "build broken") {
		t.Errorf("error %v does not have the program and the compiler's output", err)
	}
	if path, err := programs.Path(t.Context(), "tiny"); err != nil || !usable(path) {
		t.Errorf("the other program: %q, %v", path, err)
	}
}

// go build names files after packages: two of the same name are in different batches.
func TestBatchFileNamesAreUnique(t *testing.T) {
	t.Parallel()
	tab, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range tab.Groups {
		n := 0
		for _, m := range batches(g) {
			names := map[string]bool{}
			for _, p := range m.programs {
				n++
				if names[p.binary()] {
					t.Errorf("group %s: two programs are written to %s", g.Name, p.binary())
				}
				names[p.binary()] = true
			}
		}
		if n != len(g.Programs) {
			t.Errorf("group %s: %d programs in batches, want %d", g.Name, n, len(g.Programs))
		}
	}
	if got := (program{Package: "go.etcd.io/etcd/server/v3"}).binary(); got != "server" {
		t.Errorf("etcd is written to %q, go build writes server", got)
	}
}

func TestBuildErrorHasCompilerOutput(t *testing.T) {
	t.Parallel()
	_, err := buildBatch(t, builderFor(t), tiny(t, "package main\n\nfunc main() { undefinedThing() }\n"), func(Event) {})
	if err == nil || !strings.Contains(err.Error(), "undefinedThing") || !strings.Contains(err.Error(), "build tiny") {
		t.Errorf("error %v does not have the program and the compiler's output", err)
	}
}

func TestConcurrentBuilders(t *testing.T) {
	t.Parallel()
	b := builderFor(t)
	m := tiny(t, hello)
	var mu sync.Mutex
	built := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, err := buildBatch(t, b, m, func(e Event) {
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

func TestNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := (Builder{CacheDir: t.TempDir()}).Ensure(t.Context(), []string{"etcd"}, nil); !errors.Is(err, ErrNoGo) {
		t.Errorf("without go: %v, want ErrNoGo", err)
	}
}

func TestRemedy(t *testing.T) {
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
