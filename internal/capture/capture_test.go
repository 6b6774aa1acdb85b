package capture_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/capture"
)

const (
	serial = "1652923033635"
	uuid   = "GPU-8a0cb40d-9f01-7f04-7525-f0e0f3f66f64"
	guid   = "0xb8599f030022626e"
)

// path makes a directory of programs that print a text.
func path(t *testing.T, programs map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func record(t *testing.T) (dir string, files int, log string, err error) {
	t.Helper()
	dir = t.TempDir()
	var lines strings.Builder
	files, err = capture.Run(t.Context(), capture.Options{
		Dir: dir, Origin: "a test", Redact: capture.NewRedactor([]byte("seed"), "gpu-node-7.example.com", "gpu-node-7"),
		Log: func(format string, args ...any) { lines.WriteString(format + "\n") },
	})
	return dir, files, lines.String(), err
}

func text(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The mechanics: which tools run, what is replaced, and the index. The test has no outputs
// of real tools.
func TestCapture(t *testing.T) {
	path(t, map[string]string{
		"nvidia-smi": `case "$*" in
*driver_version*noheader*) echo 580.105.08 ;;
"-q -x") echo "<serial>` + serial + `</serial><uuid>` + uuid + `</uuid><driver_version>580.105.08</driver_version><serial>N/A</serial>" ;;
-L) echo "GPU 0: NVIDIA L4 (UUID: ` + uuid + `)" ;;
topo*) exit 9 ;;
*) echo "Serial Number : ` + serial + ` on gpu-node-7.example.com" ;;
esac`,
		"ibstat": `printf "CA 'mlx5_0'\n\tNode GUID: ` + guid + `\n\tState: Active\n"; exit 1`,
	})
	dir, files, log, err := record(t)
	if err != nil {
		t.Fatal(err)
	}
	var every strings.Builder
	for _, name := range []string{"smi-xml/query.xml", "smi-list/list.txt", "trouble/query.txt", "ibstat/ibstat.txt"} {
		every.WriteString(text(t, dir, name))
	}
	all := every.String()
	for _, secret := range []string{serial, uuid, strings.TrimPrefix(uuid, "GPU-"), guid, "gpu-node-7"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is left in:\n%s", secret, all)
		}
	}
	xml, list := text(t, dir, "smi-xml/query.xml"), text(t, dir, "smi-list/list.txt")
	_, replaced, _ := strings.Cut(xml, "<uuid>")
	replaced, _, _ = strings.Cut(replaced, "<")
	if len(replaced) != len(uuid) || !strings.HasPrefix(replaced, "GPU-") || !strings.Contains(list, replaced) {
		t.Errorf("%q is not the same in both files: %s %s", replaced, xml, list)
	}
	for _, kept := range []string{"<driver_version>580.105.08<", "<serial>N/A<", "NVIDIA L4", "State: Active", "on host-1"} {
		if !strings.Contains(all, kept) {
			t.Errorf("%q is missing in:\n%s", kept, all)
		}
	}
	index := strings.Split(strings.TrimSpace(text(t, dir, "INDEX.tsv")), "\n")
	if index[0] != "file\torigin\treader\texpected" || len(index) != files+1 || files < 4 {
		t.Errorf("%d files: %q", files, index)
	}
	for _, line := range index[1:] {
		if fields := strings.Split(line, "\t"); len(fields) != 4 || fields[3] != "read" || !strings.HasPrefix(fields[1], "a test, driver 580.105.08: ") {
			t.Errorf("%q", line)
		}
	}
	if last := index[len(index)-1]; !strings.HasPrefix(last, "ibstat/ibstat.txt\t") || !strings.Contains(last, "(exit status 1)") {
		t.Errorf("%q", last)
	}
	if _, err := os.Stat(filepath.Join(dir, "topology")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a tool without output has a file: %v", err)
	}
	if !strings.Contains(log, "not on PATH") || !strings.Contains(log, "no output") {
		t.Errorf("%s", log)
	}
}

func TestNoGPU(t *testing.T) {
	for name, programs := range map[string]map[string]string{
		"no nvidia-smi": {"ibstat": "echo CA"},
		"no devices":    {"nvidia-smi": "echo No devices were found; exit 6"},
		"nothing":       {"nvidia-smi": "exit 0"},
		"driver failed": {"nvidia-smi": "echo NVIDIA-SMI has failed; exit 9"},
	} {
		t.Run(name, func(t *testing.T) {
			path(t, programs)
			dir, files, _, err := record(t)
			if !errors.Is(err, capture.ErrNoGPU) || files != 0 {
				t.Errorf("%d files, %v", files, err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// Another seed gives other names: a reader cannot compute them.
func TestSeed(t *testing.T) {
	t.Parallel()
	line := "Serial Number : " + serial
	one, two := capture.NewRedactor([]byte("a")).Redact(line), capture.NewRedactor([]byte("b")).Redact(line)
	if one == two || one == line || len(one) != len(line) || one != capture.NewRedactor([]byte("a")).Redact(line) {
		t.Errorf("%q %q", one, two)
	}
}
