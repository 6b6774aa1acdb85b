package cmdutil

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/upstream"
)

// Titles of the board's groups.
const (
	boardLab   = "lab"
	boardGates = "gates"
)

// newBoard shows progress on out: live and in colour on a terminal (NO_COLOR
// and TERM=dumb are honoured), plain lines elsewhere.
func newBoard(out io.Writer) *display.Board {
	opts := display.Options{}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		opts.Live = os.Getenv("TERM") != "dumb"
		opts.Width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	opts.Color = opts.Live && os.Getenv("NO_COLOR") == ""
	return display.New(out, opts)
}

// showLabEvent puts what a lab tells on the board.
func showLabEvent(board *display.Board, e lab.Event) {
	switch e.Kind {
	case lab.KindBuild:
		showBuild(board, e)
	case lab.KindComponent:
		state := display.Running
		switch e.Component.State {
		case process.Ready:
			state = display.Done
		case process.Waiting:
			state = display.Failed
		case process.Starting, process.Stopping, process.Stopped:
		}
		board.Set(boardLab, e.Name, state, e.Message)
	case lab.KindStep:
		board.Set(boardLab, e.Name, display.Done, display.Seconds(e.Took.Duration))
	case lab.KindWaiting:
		board.Set(boardLab, "lab", display.Running, e.Message)
	case lab.KindExtra:
		board.Set(boardLab, e.Name, display.Done, "ready after "+display.Seconds(e.Took.Duration))
		board.Fold(boardLab)
	case lab.KindReady:
		board.Set(boardLab, "lab", display.Done, "ready after "+display.Seconds(e.Took.Duration))
		board.Fold(boardLab)
	case lab.KindFailed:
		board.Set(boardLab, "lab", display.Failed, e.Message)
	case lab.KindStopping, lab.KindStopped:
	}
}

func showBuild(board *display.Board, e lab.Event) {
	b := e.Build
	name := "build " + b.Program
	detail := b.Detail
	if b.Total > 0 {
		detail = fmt.Sprintf("%d of %d packages  %s", b.Done, b.Total, b.Detail)
	}
	if b.Remaining.Duration > 0 {
		detail = fmt.Sprintf("%d of %d packages, about %s left  %s", b.Done, b.Total, roughly(b.Remaining.Duration), b.Detail)
	}
	switch b.State {
	case upstream.Building:
		board.Set(boardLab, name, display.Running, detail)
		board.Progress(boardLab, name, detail)
	case upstream.Built:
		board.Set(boardLab, name, display.Done, "built")
	case upstream.Failed:
		board.Set(boardLab, name, display.Failed, b.Detail)
	case upstream.Queued, upstream.Cached: // nothing to watch
	}
}

// roughly is an estimate of a duration: minutes, or tens of seconds.
func roughly(d time.Duration) string {
	if d >= 90*time.Second {
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d s", max(10, int(d.Round(10*time.Second).Seconds())))
}

// showGateEvent puts what a walk tells on the board.
func showGateEvent(board *display.Board, e plan.Event) {
	switch e.Kind {
	case plan.EventStarted:
		board.Set(boardGates, e.Step, display.Running, "")
	case plan.EventPrepare:
		board.Progress(boardGates, e.Step, "prepare: "+e.Text)
	case plan.EventProgress:
		board.Progress(boardGates, e.Step, e.Text)
	case plan.EventVerdict:
		board.Set(boardGates, e.Step, stateOf(e.Result.Verdict), e.Result.Reason)
	case plan.EventKept:
		board.Set(boardGates, e.Step, stateOf(e.Result.Verdict), "kept from "+e.Result.At.UTC().Format("2006-01-02 15:04Z")+": "+e.Result.Reason)
	case plan.EventNote:
		board.Log("note: %s", e.Text)
	case plan.EventObserved:
	}
}

func stateOf(v check.Verdict) display.State {
	switch v {
	case check.Passed:
		return display.Done
	case check.Failed:
		return display.Failed
	case check.Blocked:
		return display.Blocked
	case check.NotApplicable:
		return display.Skipped
	case check.Unobserved:
		return display.Unknown
	default:
		return display.Unknown
	}
}
