package cmdutil

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firstlight/firstlight/internal/display"
)

// terminal is a pseudo-terminal. A program reads from tty the text that a test writes to keyboard.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs a pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return keyboard, tty
}

// screen is a buffer for several goroutines.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func echoes(t *testing.T, tty *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("no " + what)
		}
	}
}

func TestPassphraseIsAskedOnTheTerminal(t *testing.T) {
	t.Parallel()
	keyboard, tty := terminal(t)
	out := &screen{}
	board := display.New(out, display.Options{})
	defer board.Close()
	ask := passphrasePrompt(tty, board)
	if ask == nil {
		t.Fatal("a terminal is not asked")
	}
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	prompt := func(ctx context.Context, file string) {
		text, err := ask(ctx, file)
		answers <- answer{text, err}
	}
	go prompt(t.Context(), "keys/\x1b[2Jid")
	waitFor(t, "prompt without echo", func() bool { return !echoes(t, tty) })
	if _, err := keyboard.WriteString("open sesame\n"); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; a.err != nil || string(a.text) != "open sesame" {
		t.Errorf("%q, %v", a.text, a.err)
	}
	if got := out.String(); !strings.Contains(got, "Passphrase of keys/") || strings.Contains(got, "sesame") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("the screen has %q", got)
	}
	if !echoes(t, tty) {
		t.Error("the terminal does not echo afterwards")
	}

	// An interrupt ends the prompt and leaves the terminal as it was.
	ctx, cancel := context.WithCancel(t.Context())
	go prompt(ctx, "id")
	waitFor(t, "second prompt", func() bool { return !echoes(t, tty) })
	cancel()
	if a := <-answers; !errors.Is(a.err, context.Canceled) {
		t.Errorf("interrupted: %q, %v", a.text, a.err)
	}
	if !echoes(t, tty) {
		t.Error("the terminal does not echo after an interrupt")
	}
	_, _ = keyboard.WriteString("\n") // ends the read
}

func TestNothingIsAskedWithoutATerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "input"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if passphrasePrompt(file, nil) != nil {
		t.Error("a file is asked for a passphrase")
	}
}
