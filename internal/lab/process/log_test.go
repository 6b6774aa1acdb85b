package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Regression: the logs of the reservation store grew without bound.
func TestLogRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // as a program opens it
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	write := func(text string) {
		if _, err := log.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(path, want string) {
		t.Helper()
		if raw, err := os.ReadFile(path); err != nil || string(raw) != want {
			t.Errorf("%s has %q, %v; want %q", filepath.Base(path), raw, err, want)
		}
	}
	write("short\n")
	if err := rotate(path, 10); err != nil {
		t.Fatal(err)
	}
	holds(path, "short\n")
	write("some more\n")
	if err := rotate(path, 10); err != nil {
		t.Fatal(err)
	}
	holds(path, "")
	holds(path+".1", "some more\n")
	write("anew\n")
	holds(path, "anew\n")
	if lines := Tail(path, 1000); len(lines) != 1 || lines[0] != "anew" {
		t.Errorf("the end of a log that was rotated since is %q", lines)
	}
	write(strings.Repeat("x", 20))
	if err := rotate(path, 10); err != nil {
		t.Fatal(err)
	}
	holds(path+".1", strings.Repeat("x", 10))
}
