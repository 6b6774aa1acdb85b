package upstream

import (
	"context"
	"errors"
	"testing"
)

// A cached program exists while it is compared with its digest; nothing runs it before.
func TestBuiltDoesNotWaitForTheDigest(t *testing.T) {
	t.Parallel()
	p := Programs{files: map[string]*file{"cached": newFile(), "missing": newFile()}}
	p.files["cached"].cached = true
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Built(t.Context(), "cached"); err != nil {
		t.Error(err)
	}
	if _, err := p.Path(over, "cached"); !errors.Is(err, context.Canceled) {
		t.Errorf("path before the comparison: %v", err)
	}
	if err := p.Built(over, "missing"); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that is being built: %v", err)
	}
	p.files["cached"].finish("", ErrChanged)
	if _, err := p.Path(t.Context(), "cached"); !errors.Is(err, ErrChanged) {
		t.Errorf("a changed program: %v", err)
	}
	if err := p.Built(t.Context(), "unknown"); err == nil {
		t.Error("an unknown program is built")
	}
}
