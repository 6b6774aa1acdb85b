package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// acceptFlags are the flags of accept.
type acceptFlags struct {
	target   targetFlags
	evidence string
	resume   string
	fresh    bool
	from     string
	only     string
	include  []string
	// namespace is one that an administrator made.
	namespace string
}

func newAccept(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Walk the eight gates in order, stop at the first that is not passed, keep the evidence",
		Long: `accept walks the bring-up playbook: facility, fabric, node, gpustack, telemetry,
collective, training, inference. A gate is passed when its criterion was observed.
A gate that is not passed blocks what needs it; its findings name the suspect and
what to do next.

Without --kubeconfig it works on the lab: on the one that is up, or on one that it
starts, and stops at the end.

An unfinished run is resumed where cluster, hosts, site, profile and checks are the same
as then and no verdict is older than a week; otherwise the differences are named and a
new run begins. A run that another process still works on is left alone, and so is what
it has in the cluster. The verdict alone is of the whole playbook on this cluster: what
was kept from earlier, left out, excused or lowered is printed with it.

Exit codes: 0 passed; 1 something failed; 2 bad input; 3 could not be observed;
130 interrupted.`,
		Example: `  firstlight accept
  firstlight accept --site prod.yaml --kubeconfig ~/.kube/prod --context admin
  firstlight accept --from node              # after a driver roll: keep gates 1 and 2
  firstlight accept --from collective        # after a repair of the fabric's settings: keep gates 1-5
  firstlight accept --only fabric -o json
  firstlight accept --include autoscale      # and prove the autoscaling chain
  firstlight accept --resume latest`,
		Args: cobra.NoArgs,
	}
	f := &acceptFlags{}
	f.target.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory that runs are kept in")
	flags.StringVar(&f.resume, "resume", "", "go on with this run (its ID, or latest)")
	flags.BoolVar(&f.fresh, "fresh", false, "begin a new run even when there is an unfinished one")
	flags.StringVar(&f.from, "from", "", "re-run from this gate (name or number); earlier verdicts are kept with their dates")
	flags.StringVar(&f.only, "only", "", "look at this gate alone (name or number)")
	flags.StringSliceVar(&f.include, "include", nil, "prove this beside the gates: "+strings.Join(gate.Extras(), ", "))
	flags.StringVar(&f.namespace, "namespace", "", "existing namespace to create everything in; it is not deleted (accept rbac prints what it needs)")
	cmd.MarkFlagsMutuallyExclusive("resume", "fresh", "from", "only")
	cmd.MarkFlagsMutuallyExclusive("resume", "include")
	if err := cmd.RegisterFlagCompletionFunc("include", cobra.FixedCompletions(gate.Extras(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added above
	}
	for _, name := range []string{"from", "only"} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(site.Gates(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flags were added above
		}
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runAccept(cmd.Context(), s, f, out) }
	cmd.AddCommand(newAcceptRBAC(s))
	return cmd
}

func runAccept(ctx context.Context, s Streams, f *acceptFlags, out *format) (err error) {
	if err := f.names(); err != nil {
		return err
	}
	if err := f.target.check(); err != nil {
		return err
	}
	board := newBoard(s.Err)
	closeBoard := onlyOnce(board.Close)
	defer closeBoard()
	for _, g := range site.Gates() {
		board.Set(boardGates, g, display.Waiting, "")
	}
	for _, name := range f.include {
		board.Set(boardGates, name, display.Waiting, "")
	}
	t, err := f.target.reach(ctx, board, labExtras(f.include)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, infrastructure(t.close(ctx))) }()

	opts := accept.Options{
		Site: t.site, Profile: t.profile, SiteFile: t.siteFile, ProfileFile: t.profileFile, Cluster: t.controlPlane,
		Playbook: func(w accept.Walk) (plan.Plan, error) {
			reach := gate.Access{Hosts: t.hosts, Cluster: w.Cluster, Monitored: t.monitored, Kubeconfig: t.kubeconfig, RunID: w.RunID}
			return gate.Playbook(t.site, t.profile, reach, w.Include...)
		},
		Charts:      gate.Charts(t.site, t.profile),
		EvidenceDir: f.evidence, Resume: f.resume, Fresh: f.fresh, From: f.from, Only: f.only, Include: f.include,
		Namespace: f.namespace, Hosts: t.hosts.Keys(),
		Tool: version, Command: f.command(), Versions: t.versions, Digests: t.digests,
		ClusterEnds: t.owner != nil,
		Events:      func(e plan.Event) { showGateEvent(board, e) },
		Note:        func(text string) { board.Log("%s", text) },
	}
	report, err := accept.Run(ctx, opts)
	closeBoard()
	if input, ok := errors.AsType[*accept.InputError](err); ok {
		return usage("%w", input)
	}
	if report.Run == "" {
		return infrastructure(err)
	}
	writeErr := out.write(s.Out, report, func(w io.Writer) error {
		printReport(w, report, display.Style{Color: colourOf(s.Out)})
		return nil
	})
	if err != nil || writeErr != nil {
		return infrastructure(errors.Join(err, writeErr))
	}
	return verdictExit(report.Verdict)
}

// command is what the evidence says was asked for: the flags that matter, no paths.
func (f *acceptFlags) command() []string {
	command := []string{"firstlight", "accept"}
	for _, flag := range []struct{ name, value string }{{"--from", f.from}, {"--only", f.only}, {"--namespace", f.namespace}} {
		if flag.value != "" {
			command = append(command, flag.name, flag.value)
		}
	}
	if len(f.include) > 0 {
		command = append(command, "--include", strings.Join(f.include, ","))
	}
	return command
}

// names reads the names of gates and of what is included.
func (f *acceptFlags) names() error {
	for i, name := range f.include {
		if !slices.Contains(gate.Extras(), name) {
			return usage("there is no %q to include: there is %s", name, strings.Join(gate.Extras(), ", "))
		}
		if slices.Contains(f.include[:i], name) {
			return usage("%s is included twice", name)
		}
	}
	var err error
	for _, name := range []*string{&f.from, &f.only} {
		if slices.Contains(f.include, *name) {
			continue
		}
		if *name, err = gateName(*name); err != nil {
			return err
		}
	}
	return nil
}

// gateName reads a gate's name or its number, 1 to 8.
func gateName(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	for i, g := range site.Gates() {
		if s == g || s == fmt.Sprint(i+1) {
			return g, nil
		}
	}
	return "", usage("there is no gate %q: gates are %v, or 1 to %d", s, site.Gates(), len(site.Gates()))
}

func onlyOnce(f func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			f()
		}
	}
}

// labNeeded is the name of the lab that a target without a kubeconfig is.
func labNeeded(name string) string {
	if name == "" {
		return lab.DefaultName
	}
	return name
}
