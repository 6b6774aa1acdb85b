package evidence

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
)

// boardEvidence is the title of the board's group of operations.
const boardEvidence = "evidence"

// transfer shows the progress of one long operation: live on a terminal, elsewhere with a
// line every logInterval.
type transfer struct {
	board *display.Board
	name  string
	live  bool
	last  time.Time
}

const logInterval = 10 * time.Second

func newTransfer(out io.Writer, name string) *transfer {
	f, ok := out.(*os.File)
	t := &transfer{board: cmdutil.NewBoard(out), name: name, last: time.Now(), live: ok && term.IsTerminal(int(f.Fd()))}
	if t.live {
		t.board.Set(boardEvidence, name, display.Running, "")
	}
	return t
}

func (t *transfer) progress(format string, args ...any) {
	if t.live {
		t.board.Progress(boardEvidence, t.name, fmt.Sprintf(format, args...))
	} else if now := time.Now(); now.Sub(t.last) >= logInterval {
		t.last = now
		t.board.Log("%s: %s", t.name, fmt.Sprintf(format, args...))
	}
}

func (t *transfer) bytes(done, total int64) {
	t.progress("%s of %s", size(done), size(total))
}

// close ends the progress with the state of the operation.
func (t *transfer) close(err error) {
	state := display.Done
	if err != nil {
		state = display.Failed
	}
	if t.live {
		t.board.Set(boardEvidence, t.name, state, "")
	}
	t.board.Close()
}

// size formats bytes.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d B", n)
	}
}
