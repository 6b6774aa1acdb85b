package lab

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestThrowaway(t *testing.T) {
	needPrograms(t)
	home := t.TempDir()
	t.Setenv("FIRSTLIGHT_HOME", home)
	parent := filepath.Join(home, throwawayDir)
	abandoned, made := filepath.Join(parent, "plane-abandoned"), filepath.Join(parent, "plane-made-just-now")
	lock, err := lockDir(abandoned)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil { // as after the death of its owner
		t.Fatal(err)
	}
	if err := os.MkdirAll(made, 0o700); err != nil {
		t.Fatal(err)
	}
	first, endFirst, err := StartThrowaway(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	second, endSecond, err := StartThrowaway(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.opts.Dir); err != nil {
		t.Errorf("the second start deleted the first's directory: %v", err)
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("the directory of a dead process exists")
	}
	if _, err := os.Stat(made); err != nil {
		t.Errorf("a new directory of another process is deleted: %v", err)
	}
	ctx := context.WithoutCancel(t.Context())
	for _, end := range []func(context.Context) error{endFirst, endSecond} {
		if err := end(ctx); err != nil {
			t.Error(err)
		}
	}
	requireGone(t, first.id)
	requireGone(t, second.id)
	if left, err := filepath.Glob(filepath.Join(parent, "plane-*")); err != nil || len(left) != 1 || left[0] != made {
		t.Errorf("remaining: %v, %v", left, err)
	}
}
