package clock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAClockThatIsSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	mine, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, day := mine.Elapsed(), mine.Now().Add(24*time.Hour)
	waited := make(chan error, 1)
	go func() { waited <- theirs.Until(t.Context(), day) }()
	select {
	case err := <-waited:
		t.Fatalf("a day passed by itself: %v", err)
	default:
	}
	if err := mine.Jump(day); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	if theirs.Now().Before(day) || mine.Elapsed()-begin > time.Hour {
		t.Errorf("%v, %v after %v", theirs.Now(), mine.Elapsed(), day)
	}
	if err := mine.Jump(day.Add(-time.Hour)); err != nil || mine.Now().Before(day) {
		t.Errorf("the clock went back to %v: %v", mine.Now(), err)
	}
	if again, err := Open(path); err != nil || again.Now().Before(day) {
		t.Errorf("a later clock differs: %v", err)
	}
}

func TestAClockThatCanNotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	if err := os.WriteFile(path, []byte("noon"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("it was taken for a clock")
	}
}

func TestWithEnd(t *testing.T) {
	c := Machine()
	ctx, cancel := WithDeadline(t.Context(), c, c.Now().Add(10*time.Millisecond))
	defer cancel()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), ErrDeadline) {
		t.Errorf("its cause is %v", context.Cause(ctx))
	}
	ctx, cancel = WithDeadline(t.Context(), c, c.Now().Add(time.Hour))
	cancel()
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), ErrDeadline) {
		t.Error("a cancelled deadline is reached")
	}
}
