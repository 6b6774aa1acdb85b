package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/suite"
)

const lister = `package main

import ("fmt"; "os"; "time")

func main() {
	entries, err := os.ReadDir("/")
	fmt.Println(entries, err, os.Args[1:])
	time.Sleep(time.Hour)
}
`

// A program with a root directory of its own sees nothing else, is restarted there and ends with its
// supervisor.
func TestOwnRootDirectory(t *testing.T) {
	suite.Live(t)
	source, root := t.TempDir(), filepath.Join(t.TempDir(), "root")
	if err := os.WriteFile(filepath.Join(source, "main.go"), []byte(lister), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(source, "lister")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "main.go")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GO111MODULE=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(root, "host-etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	sup, events := start(t, Options{})
	log := filepath.Join(t.TempDir(), "log")
	listed := func(context.Context) error {
		text, err := os.ReadFile(log)
		if err == nil && !strings.Contains(string(text), "host-etc") {
			err = errors.New("nothing is listed")
		}
		return err
	}
	if err := sup.Start(t.Context(), Spec{Name: "lister", Path: program, Root: root, Args: []string{"argument"}, Dir: t.TempDir(), LogPath: log, Grace: time.Second, Ready: listed}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(text)), "[d host-etc/ - lister] <nil> [argument]"; got != want {
		t.Errorf("the program sees %s, want %s", got, want)
	}
	first := sup.Status()[0].Identity
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	events.await(t, "a second start", func(e Event) bool { return e.State == Ready && e.PID != first.PID })
	second := sup.Status()[0].Identity
	sup.Close()
	if second.Alive() {
		t.Error("the program is alive after its supervisor has closed")
	}
}

// A machine without user namespaces is named with the remedy.
func TestRefusedUserNamespace(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.EPERM, syscall.ENOSPC} {
		err := confined("/root", &os.PathError{Op: "fork/exec", Path: "/p", Err: cause})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "user.max_user_namespaces") || !strings.Contains(err.Error(), "minimal") {
			t.Errorf("%v", err)
		}
	}
	if err := confined("", syscall.EPERM); err.Error() != syscall.EPERM.Error() {
		t.Errorf("without a root directory: %v", err)
	}
}
