package upstream

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "etcd")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	// sha256sum of "abc"
	if got, err := Digest(path); err != nil || got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("digest %s, %v", got, err)
	}
	if _, err := Digest(path + "-none"); err == nil {
		t.Error("a missing program has a digest")
	}
}

// A digest file is in the format of sha256sum.
func TestDigestFileFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "etcd"), "a program")
	cmd := exec.CommandContext(t.Context(), "sha256sum", "-c", "etcd"+digestSuffix)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v", out, err)
	}
}

// changeOneByte changes a program without a change of size, mode and time.
func changeOneByte(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	if err == nil {
		_, err = f.WriteAt([]byte{last[0] ^ 1}, info.Size()-1)
	}
	if err := errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		t.Fatalf("the change shows: %v, %v", after, err)
	}
}

// A program that was changed after it was built or imported is refused, even with equal size and
// time. Regression: until November 2026 cached programs were not verified.
func TestChangedProgramIsRejected(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, path string){
		"one byte, time restored": changeOneByte,
		"another digest": func(t *testing.T, path string) {
			if err := os.WriteFile(path+digestSuffix, []byte(strings.Repeat("ab", 32)+"  etcd\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another program in its place": func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("b program"), 0o700)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := cached(t)
			programs, err := b.Ensure(t.Context(), []string{"etcd"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			path, err := programs.Path(t.Context(), "etcd")
			if err != nil {
				t.Fatal(err)
			}
			change(t, path)
			var states []State
			programs, err = b.Ensure(t.Context(), []string{"etcd"}, func(e Event) { states = append(states, e.State) })
			if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "firstlight lab programs build") {
				t.Errorf("%v, want ErrChanged with file and remedy", err)
			}
			if got, err := programs.Path(t.Context(), "etcd"); err == nil || got != "" {
				t.Errorf("it is given out as %q", got)
			}
			if len(states) != 1 || states[0] != Failed {
				t.Errorf("events %v, want failed alone", states)
			}
			if err := os.Remove(path); err != nil { // the remedy of the error
				t.Fatal(err)
			}
			if all, err := b.List(t.Context()); err != nil || all[0].Program != "etcd" || all[0].Path != "" {
				t.Errorf("once deleted it is listed as %+v, %v; want not built", all[0], err)
			}
		})
	}
}

// An imported program is compared with the digest of the archive's manifest.
func TestChangedImportIsRejectedAndReplaced(t *testing.T) {
	archive := exported(t)
	t.Setenv("PATH", t.TempDir())
	b := Builder{CacheDir: t.TempDir()}
	path := func() (string, error) {
		if _, err := b.Import(t.Context(), strings.NewReader(string(archive))); err != nil {
			t.Fatal(err)
		}
		programs, err := b.Ensure(t.Context(), []string{"etcd"}, nil)
		if err != nil {
			return "", err
		}
		return programs.Path(t.Context(), "etcd")
	}
	first, err := path()
	if err != nil {
		t.Fatal(err)
	}
	changeOneByte(t, first)
	if _, err := b.Ensure(t.Context(), []string{"etcd"}, nil); !errors.Is(err, ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	if again, err := path(); err != nil || again != first {
		t.Errorf("imported again it is at %q, %v", again, err)
	}
}
