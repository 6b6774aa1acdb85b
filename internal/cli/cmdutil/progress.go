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

// BoardLab is the title of the board's group of lab components.
const BoardLab = "lab"

// NewBoard shows progress on out: live on a terminal (unless TERM=dumb), plain lines
// elsewhere.
func NewBoard(out io.Writer) *display.Board {
	opts := display.Options{Live: isTerminal(out) && os.Getenv("TERM") != "dumb", Color: IsColor(out)}
	if opts.Live {
		opts.Width = func() int {
			width, _, err := term.GetSize(int(out.(*os.File).Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	return display.New(out, opts)
}

// LabProgress shows the lab's events on a board.
func LabProgress(board *display.Board) func(lab.Event) {
	return func(e lab.Event) { ShowLabEvent(board, e) }
}

// ShowLabEvent shows an event of a lab on the board.
func ShowLabEvent(board *display.Board, e lab.Event) {
	switch e.Kind {
	case lab.KindBuild:
		ShowBuild(board, *e.Build)
	case lab.KindComponent:
		state := display.Running
		switch e.Component.State {
		case process.Ready:
			state = display.Done
		case process.Waiting:
			state = display.Failed
		case process.Starting, process.Stopping, process.Stopped:
		}
		board.Set(BoardLab, e.Name, state, e.Message)
	case lab.KindStep:
		board.Set(BoardLab, e.Name, display.Done, display.Seconds(e.Took.Duration))
	case lab.KindWaiting:
		board.Set(BoardLab, "lab", display.Running, e.Message)
	case lab.KindExtra:
		board.Set(BoardLab, e.Name, display.Done, "ready after "+display.Seconds(e.Took.Duration))
		board.Fold(BoardLab)
	case lab.KindReady:
		board.Set(BoardLab, "lab", display.Done, "ready after "+display.Seconds(e.Took.Duration))
		board.Fold(BoardLab)
	case lab.KindFailed:
		board.Set(BoardLab, "lab", display.Failed, e.Message)
	case lab.KindStopping, lab.KindStopped:
	}
}

// ShowBuild shows the build of an upstream program on the board.
func ShowBuild(board *display.Board, b upstream.Event) {
	name := "build " + b.Program
	detail := b.Detail
	if b.Total > 0 {
		detail = fmt.Sprintf("%d of %d packages  %s", b.Done, b.Total, b.Detail)
	}
	if b.Remaining.Duration > 0 {
		detail = fmt.Sprintf("%d of %d packages, about %s left  %s", b.Done, b.Total, estimate(b.Remaining.Duration), b.Detail)
	}
	switch b.State {
	case upstream.Building:
		board.Set(BoardLab, name, display.Running, detail)
		board.Progress(BoardLab, name, detail)
	case upstream.Built:
		board.Set(BoardLab, name, display.Done, "built")
	case upstream.Failed:
		board.Set(BoardLab, name, display.Failed, b.Detail)
	case upstream.Queued, upstream.Cached:
	}
}

// estimate rounds a duration to minutes or tens of seconds.
func estimate(d time.Duration) string {
	if d >= 90*time.Second {
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d s", max(10, int(d.Round(10*time.Second).Seconds())))
}

// ShowPlanEvent shows an event of a plan in a group of the board.
func ShowPlanEvent(board *display.Board, group string, e plan.Event) {
	switch e.Kind {
	case plan.EventStarted:
		board.Set(group, e.Step, display.Running, "")
	case plan.EventPrepare:
		board.Progress(group, e.Step, "prepare: "+e.Text)
	case plan.EventProgress:
		board.Progress(group, e.Step, e.Text)
	case plan.EventVerdict:
		board.Set(group, e.Step, StateOf(e.Result.Verdict), e.Result.Reason)
	case plan.EventKept:
		board.Set(group, e.Step, StateOf(e.Result.Verdict), "kept from "+e.Result.At.UTC().Format("2006-01-02 15:04Z")+": "+e.Result.Reason)
	case plan.EventNote:
		board.Log("note: %s", e.Text)
	case plan.EventObserved:
	}
}

// StateOf is how the board shows a verdict.
func StateOf(v check.Verdict) display.State {
	switch v {
	case check.Passed, check.Partial:
		return display.Done
	case check.Failed:
		return display.Failed
	case check.Blocked:
		return display.Blocked
	case check.NotApplicable:
		return display.Skipped
	default:
		return display.Unknown
	}
}
