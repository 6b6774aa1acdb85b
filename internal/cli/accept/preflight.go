package accept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/preflight"
)

// boardPreflight is the title of the board's group of areas.
const boardPreflight = "preflight"

// runPreflight prints the obstacles to the run, and runs no gate.
func (f *acceptFlags) runPreflight(ctx context.Context, s cmdutil.Streams) (err error) {
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	for _, area := range preflight.Areas() {
		board.Set(boardPreflight, area, display.Waiting, "")
	}
	t, err := f.target.Open(ctx, board, cmdutil.LabExtras(f.include)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(t.Close(ctx))) }()
	if err := f.clusterFlags(t.Site); err != nil {
		return err
	}
	p, err := gate.Playbook(t.Site, t.Profile, gate.Access{}, f.include...)
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	gates, err := preflight.Gates(p, f.from, f.only)
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	report, err := preflight.Run(ctx, preflight.Options{
		Site: t.Site, Profile: t.Profile, Gates: gates, Namespace: f.namespace, Page: f.page,
		Hosts: t.Hosts, Cluster: t.ControlPlane, Monitored: t.WaitMonitored,
		Progress: func(area string, done bool) {
			state := display.Running
			if done {
				state = display.Done
			}
			board.Set(boardPreflight, area, state, "")
		},
	})
	closeBoard()
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	if err := f.out.Write(s.Out, report, func(w io.Writer) { printPreflight(w, report, cmdutil.StyleOf(s.Out)) }); err != nil {
		return err
	}
	return cmdutil.VerdictError(verdictOf(report.Result))
}

// verdictOf maps a result to the verdict with its exit code.
func verdictOf(r preflight.Result) check.Verdict {
	switch r {
	case preflight.OK:
		return check.Passed
	case preflight.WouldStop:
		return check.Failed
	case preflight.Unobserved:
		return check.Unobserved
	default:
		return check.Unobserved
	}
}

// printPreflight prints one table: obstacles last, since a terminal shows the end.
func printPreflight(w io.Writer, r preflight.Report, style display.Style) {
	fmt.Fprintf(w, "\n%s  site %s, profile %s, gates %s\n\n", style.Bold("preflight"), display.Escape(r.Site), display.Escape(r.Profile), strings.Join(r.Gates, ", "))
	table := display.NewTable(w, "  CHECK", "TARGET", "RESULT", "OBSERVED")
	for _, result := range []preflight.Result{preflight.OK, preflight.Unobserved, preflight.WouldStop} {
		for _, l := range fold(r.Lines, result) {
			table.Line("  "+display.Escape(l.Check), display.Escape(l.Target), words[result], display.Escape(l.Observed))
			if l.Remedy != "" {
				table.Line("", "", "", "remedy: "+display.Escape(l.Remedy))
			}
		}
	}
	table.Flush()
	fmt.Fprintf(w, "\npreflight: %s (%d would stop the run, %d unobserved, %d ok, %.1fs)\n",
		headline[r.Result], r.Count(preflight.WouldStop), r.Count(preflight.Unobserved), r.Count(preflight.OK), r.Duration)
}

var (
	words    = map[preflight.Result]string{preflight.OK: "ok", preflight.WouldStop: "WOULD STOP", preflight.Unobserved: "unobserved"}
	headline = map[preflight.Result]string{preflight.OK: "no obstacle", preflight.WouldStop: "the run would stop", preflight.Unobserved: "no obstacle, but not everything was observed"}
)

// The longest name of a target that a row shares with others, and the number of names of a row.
const (
	longestShared = 24
	mostTargets   = 4
)

// fold joins the lines of a result that differ in their target only.
func fold(lines []preflight.Line, result preflight.Result) []preflight.Line {
	var out []preflight.Line
	var targets [][]string
	for _, l := range lines {
		if l.Result != result {
			continue
		}
		i := slices.IndexFunc(out, func(o preflight.Line) bool {
			return o.Check == l.Check && o.Observed == l.Observed && o.Remedy == l.Remedy && max(len(o.Target), len(l.Target)) <= longestShared
		})
		if i < 0 {
			out, targets = append(out, l), append(targets, []string{l.Target})
			continue
		}
		targets[i] = append(targets[i], l.Target)
	}
	for i := range out {
		out[i].Target = check.JoinNames(targets[i], mostTargets)
	}
	return out
}
