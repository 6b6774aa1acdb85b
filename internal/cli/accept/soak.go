package accept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/soak"
)

// runSoak repeats the acceptance of o until --soak is over, and prints the summary.
func (f *acceptFlags) runSoak(ctx context.Context, s cmdutil.Streams, o accept.Options, board *display.Board, closeBoard func()) (err error) {
	if err := soakConsent(o); err != nil {
		return err
	}
	want := soak.State{Duration: metav1.Duration{Duration: f.soak}, Every: metav1.Duration{Duration: f.soakEvery}, Inputs: soakInputs(o)}
	sk, err := soak.Open(f.evidence, want, time.Now(), f.fresh)
	if errors.Is(err, soak.ErrLocked) {
		return cmdutil.UsageErrorf("%w: wait until it ends", err)
	}
	if err != nil {
		return cmdutil.UsageErrorf("%w: --fresh begins another soak", err)
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(sk.Close())) }()
	all, err := soak.Repetitions(f.evidence, sk.State)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	var last time.Time
	if len(all) > 0 {
		last = all[len(all)-1].Started
	}
	begins := "begins"
	if sk.Continued {
		begins = "continues after " + cmdutil.Count(len(all), "repetition")
	}
	board.Log("soak %s %s; it ends at %s", sk.ID, begins, sk.End().UTC().Format(time.RFC3339))
	o.ClusterEnds, o.Fresh, o.Soak, o.Created = false, true, sk.ID, sk.Began // the next repetition uses the cluster
	n := len(all)
	runErr := sk.Run(ctx, clock.RealClock{}, last, func(ctx context.Context) (verdict check.Verdict, cut, err error) {
		for _, name := range append(site.Gates(), f.include...) {
			board.Set(boardGates, name, display.Waiting, "")
		}
		r, err := accept.Run(ctx, o)
		if input, ok := errors.AsType[*accept.InputError](err); ok {
			return "", nil, input
		}
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		n++
		if err != nil { // such as an API server that did not answer for a minute: the next repetition shows more
			board.Log("soak %s: repetition %d ended: %v", sk.ID, n, err)
			return check.Unobserved, err, nil
		}
		board.Log("soak %s: repetition %d: %s (run %s)", sk.ID, n, r.Verdict, r.Run)
		return r.Verdict, nil, nil
	})
	closeBoard()
	if all, err = soak.Repetitions(f.evidence, sk.State); err != nil {
		return errors.Join(cmdutil.Unobserved(err), runErr)
	}
	if input, ok := errors.AsType[*accept.InputError](runErr); ok && len(all) == 0 {
		return cmdutil.UsageErrorf("%w", input)
	}
	sum := soak.Summarise(sk.State, all, f.allowed)
	err = f.out.Write(s.Out, sum, func(w io.Writer) { report.Soak(w, sum, report.OptionsFor(s.Out, f.verbose)) })
	switch {
	case err != nil || runErr != nil && sum.Verdict != check.Failed:
		return cmdutil.Unobserved(errors.Join(runErr, err))
	case runErr != nil:
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: runErr}
	default:
		return cmdutil.VerdictError(sum.Verdict)
	}
}

// soakConsent refuses repetitions whose alerts would page people: those of gate telemetry of a Kubernetes cluster.
func soakConsent(o accept.Options) error {
	if _, excused := o.Site.WhyNotApplicable(o.Profile)[telemetry.Name]; !excused && o.Site.Kubernetes() && !o.Site.Telemetry.Alert.PagesNobody {
		return cmdutil.UsageErrorf("--soak raises an alert in each repetition: name a telemetry.receiver that pages no person, and set telemetry.alert.pagesNobody in the site file")
	}
	return nil
}

// soakInputs is the digest of everything that repetitions are judged by, and of the tool.
func soakInputs(o accept.Options) string {
	inputs := [][]byte{o.SiteFile, o.ProfileFile, o.RecipeFile, []byte(o.Tool), []byte(strings.Join(o.Command, "\n"))}
	for _, name := range slices.Sorted(maps.Keys(o.Inputs)) {
		inputs = append(inputs, []byte(name), o.Inputs[name])
	}
	var hosts bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(o.Hosts)) {
		fmt.Fprintln(&hosts, name, o.Hosts[name])
	}
	return soak.Digest(append(inputs, hosts.Bytes())...)
}

// validateSoak refuses a schedule of fewer than two repetitions.
func (f *acceptFlags) validateSoak() error {
	switch {
	case f.soak < 0 || f.soakEvery < 0:
		return cmdutil.UsageErrorf("invalid --soak %s --soak-every %s: must not be negative", f.soak, f.soakEvery)
	case f.soakEvery > 0 && f.soak == 0:
		return cmdutil.UsageErrorf("--soak-every needs --soak")
	case f.soakEvery > f.soak/2:
		return cmdutil.UsageErrorf("invalid --soak-every %s: must be at most half of --soak %s", f.soakEvery, f.soak)
	default:
		return nil
	}
}
