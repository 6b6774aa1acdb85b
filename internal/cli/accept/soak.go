package accept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/soak"
)

// runSoak repeats the acceptance of o until --soak is over, and prints the summary.
func (f *acceptFlags) runSoak(ctx context.Context, s cmdutil.Streams, o accept.Options, board *display.Board, closeBoard func()) (err error) {
	want := soak.State{
		Duration: metav1.Duration{Duration: f.soak}, Every: metav1.Duration{Duration: f.soakEvery},
		Inputs: soak.Digest(o.SiteFile, o.ProfileFile, []byte(strings.Join(o.Command, "\n"))),
	}
	sk, err := soak.Open(f.evidence, want, time.Now(), f.fresh)
	if errors.Is(err, soak.ErrLocked) {
		return cmdutil.UsageErrorf("%w: wait until it ends, or begin another with --fresh", err)
	}
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(sk.Close())) }()
	all, err := repetitions(f.evidence, sk.Runs)
	if err != nil {
		return cmdutil.UsageErrorf("%w: begin another soak with --fresh", err)
	}
	var begun time.Time
	if len(all) > 0 {
		begun = all[len(all)-1].Began
	}
	if sk.Resumed {
		board.Log("soak %s is continued: %d repetitions came to their end, it lasts until %s", sk.ID, len(all), sk.End().UTC().Format(time.RFC3339))
	}
	o.ClusterEnds = false // the next repetition uses it
	runErr := sk.Run(ctx, clock.RealClock{}, begun, func(ctx context.Context, resume bool) (string, error) {
		for _, name := range append(site.Gates(), f.include...) {
			board.Set(boardGates, name, display.Waiting, "")
		}
		o.Fresh = !resume
		r, err := accept.Run(ctx, o)
		if err != nil || r.Interrupted {
			return "", errors.Join(err, ctx.Err())
		}
		rep, err := repetitions(f.evidence, []string{r.Run})
		if err != nil {
			return "", err
		}
		all = append(all, rep...)
		board.Log("soak %s: repetition %d: %s (run %s)", sk.ID, len(all), r.Verdict, r.Run)
		return r.Run, nil
	})
	closeBoard()
	if input, ok := errors.AsType[*accept.InputError](runErr); ok {
		return cmdutil.UsageErrorf("%w", input)
	}
	sum := soak.Summarise(sk.State, all)
	err = f.out.Write(s.Out, sum, func(w io.Writer) { report.Soak(w, sum, report.OptionsFor(s.Out, f.verbose)) })
	if err := errors.Join(runErr, err); err != nil {
		return cmdutil.Unobserved(err)
	}
	return cmdutil.VerdictError(sum.Verdict)
}

// repetitions reads runs of a soak from their evidence.
func repetitions(dir string, runs []string) ([]soak.Repetition, error) {
	var out []soak.Repetition
	for _, id := range runs {
		b, err := evidence.Load(filepath.Join(dir, id))
		if err != nil {
			return nil, fmt.Errorf("read a repetition of the soak: %w", err)
		}
		out = append(out, soak.RepetitionOf(b))
	}
	return out, nil
}

// validateSoak refuses a soak that is too short to mean anything, or that would page people.
func (f *acceptFlags) validateSoak() error {
	switch {
	case f.soak < 0 || f.soakEvery < 0:
		return cmdutil.UsageErrorf("invalid --soak %s --soak-every %s: must not be negative", f.soak, f.soakEvery)
	case f.soakEvery > 0 && f.soak == 0:
		return cmdutil.UsageErrorf("--soak-every needs --soak")
	case f.soakEvery > f.soak:
		return cmdutil.UsageErrorf("invalid --soak-every %s: must not be longer than --soak %s", f.soakEvery, f.soak)
	default:
		return nil
	}
}
